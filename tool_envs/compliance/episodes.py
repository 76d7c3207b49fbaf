"""Episodes to check with, and how they are compared."""

import json
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from tool_envs.actions import parse_action
from tool_envs.compliance.expectations import Unmet, expect
from tool_envs.compliance.subject import Subject
from tool_envs.env import ToolEnv
from tool_envs.messages import CONTENT, RESPOND, Json, ToolCall
from tool_envs.spaces import ToolCallSpace

Transcript: TypeAlias = list[Json]
SEEDS = (0, 1, 2)
UNKNOWN_TOOL = {"name": "no_such_tool", "arguments": {}}


def say(text: str) -> Json:
    """The action that says a text to the user."""
    return {"name": RESPOND, "arguments": {CONTENT: text}}


def plan_actions(env: ToolEnv, seed: int) -> list[Json]:
    """Calls for the running task: drawn ones and those that solve it by turns, then talk until the end.

    The episode is as it was before.
    """
    tools = env.schema.tools.values()
    space = ToolCallSpace(env.schema, seed)
    going_on = np.array([tool.effect in ("read", "write") for tool in tools], dtype=np.int8)
    actions: list[Json] = []
    for call in _solving_calls(env):
        actions += [space.sample(mask=going_on), call]
    for number in range(4):
        actions += [space.sample(mask=going_on), UNKNOWN_TOOL, say(f"Anything else? ({number})")]
    return [*actions, *[say("Hello?")] * env.max_steps]


def _solving_calls(env: ToolEnv) -> list[Json]:
    """The calls of the task; of one that comes without any, those that the domain's oracle makes."""
    calls, oracle = list(env.task.actions), env.domain.oracle
    if not calls and oracle is not None:
        before, ended = env.snapshot(), False
        while not ended and env.outcome is None:
            new = parse_action(oracle(env.episode)).calls
            calls += new
            ended = any(env.schema.tools[call.name].effect == "end" for call in new)
            if not ended:
                env.step([_as_action(call) for call in new])
        env.restore(before)
    return [_as_action(call) for call in calls]


def _as_action(call: ToolCall) -> Json:
    return {"name": call.name, "arguments": call.arguments}


def planned(subject: Subject, seed: int) -> list[Json]:
    """`plan_actions` for the task that a seed gives."""
    env = subject.bare()
    env.reset(seed=seed)
    return plan_actions(env, seed)


def go_on(env: ToolEnv, actions: Iterable[Json]) -> Transcript:
    """Everything that the steps give, until the episode ends."""
    transcript: Transcript = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        transcript.append([observation, reward, terminated, truncated, info, env.data_digest()])
        if terminated or truncated:
            break
    return transcript


def play(env: ToolEnv, seed: int, actions: Iterable[Json]) -> Transcript:
    """Everything that one episode gives."""
    observation, info = env.reset(seed=seed)
    return [[observation, info, env.data_digest()], *go_on(env, actions)]


def as_bytes(transcript: Transcript) -> bytes:
    """The transcript as JSON; fails when it is none."""
    return json.dumps(transcript, allow_nan=False).encode()


def expect_same(expected: Transcript, got: Transcript, what: str) -> None:
    """Fail at the first entry of two transcripts that differs in its JSON."""
    for number, (left, right) in enumerate(zip(expected, got, strict=False)):
        texts = json.dumps(left, allow_nan=False), json.dumps(right, allow_nan=False)
        if texts[0] != texts[1]:
            first = next((i for i, signs in enumerate(zip(*texts, strict=False)) if len({*signs}) > 1), 0)
            shorts = [text[max(0, first - 80) : first + 120] for text in texts]
            raise Unmet(f"{what}: entry {number} differs: ...{shorts[0]}... against ...{shorts[1]}...")
    expect(len(expected) == len(got), f"{what}: {len(expected)} entries against {len(got)}")
