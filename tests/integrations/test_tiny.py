"""The parts of the tiny agent: its tokens and masks, what it samples, and what it learns from."""

import functools
import math

import pytest

pytest.importorskip("torch", reason="needs an environment of its own: make test-integrations")

import msgspec
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_agent.learning import CLIP, Grpo, Weighted, fine_tune, weigh
from tiny_agent.losses import batches, grpo_loss, masked_logprobs
from tiny_agent.model import LOOK_BACK, Model, Shape
from tiny_agent.policy import TinyPolicy
from tiny_agent.sampling import Context, Draft, write
from tiny_agent.text import train_tokenizer
from train_tiny_agent import Row, Run, Settings, append, oracle_records, play

from tool_envs.retail.data import retail_base
from tool_envs.retail.tasks import retail_tasks
from tool_envs.rollout import Plan, Versions
from tool_envs.service.desk import goal_of
from tool_envs.trajectory import prove_sampled, read_trajectories, replay_each, to_tokens, tokenize
from tool_envs.trajectory.chat_tokenizer import chat_of
from tool_envs.trajectory.record import PolicyVersion, assistant_messages

torch.set_num_threads(1)  # small networks are slower with more

SMALL = Settings(
    vocabulary=4096, width=32, sft_episodes=40, test_tasks=4, grpo_steps=1, grpo_tasks=2, grpo_group=3
)


@functools.cache
def records():
    return oracle_records(SMALL)


@functools.cache
def tokenizer():
    return train_tokenizer(records(), SMALL.vocabulary)


def make_model(**sizes):
    torch.manual_seed(0)
    return Model(Shape(tokenizer().size, **{"width": 32, **sizes}))


def roll_out(model, tasks=range(6), concurrency=64, temperature=1.0):
    versions = Versions(PolicyVersion(version="untrained", number=0))
    settings = SMALL._replace(concurrency=concurrency)
    policy = TinyPolicy(model, tokenizer(), temperature)
    groups = play(settings, "train", policy, versions, Plan(tasks))
    return [record for group in groups for record in group.records]


@functools.cache
def sampled():
    """A model that has seen some tasks often, and how it serves them."""
    model = make_model(width=64)
    sequences = [tokenize(record, tokenizer()) for record in records()[:6]]
    for _ in fine_tune(model, sequences * 60, 6, 4e-3):
        pass
    return model, roll_out(model)


def sequence_of(record):
    """All of an episode: each prompt goes on with the very tokens before it."""
    (sequence,) = to_tokens(record)
    return sequence


# --- Tokens


@given(st.text())
def test_every_text_comes_back_from_its_tokens(text):
    ids = [number for number, _, _ in tokenizer().encode(text)]

    assert tokenizer().decode(ids) == text


def test_a_turn_of_the_prompt_has_the_tokens_that_it_has_in_the_whole_conversation():
    for record in records():
        chat = chat_of(record)
        whole = tokenize(record, tokenizer()).input_ids

        for index, _ in assistant_messages(record):
            prompt = tokenizer().ids(chat[:index])
            assert tuple(prompt) == whole[: len(prompt)]


def test_the_same_id_has_the_same_tokens_wherever_it_stands():
    def ids(text):
        return [number for number, _, _ in tokenizer().encode(text)]

    for value in ("#W2720508", "adam.jensen6289@example.net", "credit_card_7965954", "7515 Holly Lane"):
        in_json = ids(f'{{"address1":"{value}","city":"Austin"}}')
        in_prose = ids(f"It is {value}, thanks.")

        value_ids = ids(value)
        for around in (in_json, in_prose):
            assert any(around[n : n + len(value_ids)] == value_ids for n in range(len(around)))


# --- What is sampled


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_what_is_sampled_has_the_probability_that_the_whole_sequence_gives_it(temperature):
    model = sampled()[0]
    episodes = roll_out(model, temperature=temperature)

    for record in episodes:
        assert record.sampling.temperature == temperature
        sequence = sequence_of(record)
        prove_sampled(record, [sequence])
        (batch,) = batches([sequence], [0.0])
        forced = masked_logprobs(model, batch, temperature)
        torch.testing.assert_close(forced, batch.logprobs[batch.mask], atol=1e-4, rtol=1e-4)
    assert max(len(sequence_of(record).messages) for record in episodes) > 3


def test_every_sampled_token_has_its_version():
    for record in sampled()[1]:
        sequence = sequence_of(record)
        places = zip(sequence.versions, sequence.loss_mask, strict=True)
        assert {version for version, bit in places if bit} == {0}
        assert sequence.version_names == {0: "untrained"}


