"""Records: their form, and that replay sees every difference."""

import copy
import json
import re
import shutil

import gymnasium
import jsonschema
import pytest
import toy_domain
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.agents import TRIVIAL, load_agent
from tool_envs.environments import make_env
from tool_envs.errors import (
    DataFileError,
    InfrastructureError,
    ReplayMismatchError,
    UnknownNameError,
    UsageError,
)
from tool_envs.evaluation import evaluate
from tool_envs.schema.files import shipped_files
from tool_envs.tau_bench.env import TauBenchEnv
from tool_envs.tau_bench.files import SAMPLE as SAMPLE_FOLDER
from tool_envs.trajectory import (
    Trajectory,
    read_trajectories,
    record_episode,
    replay,
    replay_each,
)

SAMPLE, DESK = "tool_envs/TauBench-v0", toy_domain.ENV_ID
FORM = jsonschema.Draft202012Validator(shipped_files().read("meta/trajectory/4.0.0"))


def record(agent, env_id=SAMPLE, kwargs=None, tasks=None):
    """The records of an agent's episodes."""
    found, agent = [], load_agent(agent)
    evaluate(
        env_id,
        kwargs or {},
        agent,
        tasks=tasks,
        on_episode=lambda env, r: found.append(record_episode(env, agent.name, agent.version, r.seed)),
    )
    return found


def to_line(trajectory):
    """The bytes of a record in a file."""
    return trajectory.to_line().encode() + b"\n"


def record_actions(actions, env_id=DESK, **options):
    """The record of an episode of these actions, cut by the step limit when they do not end it."""
    env = make_env(env_id, {"max_steps": len(actions)})
    env.reset(seed=1, options=options)
    try:
        for action in actions:
            if env.unwrapped.outcome is None:
                env.step(action)
    except InfrastructureError:
        pass
    return record_episode(env, "test", "v1", 1)


# --- The form


@pytest.mark.parametrize("env_id", [SAMPLE, DESK])
@pytest.mark.parametrize("agent", ["gold", *TRIVIAL])
def test_a_record_has_its_form_and_comes_back_and_replays(agent, env_id):
    for trajectory in record(agent, env_id):
        line = to_line(trajectory)

        FORM.validate(json.loads(line))
        assert Trajectory.from_json(json.loads(line)) == trajectory
        replay(trajectory)


def test_a_record_names_its_versions():
    env = gymnasium.make(SAMPLE).unwrapped

    value = record("gold")[0].to_json()

    assert value["env"] == {"id": SAMPLE, "version": 0, "kwargs": {}}
    assert value["schema"]["sha256"] == env.schema.sha256
    assert value["task"] == {"id": env.domain.tasks[0].id, "digest": env.domain.tasks[0].digest}
    assert value["options"] == {"task_id": env.domain.tasks[0].id}
    assert value["data"]["base_digest"] == env.domain.base.digest
    assert value["slice_id"] is value["filter_verdict"] is None
    assert value["costs"] == {"agent": 0.0, "user": 0.0}


def test_only_what_the_policy_wrote_is_trainable():
    agent = load_agent("gold")

    for message in record("gold")[0].to_json()["messages"]:
        assert message["trainable"] is (message["role"] == "assistant")
        if message["trainable"]:
            assert message["policy_version"] == [{"version": agent.version, "count": None}]


@pytest.mark.parametrize("fails_at", [0, 1])
def test_an_infrastructure_failure_is_recorded_without_reward_and_with_an_empty_mask(fails_at):
    env = make_env(DESK, {"user": "dead_line"})
    with pytest.raises(InfrastructureError):  # noqa: PT012 - either may fail
        env.reset(seed=1, options={"fails_at": fails_at})
        env.step("Hello?")

    trajectory = record_episode(env, "test", "v1", 1)

    FORM.validate(trajectory.to_json())
    assert trajectory.outcome.reward is trajectory.outcome.ledger.terminal is None
    assert not any(message.trainable for message in trajectory.messages)


def test_the_finished_part_of_a_failed_episode_is_replayed():
    env = make_env(DESK, {"user": "dead_line"})
    env.reset(seed=1)
    env.step({"name": "get_book", "arguments": {"book_id": "B1"}})
    with pytest.raises(InfrastructureError):
        env.step("Hello?")
    value = record_episode(env, "test", "v1", 1).to_json()
    replay(Trajectory.from_json(value))

    value["messages"][2]["content"] = "another book"

    with pytest.raises(ReplayMismatchError, match=r"message 2\.content"):
        replay(Trajectory.from_json(value))


