"""The checks that every environment passes, built-in or not.

A domain's own test is a few lines; `kwargs` go to `gymnasium.make`::

    @pytest.mark.parametrize("check", compliance.CHECKS)
    def test_compliance(check):
        compliance.CHECKS[check]("my_package:my_names/Desk-v0", {"user": "scripted"})

An id `module:namespace/Name-v0` has Gymnasium import the module, also in the other processes of some checks.
"""

import copy
import functools
import hashlib
import io
import json
import os
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from tool_envs.canonical import digest
from tool_envs.env import ToolEnv
from tool_envs.errors import ActionTypeError, Code, EpisodeEndedError, ToolEnvsError, UnknownNameError
from tool_envs.json_values import shown
from tool_envs.messages import CONTENT, RESPOND, Json
from tool_envs.schema import Tool, ToolSchema, load_schema
from tool_envs.spaces import ToolCallSpace
from tool_envs.task import Task

Check: TypeAlias = Callable[[str, dict[str, Any]], None]
"""`check(env_id, kwargs)`: silent, or raises `ComplianceError`."""

CHECKS: dict[str, Check] = {}
"""All checks by name."""

MAX_PICKLE = 100_000
"""Bytes that a pickled environment may have in the middle of an episode."""

RESET_KEYS = frozenset(
    ["task_id", "task_digest", "schema_version", "schema_sha256", "interface", "domain_policy", "messages"]
)
"""What the `info` of a reset holds at least."""


