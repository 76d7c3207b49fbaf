"""TRL's own trainer learns from methods that carry out calls: its `environment_factory`."""

import itertools
import json

import pytest

pytest.importorskip("trl", reason="needs an environment of its own: make test-integrations")

from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.utils import get_json_schema
from trl_desk import BOOK, DESK, KWARGS, RIGHT, WHERE, WRONG, tell, tokenizer
from trl_trainer import check_that_it_learnt, make_trainer

from tool_envs.errors import UsageError
from tool_envs.evaluation.seeds import episode_seed
from tool_envs.integrations.tool_methods import make_method
from tool_envs.integrations.trl_environments import FAILED, OVER, make_environment
from tool_envs.integrations.trl_rows import make_dataset
from tool_envs.schema import Tool, load_schema

pytestmark = pytest.mark.library("trl")


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
