"""Rows of TRL's prompt-only form, each of which names an episode exactly. Needs the extra `[trl]`.

The last message of a prompt says, under `episode`, which environment, task and seed it stands for: the
prompt is all that TRL hands to a rollout function. Chat templates leave it out. All completions of a
prompt, a group of GRPO, are so of one task, with the same customer who begins with the same words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import msgspec

from tool_envs.canonical import canonical_json
from tool_envs.env import ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import UsageError
from tool_envs.evaluation.seeds import episode_seed
from tool_envs.messages import Json

BY_CALLS_ALONE = """\
You talk to the user with the tool `respond`, and act for them with the other tools. What you write beside a \
call reaches nobody, and a message without a call ends your work."""
"""What `trl_environments` needs agents to know: TRL ends an episode at the first message without a call."""


class EpisodeRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The episode that a row stands for.

    Attributes:
        env: The environment: canonical JSON of its `id` and `kwargs`.
        task: Index of the task in it.
        task_id: Its id.
        seed: For `reset`.
    """

    env: str
    task: int
    task_id: str
    seed: int


def make_dataset(
    env_id: str, kwargs: Mapping[str, Json], tasks: Sequence[int], *, seed: int = 0
) -> datasets.Dataset:
    """A row for each of some tasks: for `trl_environments` and `trl_rollouts` alike.

    `prompt` is the domain policy, with a word on how to act, as system message, and a user message to which
    the customer's first words are added when the episode begins. `task_id` stands beside it, for filters and
    reward functions.

    Args:
        env_id: The environment.
        kwargs: Its arguments; those given to `make_environment` or `EpisodeRollout` have to be the same.
        tasks: Indexes of the tasks.
        seed: What the episodes' seeds follow from, as in a `Plan`; it never chooses tasks.

    Raises:
        UnknownNameError: There is no such environment, argument or task.
    """
    env = unwrap(make_env(env_id, kwargs))
    system = {"role": "system", "content": f"{env.domain.policy_text}\n\n{BY_CALLS_ALONE}", "episode": None}
    rows = []
    for task in tasks:
        row = EpisodeRow(name_env(env_id, kwargs), task, env.domain.tasks[task].id, episode_seed(seed, task))
        opening = {"role": "user", "content": "", "episode": msgspec.to_builtins(row)}
        rows.append({"prompt": [system, opening], "task_id": row.task_id})
    return datasets.Dataset.from_list(rows)


def name_env(env_id: str, kwargs: Mapping[str, Json]) -> str:
    """`EpisodeRow.env` of an environment."""
    return canonical_json({"id": env_id, "kwargs": dict(kwargs)}).decode()


def read_row(prompt: Any, env: ToolEnv, name: str) -> EpisodeRow:  # noqa: ANN401 - whatever the dataset holds
    """The episode of a prompt.

    Args:
        prompt: The prompt of a row.
        env: The environment that is to play it.
        name: Its `EpisodeRow.env`.

    Raises:
        UsageError: The prompt names no episode, or one of another environment.
    """
    try:
        row = msgspec.convert(prompt[-1]["episode"], EpisodeRow)
    except (TypeError, LookupError, msgspec.ValidationError):
        raise UsageError(
            f"A prompt of `make_dataset` names its episode; this one does not: {prompt!r:.200}"
        ) from None
    if row.env != name:
        raise UsageError(
            f"The prompt is of the environment {row.env}, but this is {name}. Make both with the same."
        )
    if env.domain.tasks[row.task].id != row.task_id:
        raise UsageError(
            f"Task {row.task} is {env.domain.tasks[row.task].id!r}, but in the row {row.task_id!r}."
        )
    return row
