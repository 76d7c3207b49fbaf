"""TRL's own trainer learns from episodes that are played turn by turn: its `rollout_func`."""

import asyncio
import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs an environment of its own: make test-integrations")

import torch
from trl import chat_template_utils
from trl_desk import BOOK, DESK, KWARGS, LOOK_UP, RIGHT, WHERE, make_model, taught, tokenizer, turn
from trl_trainer import check_that_it_learnt, make_trainer

from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.integrations.chat_suffix import GrowingChat
from tool_envs.integrations.trl_rollouts import EpisodeRollout, episode_reward
from tool_envs.integrations.trl_rows import make_dataset
from tool_envs.integrations.trl_sampling import Drawn, Turns
from tool_envs.trajectory import prove_sampled, read_trajectories, replay_each, to_tokens

pytestmark = pytest.mark.library("trl")

ROOT = Path(__file__).parents[2]


# --- The trainer


def padded_off(batch, row):
    """The tokens of a row, and what of them is trained on."""
    prompt = batch["prompt_ids"][row][batch["prompt_mask"][row].bool()].tolist()
    there = batch["completion_mask"][row].bool()
    completion, mask = batch["completion_ids"][row][there].tolist(), batch["tool_mask"][row][there].tolist()
    return (*prompt, *completion), (*[0] * len(prompt), *mask)