class ComplianceError(ToolEnvsError, AssertionError):
    """Raised when an environment fails a check: which one, and what was expected and came."""

    def __init__(self, check: str, env_id: str, problem: str) -> None:
        self.check, self.env_id, self.problem = check, env_id, problem
        super().__init__(f"{env_id} fails the check `{check}`: {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.check, self.env_id, self.problem)


def run(env_id: str, **kwargs: Any) -> None:  # noqa: ANN401 - whatever gymnasium.make takes
    """Run all checks.

    Args:
        env_id: The environment's id.
        **kwargs: Its arguments for `gymnasium.make`.

    Raises:
        ComplianceError: The first check that fails.
    """
    for check in CHECKS.values():
        check(env_id, kwargs)


@dataclass(frozen=True)
class _Subject:
    """What is checked: an id and its arguments."""

    env_id: str
    kwargs: dict[str, Any]

    def make(self, **changed: Any) -> gymnasium.Env[Any, Any]:  # noqa: ANN401 - whatever gymnasium.make takes
        return gymnasium.make(self.env_id, **{**self.kwargs, **changed})

    def bare(self, **changed: Any) -> ToolEnv:  # noqa: ANN401
        """The environment without wrappers."""
        return _unwrapped(self.make(**changed))


def _check(function: Callable[[_Subject], None]) -> Callable[[_Subject], None]:
    """Enter a check under its function's name."""
    name = function.__name__

    @functools.wraps(function)
    def check(env_id: str, kwargs: dict[str, Any]) -> None:
        try:
            with warnings.catch_warnings():
                # Gymnasium warns about what a text environment has by design: no bounds, no flattening.
                warnings.simplefilter("ignore", UserWarning)
                function(_Subject(env_id, dict(kwargs)))
        except Exception as problem:
            text = str(problem) if isinstance(problem, _Unmet) else f"{type(problem).__name__}: {problem}"
            raise ComplianceError(name, env_id, text) from problem

    CHECKS[name] = check
    return function


class _Unmet(Exception):  # noqa: N818 - it never leaves this module
    """An expectation that was not met, as a sentence."""


def _expect(met: bool, problem: str) -> None:
    if not met:
        raise _Unmet(problem)


def _unwrapped(env: gymnasium.Env[Any, Any]) -> ToolEnv:
    inner = env.unwrapped
    if not isinstance(inner, ToolEnv):
        raise _Unmet(f"expected a ToolEnv, got {type(inner).__name__}")
    return inner


# --- Episodes to check with

Transcript: TypeAlias = list[Json]
_SEEDS = (0, 1, 2)
_UNKNOWN_TOOL = {"name": "no_such_tool", "arguments": {}}


def _say(text: str) -> Json:
    return {"name": RESPOND, "arguments": {CONTENT: text}}


def _actions(env: ToolEnv, seed: int) -> list[Json]:
    """Calls for the running task: drawn ones and those that solve it by turns, then talk until the end."""
    tools = env.schema.tools.values()
    space = ToolCallSpace(env.schema, seed)
    going_on = np.array([tool.effect in ("read", "write") for tool in tools], dtype=np.int8)
    actions: list[Json] = []
    for call in env.task.actions:
        actions += [space.sample(mask=going_on), {"name": call.name, "arguments": call.arguments}]
    for number in range(4):
        actions += [space.sample(mask=going_on), _UNKNOWN_TOOL, _say(f"Anything else? ({number})")]
    return [*actions, *[_say("Hello?")] * env.max_steps]


def _planned(subject: _Subject, seed: int) -> list[Json]:
    env = subject.bare()
    env.reset(seed=seed)
    return _actions(env, seed)


def _go_on(env: ToolEnv, actions: Iterable[Json]) -> Transcript:
    """Everything that the steps give, until the episode ends."""
    transcript: Transcript = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        transcript.append([observation, reward, terminated, truncated, info, env.data_digest()])
        if terminated or truncated:
            break
    return transcript


def _play(env: ToolEnv, seed: int, actions: Iterable[Json]) -> Transcript:
    """Everything that one episode gives."""
    observation, info = env.reset(seed=seed)
    return [[observation, info, env.data_digest()], *_go_on(env, actions)]


def _as_bytes(transcript: Transcript) -> bytes:
    return json.dumps(transcript, allow_nan=False).encode()


def _expect_same(expected: Transcript, got: Transcript, what: str) -> None:
    for number, (left, right) in enumerate(zip(expected, got, strict=False)):
        texts = json.dumps(left, allow_nan=False), json.dumps(right, allow_nan=False)
        if texts[0] != texts[1]:
            first = next((i for i, signs in enumerate(zip(*texts, strict=False)) if len({*signs}) > 1), 0)
            shorts = [text[max(0, first - 80) : first + 120] for text in texts]
            raise _Unmet(f"{what}: entry {number} differs: ...{shorts[0]}... against ...{shorts[1]}...")
    _expect(len(expected) == len(got), f"{what}: {len(expected)} entries against {len(got)}")


# --- What Gymnasium asks for


@_check
def gymnasium_checker(subject: _Subject) -> None:
    """Gymnasium's own checker accepts it."""
    check_env(subject.bare(), skip_render_check=False)


@_check
def spec_round_trip(subject: _Subject) -> None:
    """The spec goes through JSON and makes an equal environment."""
    env = subject.make()
    _expect(env.spec is not None, "the environment has no spec")
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))  # type: ignore[union-attr]
    _expect(again.spec == env.spec, f"the spec became {again.spec!r:.400}")
    actions = _planned(subject, 0)
    _expect_same(_play(_unwrapped(env), 0, actions), _play(_unwrapped(again), 0, actions), "the remade one")


@_check
def spaces(subject: _Subject) -> None:
    """Samples are valid and repeat with their seed; spaces compare, pickle, and print briefly."""
    first, second = subject.bare(), subject.bare()
    pairs = [
        (first.action_space, second.action_space),
        (first.observation_space, second.observation_space),
    ]
    for space, other in pairs:
        _expect(space == other, f"{space!r:.200} of two environments differ")
        _expect(pickle.loads(pickle.dumps(space)) == space, f"{space!r:.200} is not what its pickle gives")  # noqa: S301
        _expect(len(repr(space)) < 500, f"the repr of {space!r:.80} has {len(repr(space))} characters")
        for copied in (space, other):
            copied.seed(7)
        samples = [space.sample() for _ in range(50)]
        _expect(samples == [other.sample() for _ in range(50)], "equal seeds give different samples")
        _expect(all(map(space.contains, samples)), f"{space!r:.200} does not contain its samples")
        again = space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples))))
        _expect(again == samples, f"samples of {space!r:.200} do not survive JSON")
        wrong = [None, 1, "x", [], {}, object(), {"name": [], "arguments": {}}]
        _expect(not any(map(space.contains, wrong)), f"{space!r:.200} contains what is no member")


