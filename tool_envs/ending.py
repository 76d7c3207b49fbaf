"""How an episode ends: the outcome that each kind of end has. Nothing here changes the episode."""

from collections.abc import Sequence

import msgspec

from tool_envs.episode import Episode
from tool_envs.reward import Ledger, Outcome, Status, Verdict


def completed(episode: Episode, verdict: Verdict) -> Outcome:
    """The user or an end tool ended it, and it was graded."""
    return _outcome(episode, "completed", verdict.ledger, episode.ended_by, verdict.violations)


def truncated(episode: Episode, reason: str) -> Outcome:
    """It was cut off, and is not graded: 0.0, of a task that no rule grades no reward.

    Args:
        episode: The episode.
        reason: What stands in `ended_by`.
    """
    return _outcome(episode, "truncated", Ledger(terminal=0.0 if episode.task.graded else None), reason)


def failed(episode: Episode, failure: BaseException) -> Outcome:
    """Something outside of it failed: there is no reward, and `ended_by` is the failure's class name."""
    return _outcome(episode, "infrastructure", Ledger(terminal=None), type(failure).__name__)


def _outcome(
    episode: Episode,
    status: Status,
    ledger: Ledger,
    ended_by: str,
    violations: Sequence[dict[str, str | int]] = (),
) -> Outcome:
    return Outcome(
        status=status,
        reward=ledger.terminal,
        ledger=msgspec.structs.replace(
            ledger,
            terminal_source=episode.terminal_source,
            process=episode.process,
            process_source=episode.process_reward and episode.process_reward.source,
        ),
        ended_by=ended_by,
        steps=episode.steps,
        violations=list(violations),
        not_understood=episode.user.not_understood,
    )
