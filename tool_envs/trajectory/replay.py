"""Runs a record again and holds every observation, the reward and the data to it."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import gymnasium
import msgspec

from tool_envs.env import ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, ReplayMismatchError
from tool_envs.messages import Json
from tool_envs.reward import unjudged
from tool_envs.trajectory.capture import describe_setting, record_message
from tool_envs.trajectory.record import AssistantMessage, RecordedMessage, Trajectory


def replay(trajectory: Trajectory, **overrides: Json) -> None:
    """Play a record's actions again on a new environment, and compare.

    First the digests of schema, task, user, grader and data must be those of the record; then every message,
    the outcome and the final data. An infrastructure failure need not happen again: of such a record only
    what came before its last action, the unfinished one, is compared. Where a policy was cut off, the
    replay is truncated there too. A user who was far away says what the record holds, and no model is asked.

    Args:
        trajectory: The record.
        **overrides: Arguments of the environment that take the place of recorded ones: `path`, say.

    Raises:
        ReplayMismatchError: Something differs; names the first difference, recorded and met.
        UnknownNameError: The environment or its task does not exist here.
    """
    for _ in replay_each([trajectory], **overrides):
        pass


def replay_each(trajectories: Iterable[Trajectory], **overrides: Json) -> Iterator[Trajectory]:
    """Replay records one after another, and yield each one that was met; raises as `replay` does.

    An environment is kept as long as the records name the same one.
    """
    env, made = None, None
    for trajectory in trajectories:
        kwargs = {**trajectory.env.kwargs, **overrides}
        if env is None or made != (trajectory.env.id, kwargs):
            env, made = make_env(trajectory.env.id, kwargs), (trajectory.env.id, kwargs)
        replay_on(env, trajectory)
        yield trajectory


def replay_on(env: gymnasium.Env[Any, Any], trajectory: Trajectory) -> None:
    """Play a record's actions again on an environment, which then holds its episode, and compare.

    Raises:
        ReplayMismatchError: As `replay`.
        UnknownNameError: Likewise.
    """
    inner = unwrap(env)
    _begin_again(env, trajectory)
    compare_settings(trajectory, inner)
    _play_again(env, trajectory)
    if trajectory.outcome.status != "infrastructure":
        compare_outcomes(trajectory, inner)
        _compare("data.final_digest", trajectory.data.final_digest, inner.data_digest())


def play_again(env: gymnasium.Env[Any, Any], trajectory: Trajectory) -> None:
    """Play a record's actions again, to be graded anew: every message must be met, the outcome need not.

    Raises:
        ReplayMismatchError: A message differs, or the episode ends elsewhere.
        UnknownNameError: Its task does not exist here.
    """
    _begin_again(env, trajectory)
    _play_again(env, trajectory)


def _begin_again(env: gymnasium.Env[Any, Any], trajectory: Trajectory) -> None:
    try:
        env.reset(seed=trajectory.seed, options=trajectory.options)
    except InfrastructureError:
        if trajectory.outcome.status != "infrastructure" or trajectory.messages:
            raise


def _play_again(env: gymnasium.Env[Any, Any], trajectory: Trajectory) -> None:
    inner, finished = unwrap(env), trajectory.outcome.status != "infrastructure"
    actions = [message.action for message in trajectory.messages if isinstance(message, AssistantMessage)]
    is_cut = _was_truncated_from_outside(trajectory)
    # Every action that was carried out has an answer.
    cut = actions.pop() if is_cut and _ends_with_action(trajectory) else None
    compared = _compare_messages(trajectory.messages, inner, 0)
    for action in actions if finished else actions[:-1]:
        if inner.outcome is not None:
            raise ReplayMismatchError(f"message {compared}: recorded, but the episode was over before it")
        env.step(action)
        compared = _compare_messages(trajectory.messages, inner, compared)
    if not finished:
        return
    if inner.outcome is None and is_cut:
        inner.truncate(trajectory.outcome.ended_by, cut)
        compared = _compare_messages(trajectory.messages, inner, compared)
    if compared < len(trajectory.messages):
        raise ReplayMismatchError(f"message {compared}: recorded, but nobody said it")
    if inner.outcome is None:
        raise ReplayMismatchError("outcome: recorded, but the episode is not over after the last action")


def _ends_with_action(trajectory: Trajectory) -> bool:
    return bool(trajectory.messages) and isinstance(trajectory.messages[-1], AssistantMessage)


def _was_truncated_from_outside(trajectory: Trajectory) -> bool:
    """Whether the policy could not go on, of which the environment knows nothing."""
    return trajectory.outcome.status == "truncated" and trajectory.outcome.ended_by != "limit"


def compare_settings(trajectory: Trajectory, env: ToolEnv) -> None:
    """Hold the tools, task, user, grader and data of an environment to those of a record.

    Raises:
        ReplayMismatchError: One has another digest; names it.
    """
    for name, met in describe_setting(env).items():
        _compare_fields(name, msgspec.to_builtins(getattr(trajectory, name)), msgspec.to_builtins(met))
    _compare("data.base_digest", trajectory.data.base_digest, env.domain.base.digest)


def _compare_messages(recorded: tuple[RecordedMessage, ...], env: ToolEnv, start: int) -> int:
    """Compare the environment's messages from `start` on; returns how many there are."""
    history = env.episode.history
    for number in range(start, len(history)):
        met = _comparable(record_message(history[number]))
        if number >= len(recorded):
            raise ReplayMismatchError(f"message {number}: not recorded, met {_cut(_text(met), 0)}")
        _compare_fields(f"message {number}", _comparable(recorded[number]), met)
    return len(history)


def compare_outcomes(trajectory: Trajectory, env: ToolEnv) -> None:
    """Hold how an episode ended to how its record says it did; judges, who came later, are left out.

    Raises:
        ReplayMismatchError: It ended in another way; names the first difference.
    """
    recorded = unjudged(trajectory.outcome)
    _compare_fields("outcome", msgspec.to_builtins(recorded), msgspec.to_builtins(env.outcome))


def _comparable(message: RecordedMessage) -> dict[str, Json]:
    """A message without what the environment does not know."""
    value: dict[str, Json] = msgspec.to_builtins(message)
    for name in ("author", "trainable", "override", "policy_version", "tokens"):
        value.pop(name, None)
    return value


def _compare_fields(what: str, recorded: Json, met: Json) -> None:
    """Compare two values; of objects with the same keys, name the first member that differs."""
    if isinstance(recorded, dict) and isinstance(met, dict) and recorded.keys() == met.keys():
        for name in recorded:
            _compare_fields(f"{what}.{name}", recorded[name], met[name])
    else:
        _compare(what, recorded, met)


def _compare(what: str, recorded: Json, met: Json) -> None:
    # As texts: in Python 1, 1.0 and True are equal.
    left, right = _text(recorded), _text(met)
    if left != right:
        at = next((i for i, pair in enumerate(zip(left, right, strict=False)) if len(set(pair)) > 1), 0)
        raise ReplayMismatchError(f"{what}: recorded {_cut(left, at)}, met {_cut(right, at)}")


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _cut(text: str, at: int) -> str:
    """A part of a text around a place."""
    start, end = max(0, at - 30), at + 90
    return f"{'...' * (start > 0)}{text[start:end]}{'...' * (end < len(text))}"