@_check
def render(subject: _Subject) -> None:
    """`ansi` gives the conversation as a text, no mode gives None."""
    silent, env = subject.bare(), subject.bare(render_mode="ansi")
    silent.reset(seed=0)
    _expect(silent.render() is None, "render() without a mode should give None")
    env.reset(seed=0)
    before = env.render()
    env.step(_UNKNOWN_TOOL)
    after = env.render()
    _expect(isinstance(before, str) and isinstance(after, str), f"expected texts, got {before!r:.80}")
    _expect(str(after).startswith(str(before)) and after != before, "the text does not grow with the episode")


@_check
def sync_vector(subject: _Subject) -> None:
    """Three lanes in this process give what three single environments give, over the ends of episodes."""
    makers = [functools.partial(subject.make, max_steps=4)] * 3
    _compare_lanes(subject, SyncVectorEnv(makers))


@_check
def async_vector(subject: _Subject) -> None:
    """Three lanes in processes of their own give what three single environments give."""
    makers = [functools.partial(subject.make, max_steps=4)] * 3
    _compare_lanes(subject, AsyncVectorEnv(makers, shared_memory=False))


def _compare_lanes(subject: _Subject, vector: VectorEnv[Any, Any, Any]) -> None:
    singles = [subject.bare(max_steps=4) for _ in range(vector.num_envs)]
    try:
        observations, _ = vector.reset(seed=5)
        first = [env.reset(seed=5 + i)[0] for i, env in enumerate(singles)]
        _expect(list(observations) == first, f"after reset: {observations!r:.200} against {first!r:.200}")
        plans = [_actions(env, i) for i, env in enumerate(singles)]
        ended = [False] * len(singles)
        for step in range(10):
            actions = tuple(plan[step] for plan in plans)
            batch = vector.step(actions)
            for i, env in enumerate(singles):
                came = tuple(part[i] for part in batch[:4])
                single = _step_or_reset(env, actions[i], ended[i])
                _expect(came == single, f"lane {i} at step {step}: {came!r:.200} against {single!r:.200}")
                ended[i] = single[2] or single[3]
    finally:
        vector.close()


def _step_or_reset(env: ToolEnv, action: Json, ended: bool) -> tuple[Json, float, bool, bool]:
    """What a lane does in Gymnasium's mode `NEXT_STEP`."""
    if ended:
        return env.reset()[0], 0.0, False, False
    observation, reward, terminated, truncated, _ = env.step(action)
    return observation, reward, terminated, truncated


# --- What is seen


@_check
def schema(subject: _Subject) -> None:
    """The schema's digest is that of its document, a released one is unchanged, and its tools are bound."""
    env = subject.bare()
    tools = env.schema
    _expect(digest(tools.document) == tools.sha256, "`sha256` is not the digest of the document")
    try:
        _expect(load_schema(tools.domain, tools.version) == tools, "it differs from the released one")
    except UnknownNameError:
        again = ToolSchema.from_document(tools.document, "compliance") if _is_ours(tools) else tools
        _expect(again.tools == tools.tools, "the document gives other tools")
    bound = set(env.domain.toolkit.functions)
    wanted = {name for name, tool in tools.tools.items() if tool.effect != "message"}
    _expect(bound == wanted, f"functions for {sorted(bound)}, tools {sorted(wanted)}")
    _expect(json.loads(json.dumps(tools.to_openai())) == tools.to_openai(), "to_openai() is not JSON")


