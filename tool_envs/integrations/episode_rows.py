"""Episodes as rows of a trainer's data set, and how a row is played to its record.

    rows = [{"episode": row} for row in episode_rows("tool_envs/Retail-v0", {}, Plan(range(64)))]

A row is the text of a JSON object, since data sets hold texts in any format, and nested objects of changing
keys in hardly any:

    {"env_id": "tool_envs/Retail-v0", "kwargs": {"split": "train"}, "task_id": "...", "seed": 7}
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tool_envs.env import ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.rollout.episode import RunningEpisode
from tool_envs.rollout.plan import Plan, PlannedEpisode
from tool_envs.rollout.policy import EpisodePolicy, Policy
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.record import Trajectory

COLUMN = "episode"
"""The column of a data set in which a row stands."""


class EpisodeRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which episode is played.

    Attributes:
        env_id: The environment.
        kwargs: Its arguments.
        task_id: The task.
        seed: The seed of `reset`. All episodes that a trainer plays of one row begin alike.
    """

    env_id: str
    kwargs: dict[str, Any]
    task_id: str
    seed: int

    def make_env(self) -> ToolEnv:
        """Make its environment.

        Raises:
            UsageError: There is no such environment, argument or module, or it is none of tools.
        """
        return unwrap(make_env(self.env_id, self.kwargs))


def episode_rows(env_id: str, kwargs: Mapping[str, Json], plan: Plan) -> Iterator[str]:
    """The rows of a plan's episodes.

    Args:
        env_id: The environment.
        kwargs: Its arguments.
        plan: Which episodes there are. Of trainers that play each row as often as a group is large, a group
            has one episode.

    Raises:
        UnknownNameError: There is no such environment, argument or task.
    """
    tasks = unwrap(make_env(env_id, kwargs)).domain.tasks
    for planned in plan:
        row = EpisodeRow(
            env_id=env_id, kwargs=dict(kwargs), task_id=tasks[planned.task].id, seed=planned.seed
        )
        yield msgspec.json.encode(row).decode()


def read_row(data: Mapping[str, Any]) -> EpisodeRow:
    """The episode that a row of a data set names.

    Raises:
        UsageError: It has no column `episode`, or not of that form.
    """
    if COLUMN not in data:
        raise UsageError(f"Expected a row with the column `{COLUMN}`, not {sorted(data)}.")
    return decode_row(data[COLUMN])


def decode_row(text: Any) -> EpisodeRow:  # noqa: ANN401 - whatever a data set holds
    """The episode of what `episode_rows` wrote.

    Raises:
        UsageError: It is not of that form.
    """
    try:
        return msgspec.json.decode(text, type=EpisodeRow)
    except (msgspec.MsgspecError, TypeError) as problem:
        raise UsageError(f"The column `{COLUMN}` holds what `episode_rows` writes: {problem}.") from None


async def play_row(
    row: EpisodeRow, policy: Policy | EpisodePolicy, versions: Versions, deadline: float | None = None
) -> Trajectory:
    """Play an episode, once.

    Args:
        row: Which one.
        policy: Who acts.
        versions: The versions of the policy.
        deadline: Seconds that it may take; None: any time.

    Returns:
        Its record, which has a reward.

    Raises:
        InfrastructureError: Something outside of it failed, so that it has none.
        UsageError: There is no such episode, or no rule grades its task.
    """
    env = row.make_env()
    try:
        planned = PlannedEpisode(env.domain.tasks.index(row.task_id), sample=0, seed=row.seed, key=row.seed)
        record = await RunningEpisode(env, policy, versions, planned).play(deadline)
    finally:
        env.close()
    if record.outcome.reward is None:
        raise UsageError(f"No rule grades the task {row.task_id!r}, so that there is no reward to train on.")
    return record