def test_what_is_sampled_does_not_depend_on_what_is_sampled_beside_it():
    model, together = sampled()

    alone = roll_out(model, concurrency=1)

    assert [sequence_of(record).input_ids for record in alone] == [
        sequence_of(record).input_ids for record in together
    ]


def test_a_model_begins_with_copying():
    """Of what stood in its context before, it foretells what came next, before it has learnt anything."""
    model = make_model(width=128)
    once = torch.randperm(tokenizer().size)[:200]
    ids = torch.cat([torch.zeros(LOOK_BACK, dtype=torch.int64), once, once])[None]

    with torch.inference_mode():
        foretold = model.log_probabilities(model(ids)).argmax(dim=-1)[0]

    right = foretold[:-1] == torch.cat([once, once])[1:]
    assert right[202:].float().mean() > 0.9
    assert right[:199].float().mean() < 0.1


def test_tokens_are_drawn_as_often_as_they_are_probable():
    model = make_model()
    count = 4000
    prompt = tokenizer().ids(chat_of(records()[0])[:1])
    drafts = [Draft(Context([*prompt]), lambda _, n=n: (n + 0.5) / count) for n in range(count)]

    write(model, drafts, tokenizer().end_id, 1)

    with torch.inference_mode():
        hidden = model(torch.tensor([[0] * LOOK_BACK + prompt]))[0, -1]
        expected = model.log_probabilities(hidden).exp() * count
    met = torch.bincount(torch.tensor([draft.ids[0] for draft in drafts]), minlength=tokenizer().size)
    assert (met - expected).abs().max() <= 1.01
    assert (met > 0).sum() > 100


# --- What it learns from


def weighted(*advantages):
    sequences = map(sequence_of, sampled()[1])
    return [Weighted(sequence, value) for sequence, value in zip(sequences, advantages, strict=False)]


def logprob(model, sequence):
    (batch,) = batches([sequence], [0.0])
    with torch.inference_mode():
        return masked_logprobs(model, batch).sum().item()


def copy_of_sampled():
    model = make_model(width=64)
    model.load_state_dict(sampled()[0].state_dict())
    return model


def test_an_update_makes_what_was_better_more_probable_and_what_was_worse_less():
    model = copy_of_sampled()
    better, worse = pair = weighted(1.0, -1.0)
    before = [logprob(model, each.sequence) for each in pair]

    Grpo(model, size=2, step=0.05, sureness=0.0).improve(pair)

    assert logprob(model, better.sequence) > before[0]
    assert logprob(model, worse.sequence) < before[1]


def test_an_update_moves_the_weights_no_further_than_it_may():
    model, before = copy_of_sampled(), sampled()[0]

    Grpo(model, size=2, step=0.05, sureness=0.01).improve(weighted(1.0, -1.0))

    moved = {
        name: (weight - dict(before.named_parameters())[name]).norm().item()
        for name, weight in model.named_parameters()
    }
    assert moved.pop("logit_scale") == pytest.approx(0.01, rel=1e-3)
    assert math.hypot(*moved.values()) == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize("advantage", [1.0, -1.0])
def test_it_grows_surer_when_what_it_is_sure_of_is_better_and_less_so_when_it_is_worse(advantage):
    model = copy_of_sampled()
    before = model.logit_scale.item()
    shown = tokenize(records()[0], tokenizer())  # which it has seen often
    (batch,) = batches([shown], [0.0])
    places = torch.zeros(len(shown.input_ids))
    places[batch.mask[0]] = masked_logprobs(model, batch).detach()
    sure = msgspec.structs.replace(shown, logprobs=tuple(places.tolist()))

    Grpo(model, size=1, step=0.0, sureness=0.1).improve([Weighted(sure, advantage)])

    assert model.logit_scale.item() - before == pytest.approx(0.1 * advantage, rel=1e-3)