def _is_ours(tools: ToolSchema) -> bool:
    return str(tools.document["format"]).startswith("tool_schema/")


@_check
def reset_info(subject: _Subject) -> None:
    """The `info` of a reset says what is played, and agrees with the environment."""
    env = subject.bare()
    for seed in _SEEDS:
        observation, info = env.reset(seed=seed)
        _expect(info.keys() >= RESET_KEYS, f"keys {sorted(RESET_KEYS - info.keys())} are missing")
        said = (info["task_id"], info["task_digest"], info["schema_version"], info["schema_sha256"])
        true = (env.task.id, env.task.digest, env.schema.version, env.schema.sha256)
        _expect(said == true, f"expected {true}, got {said}")
        _expect(info["messages"] == env.messages, "`messages` are not those of the environment")
        _expect(observation["role"] == "user", f"the first observation is {observation!r:.200}")


@_check
def observations(subject: _Subject) -> None:
    """Observations are in the space and are the newest message."""
    for seed in _SEEDS:
        env = subject.bare()
        for entry in _play(env, seed, _planned(subject, seed)):
            observation, info = entry[0], entry[-2]
            _expect(env.observation_space.contains(observation), f"{observation!r:.200} is not in the space")
            newest = info["messages"][-1]["content"]
            _expect(observation["content"] == newest, f"{observation!r:.200} is not the newest message")


@_check
def chat_form(subject: _Subject) -> None:
    """The conversation is what the infos said, and each call of a tool is answered once, by its id."""
    env = subject.bare(parallel_calls="run")
    for seed in _SEEDS:
        env.reset(seed=seed)
        plan = _actions(env, seed)
        _, info = env.reset(seed=seed)
        transcript = _go_on(env, [plan[:2], *plan[2:4], "{", [_UNKNOWN_TOOL] * 3, *plan[4:]])
        told = [*info["messages"], *(message for entry in transcript for message in entry[4]["messages"])]
        _expect(told == env.messages, "the messages of the infos are not the conversation")
        _expect_answered(told)


def _expect_answered(messages: list[Json]) -> None:
    open_ids: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool" and "tool_call_id" in message:
            _expect(open_ids[:1] == [message["tool_call_id"]], f"open calls {open_ids}, but then {message}")
            open_ids = open_ids[1:]
            continue
        _expect(not open_ids, f"the calls {open_ids} have no answer before {message!r:.200}")
        open_ids = [call["id"] for call in message.get("tool_calls") or ()]
        _expect(len({*open_ids} - seen) == len(open_ids), f"ids stand twice: {open_ids}")
        seen.update(open_ids)
    _expect(not open_ids, f"the calls {open_ids} have no answer")


@_check
def answer_key(subject: _Subject) -> None:
    """What solves the task, and what the user was told about it, reaches the agent nowhere."""
    for seed in range(6):
        env = subject.bare(max_steps=5)
        talk = [_UNKNOWN_TOOL, "{", _say("Hello?"), _say("What do you want?"), _say("I see.")]
        transcript = _play(env, seed, talk)
        heard = [message.content for message in env.episode.history if message.role == "user"]
        seen = [_without_user(entry) for entry in transcript]
        for secret in _secrets(env.task):
            if not any(secret in text for text in heard):
                found = [text for text in _strings(seen) if secret in text]
                _expect(not found, f"{secret!r:.80} of task {env.task.id} is in {found[:1]!r:.200}")
        gold = [call.arguments for call in env.task.actions if call.arguments]
        leaked = [node for node in _objects(seen) if node in gold]
        _expect(not leaked, f"arguments of a call that solves {env.task.id} are shown: {leaked[:1]!r:.200}")


# Their values are texts and digests that are the same whatever a task holds, or its name.
_PUBLIC_KEYS = frozenset({"domain_policy", "task_id", "task_digest", "schema_sha256", "schema_version"})


