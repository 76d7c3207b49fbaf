"""The terminal reward, and the ledger that says where it came from."""

from typing import Literal

import msgspec

Status = Literal["completed", "truncated", "infrastructure"]
"""How an episode ended: by the user or an end tool; at the step limit; by a failure outside of it."""


class Ledger(msgspec.Struct, frozen=True):
    """The three bins of reward, never summed, and the components that the terminal one is made of.

    Attributes:
        terminal: 0.0 or 1.0 from rules, the only bin that is the Gymnasium reward; None: not graded.
        process: Sum of per-step rewards; None: not asked for.
        rubric: A judge's score; None: not asked for.
        components: Each condition of the terminal reward by name: 1.0 met, 0.0 not met.
    """

    terminal: float | None
    process: float | None = None
    rubric: float | None = None
    components: dict[str, float] = {}


class Outcome(msgspec.Struct, frozen=True):
    """How one episode ended.

    Attributes:
        status: `completed`, `truncated` or `infrastructure`.
        reward: The sum of the Gymnasium rewards, 0.0 or 1.0; None after an infrastructure failure.
        ledger: Where the reward came from.
        ended_by: `user`, `agent` (an end tool), `limit`, or the failure's class name.
        steps: Actions taken: tool calls and messages of the agent, broken ones included.
        violations: Rules of the domain policy that were broken, each `{"rule": id, "step": index}`.
        not_understood: Messages of the agent that the simulated user did not understand.
    """

    status: Status
    reward: float | None
    ledger: Ledger
    ended_by: str
    steps: int
    violations: list[dict[str, str | int]] = []
    not_understood: int = 0


class Verdict(msgspec.Struct, frozen=True):
    """What a grader says of an episode that ended.

    Attributes:
        ledger: The reward.
        violations: Rules of the domain policy that were broken, each `{"rule": id, "step": index}`.
    """

    ledger: Ledger
    violations: list[dict[str, str | int]] = []


def grade(components: dict[str, bool]) -> Ledger:
    """The ledger of a terminal reward that is 1.0 when every component is met, else 0.0."""
    values = {name: float(met) for name, met in components.items()}
    return Ledger(terminal=float(all(components.values())), components=values)
