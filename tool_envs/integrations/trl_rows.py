"""Rows of TRL's prompt-only form, each of which names an episode exactly. Needs the extra `[trl]`.

The last message of a prompt has, under `episode`, the row of `episode_rows` that it stands for: the prompt is
all that TRL hands to a rollout function. Chat templates leave it out. All completions of a
prompt, a group of GRPO, are so of one task, with the same customer who begins with the same words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import datasets

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import UsageError
from tool_envs.integrations.episode_rows import COLUMN, EpisodeRow, decode_row, episode_rows
from tool_envs.messages import Json
from tool_envs.rollout.plan import Plan

BY_CALLS_ALONE = """\
You talk to the user with the tool `respond`, and act for them with the other tools. What you write beside a \
call reaches nobody, and a message without a call ends your work."""
"""What `trl_environments` needs agents to know: TRL ends an episode at the first message without a call."""


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
    policy_text = unwrap(make_env(env_id, kwargs)).domain.policy_text
    system = {"role": "system", "content": f"{policy_text}\n\n{BY_CALLS_ALONE}", COLUMN: None}
    rows = []
    for text in episode_rows(env_id, kwargs, Plan(tasks, seed=seed)):
        opening = {"role": "user", "content": "", COLUMN: text}
        rows.append({"prompt": [system, opening], "task_id": decode_row(text).task_id})
    return datasets.Dataset.from_list(rows)


def row_of_prompt(prompt: Any, env_id: str, kwargs: Mapping[str, Json]) -> EpisodeRow:  # noqa: ANN401 - whatever the dataset holds
    """The episode of a prompt.

    Args:
        prompt: The prompt of a row.
        env_id: The environment that is to play it.
        kwargs: Its arguments.

    Raises:
        UsageError: The prompt names no episode, or one of another environment.
    """
    try:
        row = decode_row(prompt[-1][COLUMN])
    except (TypeError, LookupError, UsageError):
        raise UsageError(
            f"A prompt of `make_dataset` names its episode; this one does not: {prompt!r:.200}"
        ) from None
    if (row.env_id, row.kwargs) != (env_id, dict(kwargs)):
        raise UsageError(
            f"The prompt is of the environment {row.env_id} with {row.kwargs}, but this is {env_id} with "
            f"{dict(kwargs)}. Make both with the same."
        )
    return row