def _without_user(value: Json) -> Json:
    """The value without what the user said, which is the user's to tell, and without public names."""
    if isinstance(value, dict):
        if value.get("role") == "user":
            return None
        return {key: _without_user(item) for key, item in value.items() if key not in _PUBLIC_KEYS}
    return [_without_user(item) for item in value] if isinstance(value, list) else value


def _secrets(task: Task) -> Iterator[str]:
    """Texts that only those who know the task can write."""
    for call in task.actions:
        if call.arguments:
            yield json.dumps(call.arguments)
            yield json.dumps(call.arguments, separators=(",", ":"))
            yield repr(call.arguments)
    yield from (fact for fact in task.facts if len(fact) >= 4)
    yield from (text for text in _strings(task.goal) if len(text) >= 25)


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _objects(item)


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@_check
def nothing_of_this_machine(subject: _Subject) -> None:
    """No path and no uuid is shown; a clock shows as a difference in the checks of determinism."""
    places = {str(Path.cwd()), str(Path.home())} - {"/"}
    transcript = _play(subject.bare(), 0, _planned(subject, 0))
    for text in _strings(transcript):
        _expect(not any(place in text for place in places), f"a path is shown: {text!r:.200}")
        _expect(not _UUID.search(text), f"a uuid is shown: {text!r:.200}")


# --- Determinism


@_check
def determinism(subject: _Subject) -> None:
    """Seed and actions decide every byte: twice in one environment, and in another one."""
    for seed in _SEEDS:
        env, actions = subject.bare(), _planned(subject, seed)
        expected = _play(env, seed, actions)
        _expect_same(expected, _play(env, seed, actions), "the same environment again")
        _expect_same(expected, _play(subject.bare(), seed, actions), "another environment")


@_check
def other_process(subject: _Subject) -> None:
    """The same bytes in another process, whatever its PYTHONHASHSEED."""
    actions = _planned(subject, 3)
    expected = hashlib.sha256(_as_bytes(_play(subject.bare(), 3, actions))).hexdigest()
    request = json.dumps({"env_id": subject.env_id, "kwargs": subject.kwargs, "seed": 3, "actions": actions})
    came = subprocess.run(  # noqa: S603 - this Python, and a constant
        [sys.executable, "-W", "ignore", "-c", f"from {__name__} import replay_request; replay_request()"],
        input=request,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        env={
            **os.environ,
            "PYTHONHASHSEED": "4242",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": os.pathsep.join(str(Path(place).absolute()) for place in sys.path),
        },
    )
    _expect(came.returncode == 0, f"the other process failed: {came.stderr[-800:]}")
    _expect(came.stdout.strip() == expected, "the other process came to other bytes")


def replay_request() -> None:
    """The other process's part of `other_process`: an episode from stdin, its digest to stdout."""
    request = json.loads(sys.stdin.read())
    env = _Subject(request["env_id"], request["kwargs"]).bare()
    transcript = _play(env, request["seed"], request["actions"])
    sys.stdout.write(hashlib.sha256(_as_bytes(transcript)).hexdigest())


@_check
def unseeded_reset(subject: _Subject) -> None:
    """Later episodes depend on the seed and their number, not on what was done in the ones before."""
    still, busy = subject.bare(), subject.bare()
    _expect_same([list(still.reset(seed=9))], [list(busy.reset(seed=9))], "the first episode")
    for number in range(1, 6):
        _go_on(busy, _actions(busy, number)[: 2 * number])
        busy.action_space.sample()
        _expect_same([list(still.reset())], [list(busy.reset())], f"episode {number} after the seed")


# --- Rewards and ends


@_check
def rewards(subject: _Subject) -> None:
    """Every reward is 0.0 but the last, which is 0.0 or 1.0; all types are Python's own."""
    for seed in _SEEDS:
        steps = _play(subject.bare(), seed, _planned(subject, seed))[1:]
        for _, reward, terminated, truncated, *_ in steps:
            types = (type(reward), type(terminated), type(truncated))
            _expect(types == (float, bool, bool), f"expected float, bool, bool, got {types}")
        early = [entry[1] for entry in steps[:-1]]
        _expect(not any(early), f"rewards before the last step: {early}")
        _expect(steps[-1][1] in (0.0, 1.0), f"the last reward is {steps[-1][1]}")


