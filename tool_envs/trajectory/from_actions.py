"""Episodes of the array view as records: what an agent chose among arrays, as messages and tool calls."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from tool_envs.arrays.env import ArrayEnv
from tool_envs.env import ToolEnv
from tool_envs.environments import make_env
from tool_envs.errors import ReplayMismatchError, UsageError
from tool_envs.messages import Json
from tool_envs.trajectory.capture import record_episode
from tool_envs.trajectory.record import Trajectory

# Arguments of `ArrayVectorEnv` that decide how lanes are run, and not what an action does in one.
_OF_LANES = ("num_envs", "autoreset_mode", "copy", "threads")


@dataclass(frozen=True, eq=False)
class LaneEpisode:
    """One whole episode of one lane.

    Attributes:
        lane: Number of the lane.
        first: The step of its first action.
        task_index: Which task it was, among those of its environment.
        actions: Its actions, of shape (steps,), or (steps, dimensions) in the form `multidiscrete`.
        reward: Of its last step.
    """

    lane: int
    first: int
    task_index: int
    actions: npt.NDArray[np.integer[Any]]
    reward: float


def episodes_of(
    actions: npt.ArrayLike,
    rewards: npt.ArrayLike,
    ended: npt.ArrayLike,
    task_index: npt.ArrayLike,
    choices: npt.ArrayLike,
) -> Iterator[LaneEpisode]:
    """Cut the whole episodes out of the steps of a vectorized array view, in the order in which they end.

    An episode begins where the infos before an action count 0 choices. So this serves every autoreset mode;
    an episode of which a step is missing, or that a reset cut off, is left out.

    Args:
        actions: What `step` was given; of shape (steps, lanes), in the form `multidiscrete` (steps, lanes,
            dimensions).
        rewards: What it gave; (steps, lanes).
        ended: Terminated or truncated; likewise.
        task_index: As the infos had it that came before the action, from `step` or `reset`; likewise.
        choices: Likewise.

    Raises:
        UsageError: The arrays do not have these shapes.
    """
    taken, shape = np.asarray(actions), np.shape(ended)
    shapes = [taken.shape[:2], *map(np.shape, (rewards, task_index, choices))]
    if len(shape) != 2 or any(each != shape for each in shapes):
        raise UsageError(
            f"All arrays begin with the axes (steps, lanes); here they are {shapes[0]} of actions, "
            f"{shapes[1]} of rewards, {shape} of ends, {shapes[2]} of task indexes, {shapes[3]} of choices."
        )
    return _cut(taken, np.asarray(rewards), np.asarray(ended), np.asarray(task_index), np.asarray(choices))


def _cut(
    actions: npt.NDArray[Any],
    rewards: npt.NDArray[Any],
    ended: npt.NDArray[Any],
    task_index: npt.NDArray[Any],
    choices: npt.NDArray[Any],
) -> Iterator[LaneEpisode]:
    steps, over = np.arange(len(ended))[:, None], ended.astype(np.bool_)
    first = _latest(choices == 0, steps)
    # Where steps are missing, the count of choices is another, or an end lies between.
    ended_before = np.vstack([np.full_like(first[:1], -1), _latest(over, steps)[:-1]])
    whole = over & (first > ended_before) & (choices == steps - first)
    for last, lane in np.argwhere(whole).tolist():
        start = int(first[last, lane])
        yield LaneEpisode(
            lane=lane,
            first=start,
            task_index=int(task_index[start, lane]),
            actions=actions[start : last + 1, lane].copy(),
            reward=float(rewards[last, lane]),
        )


def _latest(marked: npt.NDArray[np.bool_], steps: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """For each step and lane the latest step up to it that is marked; -1: none is."""
    return np.maximum.accumulate(np.where(marked, steps, -1), axis=0)


def from_actions(
    env_id: str,
    schema_sha256: str,
    task_id: str,
    seed: int,
    actions: Iterable[Any],
    policy_version: str,
    *,
    agent_name: str = "arrays",
    reward: float | None = None,
    **kwargs: Json,
) -> Trajectory:
    """Play one episode of an array view again, and record it as one of the JSON view.

    The record is the one that `record_episode` makes of the JSON view: tool calls and sentences, whole and
    replayable. Each message of the agent is one action that the array policy completed; its words are those
    of the array view. A choice that was not possible changes nothing, so that it leaves no message.

    What happens in an episode follows from task and actions; from the seed, only in which words the user
    says it. A lane that was reset with a seed has its first episode under that seed; the words of its later
    ones belong to no seed, and any will do.

    The array view also truncates an episode for its choices (`CHOICES_PER_ACTION`), which the JSON view does
    not count. The record of such an episode has as `max_steps` the actions that were carried out, so that it
    is truncated where the lane was.

    Args:
        env_id: The array view, `tool_envs/RetailArray-v0` say.
        schema_sha256: Digest of the tool schema under which the actions were chosen.
        task_id: The task.
        seed: See above; at least 0.
        actions: All actions of the episode, as the stepper took them: integers, or in the form
            `multidiscrete` rows of them.
        policy_version: The version of the policy that chose them.
        agent_name: Its name.
        reward: What the lane got at the end, to be compared; None: is not known.
        **kwargs: Arguments of the array view, as `gymnasium.make_vec` had them. What a number means depends
            on `action_form`, `schema_version`, `mask` and what decides the data (`customers`, `data_seed`);
            which task an id names, on `split` and `difficulty`; when it ends, on `max_steps`. Those that say
            how lanes are run are accepted and mean nothing here; of `words` only `heard` can be rebuilt.

    Raises:
        ReplayMismatchError: The schema here has another digest, or the episode another reward.
        UnknownNameError: There is no such environment or task.
        UsageError: The environment is no array view; an action is out of range; the actions end before the
            episode does, or go on after it; none was carried out, so that the JSON view has no episode;
            the policy version is empty; or the seed is no such integer.
    """
    if not policy_version:
        raise UsageError("`policy_version` is empty. Say which version of the policy chose the actions.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"`seed` is an integer of at least 0, not {seed!r:.40}.")
    view, seed = _make_view(env_id, kwargs), int(seed)
    schema = view.json_env.schema
    if schema.sha256 != schema_sha256:
        raise ReplayMismatchError(
            f"schema.sha256: the actions were chosen under {schema_sha256}, and {schema.domain} "
            f"{schema.version} of {env_id} is {schema.sha256} here"
        )
    view.reset(seed=seed, options={"task_id": task_id})
    met = _play(view, list(actions))
    if reward is not None and reward != met:
        raise ReplayMismatchError(
            f"reward: the lane had {float(reward)}, and its actions earn {met} here; were they taken in this "
            f"task, under these arguments? {kwargs}"
        )
    is_over = view.json_env.outcome is not None
    return record_episode(
        view.json_env if is_over else _truncated(view.json_env, seed), agent_name, policy_version, seed
    )


def _make_view(env_id: str, kwargs: dict[str, Json]) -> ArrayEnv:
    others = {name: value for name, value in kwargs.items() if name not in _OF_LANES}
    if others.pop("words", "heard") != "heard":
        raise UsageError(
            f"With words={kwargs['words']!r} the lane did not hear what the user says; there is no such "
            "conversation to record."
        )
    view = make_env(env_id, others).unwrapped
    if not isinstance(view, ArrayEnv):
        raise UsageError(f"{env_id} is no array view, such as tool_envs/RetailArray-v0.")
    return view


def _play(view: ArrayEnv, actions: list[Any]) -> float:
    """Take all actions of an episode; returns the reward of the last one."""
    count, reward, over = len(actions), 0.0, False
    for number, action in enumerate(actions):
        if over:
            raise UsageError(
                f"The episode is over after {number} of the {count} actions. Give its own alone."
            )
        try:
            _, reward, terminated, truncated, _ = view.step(action)
        except UsageError as problem:
            raise UsageError(f"actions[{number}] of {count}: {problem}") from None
        over = terminated or truncated
    if not over:
        raise UsageError(f"The {count} actions end before the episode does. Give those of a whole one.")
    return reward


def _truncated(env: ToolEnv, seed: int) -> gymnasium.Env[Any, Any]:
    """The unfinished episode of a JSON view, with a limit of actions that is met with its last one."""
    episode, spec = env.episode, env.spec
    assert spec is not None  # noqa: S101 - for the type checker: `ArrayEnv` makes its JSON view by an id
    actions = [message.action for message in episode.history if message.role == "assistant"]
    if not actions:
        raise UsageError("No action was carried out before the choices ran out: there is nothing to record.")
    again = make_env(spec.id, {**spec.kwargs, "max_steps": len(actions)})
    again.reset(seed=seed, options={"task_id": episode.task.id})
    for action in actions:
        again.step(action)
    return again
