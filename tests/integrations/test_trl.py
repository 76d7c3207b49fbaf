"""TRL's own trainer learns in our environments, on both routes, from a tiny model that is made here."""

import asyncio
import copy
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs an environment of its own: make test-integrations")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer, chat_template_utils
from trl_desk import (
    BOOK,
    DESK,
    KWARGS,
    LOOK_UP,
    RIGHT,
    WHERE,
    WRONG,
    make_model,
    preference,
    taught,
    tell,
    tokenizer,
    turn,
)

from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.evaluation.seeds import episode_seed
from tool_envs.integrations.chat_suffix import GrowingChat
from tool_envs.integrations.tool_methods import make_method
from tool_envs.integrations.trl_environments import FAILED, OVER, make_environment
from tool_envs.integrations.trl_rollouts import EpisodeRollout, episode_reward
from tool_envs.integrations.trl_rows import make_dataset
from tool_envs.integrations.trl_sampling import Drawn, Turns
from tool_envs.schema import Tool, load_schema
from tool_envs.trajectory import prove_sampled, read_trajectories, replay_each, to_tokens

pytestmark = pytest.mark.library("trl")

torch.set_num_threads(1)

ROOT = Path(__file__).parents[2]


# --- Tools as methods


def answer(environment, name, arguments):
    return f"{environment} {name} {arguments}"


def shown_of(tool):
    """What `transformers` tells a model of the tool's method."""
    environment = type("Environment", (), {tool.name: make_method(tool, answer)})()
    return get_json_schema(getattr(environment, tool.name))["function"]


def expressible(schema):
    """What is left of a schema of a parameter in Python's type hints, without descriptions."""
    kinds = schema.get("type", [])
    left = {"type": kinds} if kinds else {}
    if "enum" in schema:
        left["enum"] = schema["enum"]
    if kinds == "array":
        left["items"] = expressible(schema["items"])
    if kinds == "object" and isinstance(schema.get("additionalProperties"), dict):
        left["additionalProperties"] = expressible(schema["additionalProperties"])
    return left


def inner_fields(schema):
    """The properties of all objects inside of a parameter."""
    for name, field in schema.get("properties", {}).items():
        yield name, field
        yield from inner_fields(field)
    if "items" in schema:
        yield from inner_fields(schema["items"])


def check_equivalent(tool):
    shown = shown_of(tool)
    assert shown.keys() == {"name", "description", "parameters"}
    assert (shown["name"], shown["description"]) == (tool.name, tool.description)
    parameters, wanted = shown["parameters"], tool.parameters
    assert parameters.get("required", []) == wanted.get("required", [])
    assert list(parameters["properties"]) == list(wanted["properties"])
    for name, schema in wanted["properties"].items():
        met = dict(parameters["properties"][name])
        described, said = met.pop("description"), schema.get("description", "")
        assert met == expressible(schema)
        fields = list(inner_fields(schema))
        assert described.startswith(said) if fields else described == (said or name)
        for inner, field in fields:
            assert f"`{inner}` (" in described
            assert field.get("description", "") in described


@pytest.mark.shows("tools from a JSON schema as transformers reads them")
@pytest.mark.parametrize(
    ("domain", "version"),
    [
        *itertools.product(["retail", "booking"], ["1.0.0", "1.1.0", "2.0.0"]),
        *itertools.product(["repo", "tau_retail", "tau_airline"], ["1.0.0"]),
    ],
)
def test_methods_say_what_the_schema_says(domain, version):
    for tool in load_schema(domain, version).tools.values():
        check_equivalent(tool)


WORDS = st.text("abcdefghij klm().:,'\"", max_size=30).map(lambda text: " ".join(text.split()))
LEAVES = st.sampled_from(["string", "integer", "number", "boolean"]).map(lambda kind: {"type": kind})
ENUMS = st.one_of(
    st.lists(st.text("ab c)(\"'", min_size=1), min_size=1, max_size=4, unique=True).map(
        lambda values: {"type": "string", "enum": values}
    ),
    st.lists(st.integers(-9, 9), min_size=1, max_size=4, unique=True).map(
        lambda values: {"type": "integer", "enum": values}
    ),
)
SCHEMAS = st.recursive(
    LEAVES | ENUMS,
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        inner.map(lambda values: {"type": "object", "additionalProperties": values}),
    ),
    max_leaves=3,
)
NAMES = st.from_regex(r"[a-z][a-z_0-9]{2,8}_x", fullmatch=True)