@_check
def outcome(subject: _Subject) -> None:
    """The last step, and no other, has the outcome; it agrees with the reward."""
    for seed in _SEEDS:
        env = subject.bare()
        steps = _play(env, seed, _planned(subject, seed))[1:]
        early = [number for number, entry in enumerate(steps[:-1]) if "outcome" in entry[4]]
        _expect(not early, f"an outcome before the end, at steps {early}")
        _, reward, terminated, truncated, info, _ = steps[-1]
        _expect(terminated or truncated, f"the episode does not end within {len(steps)} actions")
        _expect("outcome" in info, "no outcome at the last step")
        came = info["outcome"]
        _expect(came["reward"] == reward == came["ledger"]["terminal"], f"reward {reward}, outcome {came}")
        wanted = "completed" if terminated else "truncated"
        _expect(came["status"] == wanted, f"expected the status {wanted}, got {came}")
        _expect(env.outcome is not None and env.outcome.steps == came["steps"], "`env.outcome` differs")


@_check
def truncation(subject: _Subject) -> None:
    """After `max_steps` actions the episode is truncated, without a reward."""
    steps = _play(subject.bare(max_steps=3), 0, [_UNKNOWN_TOOL] * 9)[1:]
    flags = [(entry[1], entry[2], entry[3]) for entry in steps]
    expected = [(0.0, False, False), (0.0, False, False), (0.0, False, True)]
    _expect(flags == expected, f"expected {expected}, got {flags}")


@_check
def ended_errors(subject: _Subject) -> None:
    """A step before the first reset or after the end raises EpisodeEndedError; a reset helps."""
    env = subject.bare(max_steps=1)
    _expect_raises(EpisodeEndedError, functools.partial(env.step, _UNKNOWN_TOOL), "a step before `reset`")
    env.reset(seed=0)
    env.step(_UNKNOWN_TOOL)
    _expect_raises(EpisodeEndedError, functools.partial(env.step, _UNKNOWN_TOOL), "a step after the end")
    env.reset()
    env.step(_UNKNOWN_TOOL)


def _expect_raises(error: type[Exception], call: Callable[[], object], what: str) -> None:
    try:
        call()
    except error:
        return
    raise _Unmet(f"{what} should raise {error.__name__}")


# --- Copies


@_check
def snapshot(subject: _Subject) -> None:
    """An episode forks at every step, and every branch is what a fresh replay gives."""
    env, actions = subject.bare(), _planned(subject, 1)
    expected = _play(subject.bare(), 1, actions)[1:]
    env.reset(seed=1)
    moments = []
    for action in actions[: len(expected)]:
        moments.append(env.snapshot())
        env.step(action)
    for number in reversed(range(len(moments))):
        env.restore(moments[number])
        _go_on(env, [_say("No."), *actions])
        env.restore(moments[number])
        _expect_same(expected[number:], _go_on(env, actions[number:]), f"the fork at step {number}")


@_check
def restore_elsewhere(subject: _Subject) -> None:
    """A snapshot goes on in a second environment, which shares nothing that changes with the first."""
    first, second = subject.bare(), subject.bare()
    actions = _planned(subject, 2)
    expected = _play(subject.bare(), 2, actions)[1:]
    half = len(expected) // 2
    first.reset(seed=2)
    _go_on(first, actions[:half])
    moment = first.snapshot()
    second.restore(moment)
    _expect_same(expected[half:], _go_on(second, actions[half:]), "the second environment")
    second.restore(moment)
    _go_on(second, [_say("No."), *reversed(actions[: len(expected)])])
    _expect_same(expected[half:], _go_on(first, actions[half:]), "the first environment")