def leaves(value, path=()):
    """All (path, scalar) of a JSON value."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from leaves(item, (*path, key))
    else:
        yield path, value


@pytest.mark.parametrize("agent", ["silent", "refuse"])
def test_the_answer_key_is_not_in_a_record(agent):
    tasks = gymnasium.make(SAMPLE).unwrapped.domain.tasks
    is_digest = re.compile(r"[0-9a-f]{16,}").fullmatch

    for index, trajectory in enumerate(record(agent)):
        texts = [leaf for _, leaf in leaves(trajectory.to_json()) if isinstance(leaf, str)]
        texts = [text for text in texts if not is_digest(text)]
        arguments = [leaf for call in tasks[index].actions for _, leaf in leaves(call.arguments)]
        secrets = filter(None, [tasks[index].goal["instruction"], *tasks[index].facts, *arguments])
        assert not [secret for secret in secrets if any(str(secret) in text for text in texts)]


def without(value, *path):
    """A deep copy without one member."""
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return value


def changed(value, path, leaf):
    """A deep copy with another leaf."""
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = leaf
    return value


@pytest.fixture(scope="module")
def gold():
    """A record with user, agent and tool messages, as JSON."""
    return record("gold")[0].to_json()


def test_every_part_of_a_record_is_closed_and_complete(gold):
    open_parts = {("env", "kwargs"), ("options",), ("outcome", "ledger", "components")}
    parts = {path[:i] for path, _ in leaves(gold) for i in range(len(path))} - open_parts
    closed = [path for path in parts if isinstance(at(gold, path), dict)]

    for path in (path for path in closed if not {"arguments", "action"} & set(path)):
        assert not FORM.is_valid(changed(gold, (*path, "extra"), 1)), path
        for key in at(gold, path):
            assert not FORM.is_valid(without(gold, *path, key)), (path, key)


def at(value, path):
    """The value at a path."""
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize(
    ("path", "leaf", "problem"),
    [
        (("format_version",), "5.0.0", r"expected format_version '1\.0\.0' or .*, not '5\.0\.0'"),
        (("messages", 1, "policy_version"), [], "messages/1/policy_version"),
        (("messages", 1, "policy_version", 0, "version"), "", "messages/1/policy_version/0/version"),
        (("messages", 0, "trainable"), True, "messages/0/trainable"),
        (("messages", 0, "role"), "system", "messages/0/role"),
        (("outcome", "status"), "infrastructure", "outcome/reward|messages/1/trainable"),
        (("task", "digest"), "x", "task/digest"),
        (("seed",), -1, "seed"),
    ],
)
def test_a_file_with_a_wrong_record_is_refused_by_line(gold, tmp_path, path, leaf, problem):
    lines = [json.dumps(gold), json.dumps(changed(gold, path, leaf))]
    (tmp_path / "x.jsonl").write_text("\n".join(lines) + "\n")

    with pytest.raises(DataFileError, match=rf"x\.jsonl, line 2: .*({problem})"):
        list(read_trajectories(tmp_path / "x.jsonl"))


def test_a_missing_policy_version_is_an_error(gold):
    with pytest.raises(DataFileError, match=r"messages/1: .*policy_version"):
        Trajectory.from_json(without(gold, "messages", 1, "policy_version"))


@pytest.mark.parametrize("line", ["[]", "{", '{"a": 1, "a": 2}', "\xff", "", '{"format_version": NaN}'])
def test_a_line_that_is_no_record_is_refused(tmp_path, line):
    (tmp_path / "x.jsonl").write_bytes(line.encode("latin-1") + b"\n")

    with pytest.raises(DataFileError, match=r"x\.jsonl, line 1: "):
        list(read_trajectories(tmp_path / "x.jsonl"))


# --- What cannot be recorded


def test_a_running_episode_is_not_recorded():
    env = make_env(SAMPLE, {})
    env.reset(seed=1)

    with pytest.raises(UsageError, match="still runs"):
        record_episode(env, "test", "v1", 1)


def with_argument(env, value):
    """The environment, as if it had been made with one argument more."""
    env.unwrapped.spec.kwargs["more"] = value
    return env


@pytest.mark.parametrize(
    ("make", "resets", "version", "problem"),
    [
        (lambda: make_env(SAMPLE, {}), 2, "v1", "began with"),
        (lambda: make_env(SAMPLE, {}), 1, "", "`agent_version` is empty"),
        (lambda: TauBenchEnv(), 1, "v1", "has no id"),
        (lambda: with_argument(make_env(SAMPLE, {}), object()), 1, "v1", "arguments must be JSON"),
    ],
)
def test_what_could_not_be_replayed_is_not_recorded(make, resets, version, problem):
    env = make()
    for number in range(resets):
        env.reset(seed=None if number else 1)
    env.step("Goodbye")

    with pytest.raises(UsageError, match=problem):
        record_episode(env, "test", version, 1)


# --- Any action

_CALLS = st.sampled_from(
    [
        {"name": "lend", "arguments": {"member_id": "M2", "book_id": "B1", "days": 7}},
        [
            {"name": "get_book", "arguments": {"book_id": "B2"}},
            {"name": "take_back", "arguments": {"loan_id": "L1"}},
        ],
        '<think>Hm.</think><tool_call>{"name": "think", "arguments": {"thought": "é"}}</tool_call> and more',
        {"name": "respond", "arguments": {"content": "\ud800"}},
        {"name": "think", "arguments": {"thought": 2**70, "x": 1e300, "y": -0.0}},
    ]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_TEXT = st.text(st.characters(codec=None), max_size=20)


@given(st.lists(_CALLS | _JSON | _TEXT, min_size=1, max_size=5))
def test_whatever_an_agent_writes_survives_and_replays(actions):
    trajectory = record_actions(actions)

    value = json.loads(to_line(trajectory))

    assert FORM.is_valid(value)
    assert Trajectory.from_json(value) == trajectory
    replay(Trajectory.from_json(value))


# --- Replay


def other(leaf):
    """A value of the same type and form, where there is one."""
    match leaf:
        case bool():
            return not leaf
        case str():
            return leaf[::-1] if len(leaf) == 64 else leaf + "x"
        case None:
            return "x"
        case _:
            return leaf + 1


def compared_leaves(value):
    """The leaves that replay holds the environment to."""
    skipped = {"author", "trainable", "override", "policy_version", "tokens"}
    for part in ("messages", "outcome", "schema", "task", "simulator", "grader_digest", "data"):
        for path, leaf in leaves(value[part], (part,)):
            if not skipped & set(path):
                yield path, leaf


@pytest.mark.parametrize("agent", ["gold", "random"])
def test_replay_sees_any_change(agent):
    value = record(agent, tasks=[0])[0].to_json()
    replay(Trajectory.from_json(value))

    for path, leaf in compared_leaves(value):
        with pytest.raises((ReplayMismatchError, DataFileError), match=str(path[0])[:7]):
            replay(Trajectory.from_json(changed(value, path, other(leaf))))


@pytest.mark.parametrize(
    ("path", "leaf", "problem"),
    [
        (("messages", 2, "content"), "?", r'message 2\.content: recorded "\?", met "nadia'),
        (("messages", 1, "action"), "Goodbye", r"message 1\.content: recorded \"\", met \"Goodbye\""),
        (("outcome", "reward"), 0.0, r"outcome\.reward: recorded 0\.0, met 1\.0"),
        (("outcome", "steps"), 9, r"outcome\.steps: recorded 9, met 5"),
        (("task", "digest"), "0" * 64, r"task\.digest: recorded"),
        (("schema", "sha256"), "0" * 64, r"schema\.sha256: recorded"),
        (("simulator", "digest"), "x", r"simulator\.digest: recorded"),
        (("data", "base_digest"), "x", r"data\.base_digest: recorded"),
        (("data", "final_digest"), "x", r"data\.final_digest: recorded"),
    ],
)
def test_replay_names_the_first_difference(gold, path, leaf, problem):
    with pytest.raises(ReplayMismatchError, match=problem):
        replay(Trajectory.from_json(changed(gold, path, leaf)))


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (lambda messages: messages[:-1], "message 10: not recorded"),
        (lambda messages: messages[:-2], "outcome: recorded, but the episode is not over"),
        (lambda messages: messages + messages[-1:], "message 11: recorded, but nobody said it"),
        (lambda messages: messages + messages[-2:], "message 11: recorded, but the episode was over"),
    ],
)
def test_replay_sees_missing_and_additional_messages(gold, edit, problem):
    with pytest.raises(ReplayMismatchError, match=problem):
        replay(Trajectory.from_json({**gold, "messages": edit(gold["messages"])}))


def test_replay_tells_a_number_from_a_truth_value():
    value = record_actions([{"name": "think", "arguments": {"thought": "x", "y": 1}}]).to_json()

    with pytest.raises(ReplayMismatchError, match=r"recorded .*true.*, met .*1"):
        replay(Trajectory.from_json(changed(value, ("messages", 1, "tool_calls", 0, "arguments", "y"), True)))


def test_replay_takes_arguments_that_differ_here(tmp_path):
    shutil.copytree(SAMPLE_FOLDER, tmp_path / "there")
    (trajectory,) = record("gold", kwargs={"path": str(tmp_path / "there")}, tasks=[1])
    (tmp_path / "there").rename(tmp_path / "here")

    replay(trajectory, path=str(tmp_path / "here"))
    with pytest.raises(DataFileError, match="there: no such folder"):
        replay(trajectory)


def test_replay_needs_the_task(gold):
    with pytest.raises(UnknownNameError, match="task id"):
        replay(Trajectory.from_json(changed(gold, ("options", "task_id"), "retail/test/99")))


def test_records_of_several_environments_replay_one_after_another():
    trajectories = record("silent", tasks=[0]) + record("silent", DESK) + record("gold", tasks=[0, 1])

    assert list(replay_each(trajectories)) == trajectories


def test_tau_bench_airline_replays(tau_bench_path):
    trajectories = record("gold", kwargs={"path": str(tau_bench_path), "domain": "airline"})

    assert len(list(replay_each(trajectories))) == 25


def test_tau_bench_retail_replays(tau_bench_path):
    trajectories = record("gold", kwargs={"path": str(tau_bench_path)})

    assert len(list(replay_each(trajectories))) == 115
