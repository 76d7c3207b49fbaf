"""Checks of actions that cannot be run."""

import functools
import json
from collections.abc import Iterator

import numpy as np

from tool_envs.compliance.episodes import UNKNOWN_TOOL, as_bytes, expect_same, go_on, planned, play
from tool_envs.compliance.expectations import expect, expect_possible, expect_raises
from tool_envs.compliance.subject import Subject
from tool_envs.env import ToolEnv
from tool_envs.errors import ActionTypeError
from tool_envs.json_values import shown
from tool_envs.messages import Json
from tool_envs.schema import Tool
from tool_envs.spaces import ToolCallSpace


def hostile_actions(subject: Subject) -> None:
    """Whatever an agent can write is answered, and what cannot be run changes nothing."""
    env = subject.bare()
    env.reset(seed=0)
    before = env.data_digest()
    for number, action in enumerate(_hostile(env)):
        observation, reward, terminated, truncated, info = env.step(action)
        what = f"hostile action {number} ({shown(action)})"
        expect(env.observation_space.contains(observation), f"{what}: {observation!r:.80} is no observation")
        code = info["error_code"]
        expect(code is None or isinstance(code, str), f"{what}: the error code is {code!r}")
        expect_possible(reward, env, what)
        as_bytes([observation, info])
        expect(env.data_digest() == before, f"{what}: the data changed")
        if terminated or truncated:
            env.reset(seed=0)


_BROKEN: tuple[Json | bytes, ...] = (
    *(None, 0, 1.5, True, float("nan"), float("inf"), 10**5000, [], {}, [[]]),
    *("", " ", "null", "{", "[{", "\ud800", "<tool_call>", "</think>", b"", b"\xff\xfe"),
    *("x" * 1_000_000, b"{" * 1_000_000, "{" * 100_000, '{"name":' * 100_000, "[{" + "[" * 100_000),
    *('{"name": NaN}', '{"name": "x", "arguments": {"n": 1e999}}', '{"name": ' + "9" * 10_000 + "}"),
    *({"name": "\ud800"}, {"name": ""}, {"name": "x" * 1_000_000}, {"name": None}, {"name": "x", "y": 1}),
    *(UNKNOWN_TOOL, [UNKNOWN_TOOL, None], [None], {"role": "assistant"}, {"tool_calls": 1}),
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


def foreign_objects(subject: Subject) -> None:
    """What no agent can write is the caller's mistake, and the episode is as it was before."""
    env, actions = subject.bare(), planned(subject, 0)
    expected = play(subject.bare(), 0, actions)[1:]
    env.reset(seed=0)
    came = go_on(env, actions[:1])
    for thing in ({1, 2}, object(), {"name": {1}}, {1: 2}, [b"x"], {"name": "x", "arguments": {"y": {1}}}):
        expect_raises(ActionTypeError, functools.partial(env.step, thing), f"the action {thing!r:.60}")
    expect_same(expected, came + go_on(env, actions[1:]), "the episode after such actions")


CHECKS = (hostile_actions, foreign_objects)