@_check
def pickled(subject: _Subject) -> None:
    """A pickle goes on as the original does, in this episode and the next, and does not carry the data."""
    env, actions = subject.make(), _planned(subject, 4)
    inner = _unwrapped(env)
    env.reset(seed=4)
    _go_on(inner, actions[:3])
    data = _pickle_without(inner.domain.base, env)
    _expect(len(data) < MAX_PICKLE, f"the pickle has {len(data)} bytes, more than {MAX_PICKLE}")
    _expect_goes_on(inner, _unwrapped(pickle.loads(data)), actions[3:])  # noqa: S301 - made above


@_check
def deep_copy(subject: _Subject) -> None:
    """A deep copy goes on as the original does, in this episode and the next, and shares the data."""
    env, actions = subject.bare(), _planned(subject, 4)
    env.reset(seed=4)
    _go_on(env, actions[:3])
    copied = copy.deepcopy(env)
    _expect(copied.domain is env.domain, "the copy has a domain of its own")
    _expect_goes_on(env, copied, actions[3:])


def _expect_goes_on(env: ToolEnv, copied: ToolEnv, actions: list[Json]) -> None:
    came = _go_on(copied, actions)
    _expect_same(_go_on(env, actions), came, "the copy")
    _expect_same([list(env.reset())], [list(copied.reset())], "the copy's next episode")


def _pickle_without(data: object, env: object) -> bytes:
    """The pickle of an environment; fails when the base data or a table of it goes in."""
    forbidden = {id(data), id(getattr(data, "tables", None))}
    forbidden |= {id(table) for table in getattr(data, "tables", {}).values()}

    class Pickler(pickle.Pickler):
        def persistent_id(self, value: object) -> None:
            _expect(id(value) not in forbidden, "the pickle carries the base data")

    buffer = io.BytesIO()
    Pickler(buffer).dump(env)
    return buffer.getvalue()


@_check
def base_data_unchanged(subject: _Subject) -> None:
    """No episode changes the data that all episodes start from."""
    env = subject.bare()
    tables = env.domain.base.tables
    before = digest(tables)
    for seed in range(5):
        _play(env, seed, _planned(subject, seed))
        _expect(digest(tables) == before, f"the episode with seed {seed} changed the base data")


# --- Bad actions


@_check
def hostile_actions(subject: _Subject) -> None:
    """Whatever an agent can write is answered, and what cannot be run changes nothing."""
    env = subject.bare()
    env.reset(seed=0)
    before = env.data_digest()
    for number, action in enumerate(_hostile(env)):
        observation, reward, terminated, truncated, info = env.step(action)
        what = f"hostile action {number} ({shown(action)})"
        _expect(env.observation_space.contains(observation), f"{what}: {observation!r:.80} is no observation")
        code = info["error_code"]
        _expect(code is None or isinstance(code, str), f"{what}: the error code is {code!r}")
        _expect(reward in (0.0, 1.0), f"{what}: the reward is {reward}")
        _as_bytes([observation, info])
        _expect(env.data_digest() == before, f"{what}: the data changed")
        if terminated or truncated:
            env.reset(seed=0)


_BROKEN: tuple[Json | bytes, ...] = (
    *(None, 0, 1.5, True, float("nan"), float("inf"), 10**5000, [], {}, [[]]),
    *("", " ", "null", "{", "[{", "\ud800", "<tool_call>", "</think>", b"", b"\xff\xfe"),
    *("x" * 1_000_000, b"{" * 1_000_000, "{" * 100_000, '{"name":' * 100_000, "[{" + "[" * 100_000),
    *('{"name": NaN}', '{"name": "x", "arguments": {"n": 1e999}}', '{"name": ' + "9" * 10_000 + "}"),
    *({"name": "\ud800"}, {"name": ""}, {"name": "x" * 1_000_000}, {"name": None}, {"name": "x", "y": 1}),
    *(_UNKNOWN_TOOL, [_UNKNOWN_TOOL, None], [None], {"role": "assistant"}, {"tool_calls": 1}),
)