@pytest.fixture(scope="module")
def rolled(tmp_path_factory):
    """A trainer that was trained on the episodes that it played, and the folder of their records."""
    out = tmp_path_factory.mktemp("rolled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
        rollout = EpisodeRollout(DESK, KWARGS, out=out / "records", turn_tokens=48)
        trainer = make_trainer(out, rollout_func=rollout, reward_funcs=episode_reward)
        trainer.train()
    return trainer, [*read_trajectories(out / "records" / "train-0")]


@pytest.mark.shows("GRPOTrainer with a rollout_func that plays turn by turn")
def test_it_learns_turn_by_turn(rolled):
    check_that_it_learnt(rolled[0], route=1)


@pytest.mark.shows("GRPOTrainer with a rollout_func that plays turn by turn")
def test_the_trainer_gets_what_was_sampled_and_nothing_else(rolled):
    trainer, records = rolled
    rewards = torch.cat(trainer.rewards).flatten().tolist()
    rows = [(batch, row) for batch in trainer.batches for row in range(len(batch["prompt_ids"]))]

    for (batch, row), record, reward in zip(rows, records, rewards, strict=True):
        (sequence,) = to_tokens(record)
        prove_sampled(record, [sequence])
        assert padded_off(batch, row) == (sequence.input_ids, sequence.loss_mask)
        assert reward == record.outcome.reward
    assert len({*rewards}) == 2
    assert max(sum(message.trainable for message in record.messages) for record in records) > 1


def test_the_probabilities_are_those_of_the_model_that_sampled(rolled):
    trainer, records = rolled
    model = make_model(taught())

    for record in records[: len(trainer.batches[0]["prompt_ids"])]:
        (sequence,) = to_tokens(record)
        ids = torch.tensor(sequence.input_ids)
        with torch.inference_mode():
            met = model(ids[None]).logits[0, :-1].log_softmax(-1).gather(1, ids[1:, None])[:, 0]
        own = torch.tensor(sequence.loss_mask[1:]).bool()
        torch.testing.assert_close(met[own], torch.tensor(sequence.logprobs[1:])[own], atol=1e-4, rtol=1e-3)


@pytest.mark.shows("records of the policy's version for each step of the trainer")
def test_each_record_says_which_step_wrote_it(rolled):
    trainer, records = rolled
    size = len(trainer.batches[0]["prompt_ids"])

    steps = [(version.version, version.number) for record in records for version in record.policy_versions]

    assert steps == [(f"step-{n}", n) for n in range(len(trainer.batches)) for _ in range(size)]
    assert len([*replay_each(records)]) == len(records)


# --- What is rolled out, without training


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    return make_trainer(tmp_path, rollout_func=lambda *_: {}, reward_funcs=episode_reward)


def roll_out(trainer, count=4, kwargs=KWARGS, **more):
    prompts = [make_dataset(DESK, kwargs, [WHERE])[0]["prompt"]] * count
    return EpisodeRollout(DESK, kwargs, **more)(prompts, trainer)


def scripted(*turns):
    """A sampler that writes one text for all episodes at each turn, or for each of them its own."""
    rest = iter(turns)

    def sample(trainer, prompts, limit):  # noqa: ARG001 - the form of samplers
        texts = next(rest)
        texts = [texts] * len(prompts) if isinstance(texts, str) else texts
        return [Drawn(turn(text), [-1.0] * len(turn(text))) for text in texts]

    return sample


def test_text_is_said_to_the_user_and_calls_are_carried_out(trainer):
    made = roll_out(trainer, count=2, sample=scripted(LOOK_UP, [f"It is in {RIGHT}.", "I do not know."]))

    assert made["episode_reward"] == [1.0, 0.0]
    assert made["episode_status"] == ["completed"] * 2
    assert made["policy_version"] == ["step-0"] * 2
    for completion, mask in zip(made["completion_ids"], made["env_mask"], strict=True):
        own = [number for number, bit in zip(completion, mask, strict=True) if bit]
        other = [number for number, bit in zip(completion, mask, strict=True) if not bit]
        assert own[: len(turn(LOOK_UP))] == turn(LOOK_UP)
        assert BOOK in tokenizer().decode(other)
        assert BOOK not in tokenizer().decode(own)


@pytest.mark.shows("episodes that failed for their infrastructure are dropped, never a reward of 0")
def test_an_episode_that_failed_is_dropped(trainer):
    end = '<tool_call>{"name": "close_desk", "arguments": {}}</tool_call>'
    kwargs = {"user": "dead_line"}
    script = scripted([end, "Hello?"], "Hello?", "Hello?")

    made = roll_out(trainer, count=2, kwargs=kwargs, sample=script, retries=2)

    assert made["episode_reward"] == [0.0, None]
    assert made["env_mask"][1] == [0]
    assert made["episode_status"] == ["completed", "infrastructure"]


@pytest.mark.shows("episodes that failed for their infrastructure are dropped, never a reward of 0")
def test_a_dropped_episode_moves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    end = '<tool_call>{"name": "close_desk", "arguments": {}}</tool_call>'
    kwargs = {"user": "dead_line"}
    rollout = EpisodeRollout(DESK, kwargs, sample=scripted([end] * 6 + ["Hello?"] * 2), retries=0)
    trainer = make_trainer(tmp_path, kwargs, steps=1, rollout_func=rollout, reward_funcs=episode_reward)

    trainer.train()

    assert trainer.rewards[0].isnan().flatten().tolist() == [False] * 6 + [True] * 2
    assert trainer.batches[0]["advantages"].tolist() == [0.0] * 8


def test_a_batch_of_which_all_failed_is_raised(trainer):
    with pytest.raises(InfrastructureError, match="All 2 episodes failed"):
        roll_out(trainer, count=2, kwargs={"user": "dead_line"}, sample=scripted("Hello?"), retries=0)


@pytest.mark.parametrize(("turn_tokens", "ended_by"), [(3, "length"), (None, "context")])
def test_what_is_too_long_is_truncated(trainer, tmp_path, turn_tokens, ended_by):
    trainer.max_completion_length = len(turn(LOOK_UP)) + 2

    made = roll_out(trainer, out=tmp_path, sample=scripted(LOOK_UP), turn_tokens=turn_tokens)

    assert made["episode_status"] == ["truncated"] * 4
    assert {record.outcome.ended_by for record in read_trajectories(tmp_path / "train-0")} == {ended_by}
    assert made["completion_ids"] == [turn(LOOK_UP)[: turn_tokens or len(turn(LOOK_UP))]] * 4
    assert made["episode_reward"] == [0.0] * 4


def test_it_plays_where_an_event_loop_runs(trainer):
    async def in_a_notebook():
        return roll_out(trainer, count=1, sample=scripted(RIGHT))

    assert asyncio.run(in_a_notebook())["episode_reward"] == [1.0]


def test_a_mistake_in_the_sampler_is_raised(trainer):
    with pytest.raises(ZeroDivisionError):
        roll_out(trainer, sample=lambda *_: 1 / 0)


@pytest.mark.parametrize("setting", ["use_vllm", "is_fsdp_enabled", "is_deepspeed_enabled"])
def test_weights_that_are_not_whole_are_refused(trainer, setting):
    setattr(trainer, setting, True)

    with pytest.raises(UsageError, match=setting):
        roll_out(trainer)


def test_prompts_of_another_environment_are_refused(trainer):
    prompts = [row["prompt"] for row in make_dataset(DESK, KWARGS, [WHERE])]

    with pytest.raises(UsageError, match="environment"):
        EpisodeRollout(DESK, {"user": "scripted"})(prompts, trainer)


def test_an_episode_that_was_cancelled_is_sampled_no_more():
    sampled = []

    def sample(prompts, limit):  # noqa: ARG001 - as samplers are called
        sampled.append(prompts)
        return [Drawn([7], [0.0]) for _ in prompts]

    async def play():
        turns = Turns(sample, running=3)
        cancelled, waiting = (asyncio.create_task(turns.draw(seat, [seat], 4)) for seat in range(2))
        await asyncio.sleep(0)
        cancelled.cancel()
        turns.leave()
        return await waiting

    assert asyncio.run(play()) == Drawn([7], [0.0])
    assert sampled == [[[1]]]


# --- Prompts that grow


@pytest.mark.parametrize(
    ("template", "end"),
    [
        ("qwen2_5", "<|im_end|>"),
        ("qwen3", "<|im_end|>"),
        ("qwen3_5_think", "<|im_end|>"),
        ("llama3_1", "<|eot_id|>"),
        ("gemma3", "<end_of_turn>"),
        ("phi3_5", "<|end|>"),
    ],
)
def test_a_prompt_goes_on_as_its_template_has_it(template, end):
    own = copy.deepcopy(tokenizer())
    own.add_special_tokens({"eos_token": end})
    own.chat_template = getattr(chat_template_utils, f"{template}_chat_template")
    chat = GrowingChat(own, [own.eos_token_id], {})
    said = [{"role": "user", "content": "One."}, {"role": "assistant", "content": "Two."}]
    new = [{"role": "user", "content": f"Three {end}."}]

    rest = own.decode(chat.go_on(new))

    whole = own.apply_chat_template([*said, *new], tokenize=False, add_generation_prompt=True)
    assert whole.endswith(rest)
    assert whole.removesuffix(rest).endswith(f"Two.{end}")


@pytest.mark.parametrize("names", [["get_book"], ["get_book", "think"]])
def test_answers_of_tools_go_on_as_the_trainer_has_them(trainer, names):
    answers = [{"role": "tool", "name": name, "content": f"{name} <|im_end|> {BOOK}"} for name in names]
    chat = GrowingChat(tokenizer(), trainer.eos_token_ids, {})
    trainer.chat_template = chat_template_utils.get_training_chat_template(tokenizer())

    assert chat.go_on(answers) == trainer._get_tool_suffix_ids(answers)


# --- The example


def test_the_example_trains_on_the_store(tmp_path):
    """One step of a model without any knowledge, which gets no reward."""
    make_model(max_position_embeddings=32768).save_pretrained(tmp_path / "model")
    tokenizer().save_pretrained(tmp_path / "model")
    sizes = ["--per_device_train_batch_size", "2", "--num_generations", "2", "--max_completion_length", "48"]
    cpu = ["--use_cpu", "true", "--bf16", "false", "--report_to", "none"]
    named = ["--model", tmp_path / "model", "--output_dir", tmp_path / "out", "--max_steps", "1"]

    subprocess.run(
        [sys.executable, ROOT / "examples" / "train_trl.py", *named, *sizes, *cpu, "--turn_tokens", "24"],
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )

    records = [*read_trajectories(tmp_path / "out" / "records" / "train-0")]
    assert {record.env.id for record in records} == {"tool_envs/Retail-v0"}
    assert len(records) == len([*replay_each(records)]) == 2
    assert (tmp_path / "out" / "model.safetensors").exists()
