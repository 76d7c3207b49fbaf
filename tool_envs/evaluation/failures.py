"""Whose fault a failed episode was, and why, as far as its outcome tells."""

from typing import Literal

import msgspec

from tool_envs.reward import Outcome
from tool_envs.simulators import USER_FAILURES

Blame = Literal["agent", "rules", "user", "infrastructure"]
"""The agent's work, a rule of the domain policy that it broke, the simulated user, or what is outside."""


class Failure(msgspec.Struct, frozen=True):
    """Why an episode did not succeed.

    Attributes:
        blame: Whose fault it was.
        cause: A short text that is the same for failures of the same kind, so that they can be counted.
    """

    blame: Blame
    cause: str


def failure_of(outcome: Outcome, said: int) -> Failure | None:
    """Why an episode did not succeed; None: it did, or its terminal reward is none of success or failure.

    A reward by similarity is none: however low, it is no failure. An episode that was cut is one.

    The user is blamed where it understood some of the agent's messages but not others, so that the agent
    talks sense and was still not understood. An agent that the user never understands has itself to blame.

    Args:
        outcome: How it ended.
        said: How many messages the agent said to the user.
    """
    if outcome.status == "infrastructure":
        return failure_outside(outcome.ended_by)
    if outcome.reward is None or outcome.reward == 1.0:
        return None
    if outcome.status == "truncated":
        return Failure("agent", f"truncated: {outcome.ended_by}")
    if outcome.ledger.terminal_source == "similarity":
        return None
    if outcome.violations:
        return Failure("rules", f"rule broken: {outcome.violations[0]['rule']}")
    if 0 < outcome.not_understood < said:
        return Failure("user", "the user did not understand the agent")
    missed = [name for name, met in outcome.ledger.components.items() if not met]
    return Failure("agent", f"not met: {', '.join(missed) or 'the terminal reward'}")


def failure_outside(error: str) -> Failure:
    """Why an episode has no grade: of a failure outside of it, or of a user who is played by a model.

    Args:
        error: The class name of the exception that ended it.
    """
    return Failure("user" if error in _OF_USERS else "infrastructure", error)


_OF_USERS = frozenset(failure.__name__ for failure in USER_FAILURES)