def _hostile(env: ToolEnv) -> Iterator[Json | bytes]:
    """What no tool can make sense of: texts, values, and calls of each tool with spoiled arguments."""
    yield from (*_BROKEN, _nested(100_000))
    space = ToolCallSpace(env.schema, 0)
    for i, tool in enumerate(env.schema.tools.values()):
        valid = space.sample(mask=np.eye(len(env.schema.tools), dtype=np.int8)[i])["arguments"]
        for arguments in _spoiled(tool, valid):
            yield {"name": tool.name, "arguments": arguments}


def _nested(depth: int) -> Json:
    value: Json = "bottom"
    for _ in range(depth):
        value = [value]
    return value


_ODD_VALUES: tuple[Json, ...] = (
    *(None, {"a": [1]}, [["x"]], float("nan"), 10**30, -1.5, True),
    *("no such value", "x" * 100_000, "\udfff", "\0"),
)


def _spoiled(tool: Tool, valid: dict[str, Json]) -> Iterator[Json]:
    """Arguments that are not valid for a tool."""
    candidates = [None, 7, [], [valid], "x", "{", json.dumps({**valid, "extra": 1}), {**valid, "extra": 1}]
    for name in valid:
        candidates.append({key: value for key, value in valid.items() if key != name})
        candidates += [{**valid, name: value} for value in (*_ODD_VALUES, _nested(1000))]
    for arguments in candidates:
        if not tool.accepts(arguments if arguments is not None else {}):
            yield arguments


@_check
def foreign_objects(subject: _Subject) -> None:
    """What no agent can write is the caller's mistake, and the episode is as it was before."""
    env, actions = subject.bare(), _planned(subject, 0)
    expected = _play(subject.bare(), 0, actions)[1:]
    env.reset(seed=0)
    came = _go_on(env, actions[:1])
    for thing in ({1, 2}, object(), {"name": {1}}, {1: 2}, [b"x"], {"name": "x", "arguments": {"y": {1}}}):
        _expect_raises(ActionTypeError, functools.partial(env.step, thing), f"the action {thing!r:.60}")
    _expect_same(expected, came + _go_on(env, actions[1:]), "the episode after such actions")


@_check
def several_calls(subject: _Subject) -> None:
    """Several calls of one action run in order, as they would one by one."""
    for seed in _SEEDS:
        single, several = (subject.bare(parallel_calls="run") for _ in range(2))
        single.reset(seed=seed)
        several.reset(seed=seed)
        calls = [action for action in _actions(single, seed) if action["name"] != RESPOND][:6]
        one_by_one = _go_on(single, calls)
        together = _go_on(several, [calls])
        answers = [m["content"] for m in together[0][4]["messages"] if m["role"] == "tool"]
        expected = [entry[0]["content"] for entry in one_by_one]
        _expect(answers[: len(expected)] == expected, f"expected {expected!r:.200}, got {answers!r:.200}")
        _expect(len(answers) == len(calls), f"{len(calls)} calls, but {len(answers)} answers")
        _expect(single.data_digest() == several.data_digest(), "the data differs")
        _expect(one_by_one[-1][1:4] == together[-1][1:4], "reward or end differ")


@_check
def refused_calls(subject: _Subject) -> None:
    """With `parallel_calls="refuse"` several calls of one action are answered and none is run."""
    env = subject.bare(parallel_calls="refuse")
    env.reset(seed=0)
    before = env.data_digest()
    calls = [action for action in _actions(env, 0) if action["name"] != RESPOND][:4]
    _, _, _, _, info = env.step(calls)
    _expect(info["error_code"] == Code.SEVERAL_CALLS, f"the code is {info['error_code']!r}")
    _expect(env.data_digest() == before, "the data changed")
    _expect(env.episode.steps == 1, f"it counts as {env.episode.steps} actions")