@st.composite
def tools(draw):
    properties = draw(st.dictionaries(NAMES, SCHEMAS, max_size=4))
    described = {name: {**schema, "description": draw(WORDS)} for name, schema in properties.items()}
    required = [name for name in described if draw(st.booleans())]
    parameters = {"type": "object", "properties": described, "required": required}
    return Tool(draw(NAMES), "What it is for.", "read", True, parameters, {})


@pytest.mark.shows("tools from a JSON schema as transformers reads them")
@settings(max_examples=200)
@given(tools())
def test_methods_say_what_any_schema_says(tool):
    check_equivalent(tool)


# --- Episodes by calls


def begin(task=WHERE, kwargs=KWARGS, env_id=DESK):
    environment = make_environment(env_id, kwargs)()
    return environment, environment.reset(**make_dataset(env_id, kwargs, [task])[0])


def test_an_episode_by_calls():
    environment, opening = begin()

    assert opening == "Hello."
    assert environment.get_book(book_id="B3") == BOOK
    assert environment.respond(content=f"In {RIGHT}.").endswith(OVER)
    assert environment.get_reward() == 1.0


def test_what_comes_after_the_end_changes_nothing():
    environment, _ = begin()
    environment.respond(content=RIGHT)
    digest, outcome = environment._env.data_digest(), environment._env.outcome

    told = environment.lend(member_id="M2", book_id="B1", days=7)

    assert told == OVER
    assert (environment._env.data_digest(), environment._env.outcome) == (digest, outcome)
    assert environment.get_reward() == 1.0


def test_an_agent_that_stops_has_left_its_episode():
    environment, _ = begin()
    environment.get_book(book_id="B3")

    assert environment.get_reward() == environment.get_reward() == 0.0
    assert (environment._env.outcome.status, environment._env.outcome.ended_by) == ("truncated", "stopped")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"book_id": 3},
        {"book_id": "B3", "more": 1},
        {"self": 1, "name": 2, "arguments": 3},
        {"book_id": "x"},
    ],
)
def test_arguments_that_are_not_allowed_are_the_agents_mistake(arguments):
    environment, _ = begin()

    assert json.loads(environment.get_book(**arguments))["error"]["code"] == "invalid_arguments"


@pytest.mark.shows("episodes that failed for their infrastructure are dropped, never a reward of 0")
def test_a_failure_has_no_reward_and_tells_nothing():
    environment, _ = begin(kwargs={"user": "dead_line"})

    assert environment.respond(content="Hello?") == FAILED
    assert environment.get_book(book_id="B3") == FAILED
    assert environment.get_reward() is None
    environment.reset(**make_dataset(DESK, {"user": "dead_line"}, [0])[0])
    assert environment.get_book(book_id="B3") == BOOK


def test_a_defect_of_the_environment_is_raised_where_trl_does_not_hide_it(monkeypatch):
    environment, _ = begin()
    monkeypatch.setattr(environment._env, "step", lambda _: 1 / 0)

    assert environment.get_book(book_id="B3") == FAILED
    with pytest.raises(ZeroDivisionError):
        environment.get_reward()


@pytest.mark.parametrize("env_id", ["tool_envs/Retail-v0", "tool_envs/Booking-v0"])
@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_the_oracle_solves_tasks_by_calls(env_id, version):
    kwargs = {"schema_version": version, "split": "train"}
    environment = make_environment(env_id, kwargs)()
    for row in make_dataset(env_id, kwargs, range(4)):
        environment.reset(**row)
        env = environment._env
        while env.outcome is None:
            action = env.domain.oracle(env.episode)
            if isinstance(action, str):
                environment.respond(content=action)
            else:
                getattr(environment, action["name"])(**action["arguments"])
        assert environment.get_reward() == 1.0