@pytest.mark.parametrize(
    ("shift", "advantage", "learns"),
    [(0.0, 1.0, True), (0.5, 1.0, False), (-0.5, 1.0, True), (0.5, -1.0, True), (-0.5, -1.0, False)],
)
def test_a_ratio_that_has_gone_far_enough_moves_nothing(shift, advantage, learns):
    """`shift` is how much more probable tokens have become, in nats; log(1 + CLIP) is 0.18."""
    model = sampled()[0]
    ((sequence, _),) = weighted(advantage)
    past = msgspec.structs.replace(
        sequence,
        logprobs=tuple(value - shift for value in sequence.logprobs),
    )
    (batch,) = batches([past], [advantage])

    model.zero_grad()
    loss = grpo_loss(model, batch, CLIP)
    loss.backward()

    ratio = math.exp(shift)
    bound = min(max(ratio, 1 - CLIP), 1 + CLIP)
    expected = -min(ratio * advantage, bound * advantage) * sum(sequence.loss_mask)
    assert loss.item() == pytest.approx(expected, rel=1e-3)
    assert (model.embedding.weight.grad.abs().sum() > 0) == learns


def test_groups_with_one_reward_teach_nothing():
    versions = Versions(PolicyVersion(version="untrained", number=0))
    groups = play(SMALL, "train", TinyPolicy(make_model(), tokenizer()), versions, Plan([0], 3))

    assert {record.outcome.reward for record in groups[0].records} == {0.0}
    assert weigh(groups) == []


def memorise(tasks, mask):
    """How many of the tasks it solves after it has seen one solution of each many times."""
    sequences = [tokenize(records()[task], tokenizer()) for task in tasks]
    shown = [msgspec.structs.replace(each, loss_mask=mask(each.loss_mask)) for each in sequences]
    model = make_model(width=64)
    for _ in fine_tune(model, shown * 130, len(shown), 4e-3):
        pass
    return sum(record.outcome.reward == 1.0 for record in roll_out(model, tasks))


def test_it_learns_with_the_mask_of_what_the_agent_writes_and_not_with_the_opposite():
    shortest = sorted(range(40), key=lambda task: len(tokenize(records()[task], tokenizer()).input_ids))[:4]

    assert memorise(shortest, lambda mask: mask) >= 3
    assert memorise(shortest, lambda mask: (0, *(1 - bit for bit in mask[1:]))) == 0


# --- All of it, shortened


def test_a_short_run_measures_each_phase_and_keeps_what_it_was_trained_on(tmp_path):
    run = Run(SMALL, tokenizer(), tmp_path / "records")

    rows = [*run.phases(records())]

    assert [(row.phase, row.version, row.split, row.episodes) for row in rows] == [
        ("untrained", "untrained", "test", 4),
        ("sft", "sft", "test", 4),
        ("grpo", "sft", "train", 6),
        ("grpo", "grpo-1", "test", 4),
    ]
    kept = [*read_trajectories(tmp_path / "records" / "grpo-1")]
    assert len(kept) == 6
    assert {record.policy_versions for record in kept} == {(PolicyVersion(version="sft", number=1),)}
    assert len([*replay_each(kept)]) == 6


def test_customers_of_the_test_are_not_among_those_of_the_training():
    def met(split, customers, count):
        tasks = retail_tasks(retail_base(customers), split, SMALL.difficulty)
        return {goal_of(tasks[index]).knows["email"] for index in range(count)}

    tested, trained = met("test", 500, 200), met("train", SMALL.customers, 2000)
    assert len(tested) > 30
    assert len(trained) > 1900
    assert not tested & trained


def test_success_with_customers_who_were_never_met_rises_by_fine_tuning_and_again_by_grpo():
    """The whole of `make train-tiny` on one kind of wishes; all kinds: benchmarks/results/tiny_agent.csv."""
    settings = Settings(family="cancel", sft_episodes=700, test_tasks=99, grpo_steps=8, grpo_tasks=9)
    shown = oracle_records(settings)
    run = Run(settings, train_tokenizer(shown, settings.vocabulary))

    untrained, fine_tuned, *_, improved = run.phases(shown)

    assert untrained.success == 0.0
    assert fine_tuned.success > 0.25
    assert improved.success > fine_tuned.success + 0.1


def test_measurements_are_added_to_a_file_with_the_command_that_gives_them(tmp_path):
    row = Row(1, "sft", "sft", "test", episodes=200, success=0.25, seconds=60, cpu_seconds=50)
    settings = Settings(seed=1, family="cancel", grpo_steps=2)

    for _ in range(2):
        append(tmp_path / "new" / "rows.csv", settings, row)

    lines = (tmp_path / "new" / "rows.csv").read_text().splitlines()
    command = "python examples/train_tiny_agent.py --family cancel --grpo-steps 2 --seed 1"
    assert lines == [",".join(("command", *Row._fields)), *[f"{command},1,sft,sft,test,200,0.25,60,50"] * 2]
