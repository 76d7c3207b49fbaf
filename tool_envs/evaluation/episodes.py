"""How an episode went: by the environment that holds it, by its record, or when it never came to be."""

from collections import Counter

from tool_envs.env import ToolEnv
from tool_envs.errors import UsageError
from tool_envs.evaluation.changes import answers_after
from tool_envs.evaluation.failures import failure_of, failure_outside
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.messages import RESPOND
from tool_envs.task import Task
from tool_envs.trajectory.capture import user_cost, user_counts
from tool_envs.trajectory.record import ToolMessage, Trajectory, UserMessage, assistant_messages
from tool_envs.trajectory.refs import TokenUsage


def result_of_episode(env: ToolEnv, index: int, trial: int, seed: int) -> EpisodeResult:
    """How the episode went that an environment holds; what its agent cost is not known there.

    Args:
        env: The environment.
        index: Index of its task in the split.
        trial: Which trial of its task it is.
        seed: The seed of its `reset`.

    Raises:
        UsageError: It still runs.
    """
    episode, outcome = env.episode, env.outcome
    if outcome is None:
        raise UsageError("The episode still runs.")
    return EpisodeResult(
        index=index,
        task_id=episode.task.id,
        seed=seed,
        status=outcome.status,
        reward=outcome.reward,
        steps=episode.steps,
        trial=trial,
        family=episode.task.family,
        difficulty=episode.task.difficulty,
        error_codes=dict(Counter(message.code for message in episode.history if message.code)),
        said=len(episode.said),
        not_understood=episode.user.not_understood,
        failure=failure_of(outcome, len(episode.said)),
        cost=user_cost(episode),
        usage=TokenUsage(user=user_counts(episode)),
    )


def result_without_episode(task: Task, index: int, trial: int, seed: int, error: str) -> EpisodeResult:
    """The result of an episode that left nothing: its user could not be met, or its last attempt failed.

    Args:
        task: Its task.
        index: Index of that in the split.
        trial: Which trial of its task it is.
        seed: The seed of its `reset`.
        error: The class name of the exception that ended it.
    """
    return EpisodeResult(
        index=index,
        task_id=task.id,
        seed=seed,
        status="infrastructure",
        reward=None,
        steps=0,
        trial=trial,
        family=task.family,
        difficulty=task.difficulty,
        failure=failure_outside(error),
    )


def result_of_record(record: Trajectory, found: tuple[int, Task] | None, trial: int = 0) -> EpisodeResult:
    """How the episode of a record went.

    Args:
        record: The record.
        found: Its task and the index of that; None: not known here.
        trial: Which trial of its task it is.
    """
    index, task = found or (0, None)
    outcome = record.outcome
    codes = [message.code for message in record.messages if isinstance(message, ToolMessage) and message.code]
    said = _said(record)
    return EpisodeResult(
        index=index,
        task_id=record.task.id,
        seed=record.seed,
        status=outcome.status,
        reward=outcome.reward,
        steps=outcome.steps,
        trial=trial,
        family=task.family if task else "",
        difficulty=task.difficulty if task else 0,
        error_codes=dict(Counter(codes)),
        said=said,
        not_understood=outcome.not_understood,
        failure=failure_of(outcome, said),
        cost=sum(record.costs.values()),
        usage=record.usage,
    )


def _said(record: Trajectory) -> int:
    """How many messages the agent said to the user; one whose answer failed is among them."""
    heard = sum(isinstance(message, UserMessage) for message in record.messages[1:])  # after the opening
    last, message = max(assistant_messages(record), default=(0, None), key=lambda pair: pair[0])
    if record.outcome.status != "infrastructure" or message is None:
        return heard
    answers = len(answers_after(record.messages, last))
    pending = [call.name for call in message.tool_calls[answers:]]
    return heard + (pending[:1] == [RESPOND] or not (message.tool_calls or answers))
