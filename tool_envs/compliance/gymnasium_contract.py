"""Checks of what Gymnasium asks for."""

import functools
import json
import pickle
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from tool_envs.compliance.episodes import UNKNOWN_TOOL, expect_same, plan_actions, planned, play
from tool_envs.compliance.expectations import expect
from tool_envs.compliance.subject import Subject, unwrapped
from tool_envs.env import ToolEnv
from tool_envs.messages import Json


def gymnasium_checker(subject: Subject) -> None:
    """Gymnasium's own checker accepts it."""
    check_env(subject.bare(), skip_render_check=False)


def spec_round_trip(subject: Subject) -> None:
    """The spec goes through JSON and makes an equal environment."""
    env = subject.make()
    expect(env.spec is not None, "the environment has no spec")
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))  # type: ignore[union-attr]
    expect(again.spec == env.spec, f"the spec became {again.spec!r:.400}")
    actions = planned(subject, 0)
    expect_same(play(unwrapped(env), 0, actions), play(unwrapped(again), 0, actions), "the remade one")


def spaces(subject: Subject) -> None:
    """Samples are valid and repeat with their seed; spaces compare, pickle, and print briefly."""
    first, second = subject.bare(), subject.bare()
    pairs = [
        (first.action_space, second.action_space),
        (first.observation_space, second.observation_space),
    ]
    for space, other in pairs:
        expect(space == other, f"{space!r:.200} of two environments differ")
        expect(pickle.loads(pickle.dumps(space)) == space, f"{space!r:.200} is not what its pickle gives")  # noqa: S301
        expect(len(repr(space)) < 500, f"the repr of {space!r:.80} has {len(repr(space))} characters")
        for copied in (space, other):
            copied.seed(7)
        samples = [space.sample() for _ in range(50)]
        expect(samples == [other.sample() for _ in range(50)], "equal seeds give different samples")
        expect(all(map(space.contains, samples)), f"{space!r:.200} does not contain its samples")
        again = space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples))))
        expect(again == samples, f"samples of {space!r:.200} do not survive JSON")
        wrong = [None, 1, "x", [], {}, object(), {"name": [], "arguments": {}}]
        expect(not any(map(space.contains, wrong)), f"{space!r:.200} contains what is no member")


def render(subject: Subject) -> None:
    """`ansi` gives the conversation as a text, no mode gives None."""
    silent, env = subject.bare(), subject.bare(render_mode="ansi")
    silent.reset(seed=0)
    expect(silent.render() is None, "render() without a mode should give None")
    env.reset(seed=0)
    before = env.render()
    env.step(UNKNOWN_TOOL)
    after = env.render()
    expect(isinstance(before, str) and isinstance(after, str), f"expected texts, got {before!r:.80}")
    expect(str(after).startswith(str(before)) and after != before, "the text does not grow with the episode")


def sync_vector(subject: Subject) -> None:
    """Three lanes in this process give what three single environments give, over the ends of episodes."""
    makers = [functools.partial(subject.make, max_steps=4)] * 3
    _compare_lanes(subject, SyncVectorEnv(makers))


def async_vector(subject: Subject) -> None:
    """Three lanes in processes of their own give what three single environments give."""
    makers = [functools.partial(subject.make, max_steps=4)] * 3
    _compare_lanes(subject, AsyncVectorEnv(makers, shared_memory=False))


def _compare_lanes(subject: Subject, vector: VectorEnv[Any, Any, Any]) -> None:
    singles = [subject.bare(max_steps=4) for _ in range(vector.num_envs)]
    try:
        observations, _ = vector.reset(seed=5)
        first = [env.reset(seed=5 + i)[0] for i, env in enumerate(singles)]
        expect(list(observations) == first, f"after reset: {observations!r:.200} against {first!r:.200}")
        plans = [plan_actions(env, i) for i, env in enumerate(singles)]
        ended = [False] * len(singles)
        for step in range(10):
            actions = tuple(plan[step] for plan in plans)
            batch = vector.step(actions)
            for i, env in enumerate(singles):
                came = tuple(part[i] for part in batch[:4])
                single = _step_or_reset(env, actions[i], ended[i])
                expect(came == single, f"lane {i} at step {step}: {came!r:.200} against {single!r:.200}")
                ended[i] = single[2] or single[3]
    finally:
        vector.close()


def _step_or_reset(env: ToolEnv, action: Json, ended: bool) -> tuple[Json, float, bool, bool]:
    """What a lane does in Gymnasium's mode `NEXT_STEP`."""
    if ended:
        return env.reset()[0], 0.0, False, False
    observation, reward, terminated, truncated, _ = env.step(action)
    return observation, reward, terminated, truncated


CHECKS = (gymnasium_checker, spec_round_trip, spaces, render, sync_vector, async_vector)