def test_rows_name_their_episodes():
    rows = make_dataset("tool_envs/Retail-v0", {"split": "test"}, [4, 7], seed=3)

    for row, task in zip(rows, [4, 7], strict=True):
        system, user = row["prompt"]
        environment = make_environment("tool_envs/Retail-v0", {"split": "test"})()
        opening = environment.reset(**row)
        assert system["content"].startswith(environment._env.domain.policy_text)
        assert json.loads(user["episode"]) == {
            "env_id": "tool_envs/Retail-v0",
            "kwargs": {"split": "test"},
            "task_id": environment._env.task.id,
            "seed": episode_seed(3, task),
        }
        assert environment.reset(**row) == opening
        assert row["task_id"] == environment._env.task.id


def test_rows_of_another_environment_are_refused():
    environment = make_environment("tool_envs/Retail-v0", {"split": "train"})()
    (row,) = make_dataset("tool_envs/Retail-v0", {"split": "test"}, [0])

    with pytest.raises(UsageError, match="'split': 'test'"):
        environment.reset(**row)
    with pytest.raises(UsageError, match="prompt of `make_dataset`"):
        environment.reset(prompt=[{"role": "user", "content": "Hello."}])


# --- The trainer


class Watched(GRPOTrainer):
    """Keeps what each batch was, and what each reward function gave."""

    def __init__(self, *args, **kwargs):
        self.batches, self.rewards = [], []
        super().__init__(*args, **kwargs)

    def _generate_and_score_completions(self, inputs):
        self.batches.append(super()._generate_and_score_completions(inputs))
        return self.batches[-1]

    def _calculate_rewards(self, *args):
        self.rewards.append(super()._calculate_rewards(*args))
        return self.rewards[-1]

    def own(self, batch, row):
        """The texts of what is trained on in a completion: one for each run of the mask."""
        ids = batch["completion_ids"][row]
        mask = (batch["completion_mask"] * batch["tool_mask"])[row].tolist()
        runs, last = [], 0
        for number, bit in zip(ids.tolist(), mask, strict=True):
            if bit:
                runs[-1:] = [[*runs[-1], number]] if last else [*runs[-1:], [number]]
            last = bit
        return [tokenizer().decode(run) for run in runs]


def make_trainer(folder, kwargs=KWARGS, steps=6, **more):
    config = GRPOConfig(
        str(folder),
        per_device_train_batch_size=8,
        num_generations=8,
        max_completion_length=300,
        max_steps=steps,
        learning_rate=0.1,
        loss_type="grpo",  # which no long episode rules
        optim="sgd",
        lr_scheduler_type="constant",
        report_to="none",
        use_cpu=True,
        bf16=False,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        seed=1,
    )
    dataset = make_dataset(DESK, kwargs, [WHERE])
    return Watched(
        make_model(taught()), args=config, train_dataset=dataset, processing_class=tokenizer(), **more
    )


def check_that_it_learnt(trainer, route):
    before, after = preference(make_model(taught()))[route], preference(trainer.model)[route]
    assert all(
        torch.isfinite(torch.tensor(row["loss"])) for row in trainer.state.log_history if "loss" in row
    )
    assert after > before + 0.3


@pytest.mark.shows("GRPOTrainer with environment_factory")
def test_it_learns_by_calls(tmp_path, monkeypatch):
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    trainer = make_trainer(tmp_path, environment_factory=make_environment(DESK, KWARGS))

    trainer.train()

    check_that_it_learnt(trainer, route=0)
    for batch, rewards in zip(trainer.batches, trainer.rewards, strict=True):
        for row, (reward,) in enumerate(rewards.tolist()):
            text = tokenizer().decode(batch["completion_ids"][row])
            own = trainer.own(batch, row)
            assert not any("tool_response" in run or OVER in run for run in own)
            assert (reward == 1.0) == any(tell_to(run) == RIGHT for run in own)
            assert text.count("<tool_response>") >= len(own) - 1


def tell_to(run):
    """What a turn tells the visitor; None: it is no whole call of `respond`."""
    return next((shelf for shelf in (RIGHT, WRONG) if run.startswith(tell(shelf))), None)


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
