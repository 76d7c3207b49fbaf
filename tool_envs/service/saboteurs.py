"""The oracle with one deviation: what every rule is there to catch.

A saboteur deviates where its rule has a place and does everything else as the oracle does. Whether it has
deviated yet stands in the history, so that it, too, decides from the state alone.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from tool_envs.domain import Solver
from tool_envs.episode import Episode
from tool_envs.messages import CONTENT, Json, ToolCall
from tool_envs.service.clerk import Action, Clerk, as_action, call_of, say

C = TypeVar("C", bound=Clerk)


def deviating(clerk_at: Callable[[Episode], C], deviation: Callable[[C], Action | None]) -> Solver:
    """A saboteur.

    Args:
        clerk_at: The oracle at a step.
        deviation: What it does now instead of what the oracle would; None: what the oracle does.
    """

    def solve(episode: Episode) -> Json:
        return deviation(clerk_at(episode)) or clerk_at(episode).decide()

    return solve


def write_unasked(clerk: Clerk) -> Action | None:
    """Makes the write at once, without a yes."""
    if clerk.progress.unreported or not is_ready(clerk):
        return None
    return as_action(clerk.target())


def reporting_more(text: str) -> Callable[[Clerk], Action | None]:
    """Adds a text when it reports what was done."""

    def deviate(clerk: Clerk) -> Action | None:
        report = clerk.decide() if clerk.progress.unreported else None
        if report is None or CONTENT not in report["arguments"]:
            return None
        return say(f"{report['arguments'][CONTENT]} {text}")

    return deviate


def transfer_when_done(tool: str) -> Callable[[Clerk], Action | None]:
    """Transfers the customer when all is done."""

    def deviate(clerk: Clerk) -> Action | None:
        if not clerk.progress.unreported or clerk.progress.index + 1 < len(clerk.goal.wishes):
            return None
        return call_of(tool, summary="Everything is done.")

    return deviate


def once(clerk: Clerk, tool: str, arguments: Mapping[str, Json]) -> Action | None:
    """A call that will be refused, if it was not tried before."""
    tried = any(m.role == "tool" and m.name == tool and m.code is not None for m in clerk.episode.history)
    return None if tried else as_action(ToolCall(tool, dict(arguments)))


def is_ready(clerk: Clerk) -> bool:
    """All that the write needs is known, and it was not made."""
    if clerk.identify() or clerk.look_up():
        return False
    return bool(clerk.wish.tool) and not clerk.wish.forbidden and not clerk.is_done()
