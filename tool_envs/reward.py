"""The terminal reward, and the ledger that says where it came from."""

from typing import Literal, TypeAlias

import msgspec

Status = Literal["completed", "truncated", "infrastructure"]
"""How an episode ended: by the user or an end tool; at the step limit; by a failure outside of it."""

TerminalSource: TypeAlias = Literal["rules", "tests", "similarity"]
"""What a terminal reward comes from: rules of a domain on how the episode ended (1.0 or 0.0), hidden tests of
a repository (1.0 or 0.0), or the similarity of a patch to the reference patch (0.0 to 1.0). Rewards of two
sources are never compared, and those of similarity are no success: they have a mean, and no rate."""


class ProcessSource(msgspec.Struct, frozen=True):
    """What gave the process rewards.

    Attributes:
        name: `sub_goals`, those of the domain, or a user's function as `module:function`.
        digest: Sha256 of the source of the function's module; None for the domain's own sub-goals, which the
            digest of the grader covers.
    """

    name: str
    digest: str | None


class RubricSource(msgspec.Struct, frozen=True):
    """What gave a score by a rubric, which means something only beside the others of its group.

    Attributes:
        rubric: Name of the rubric.
        version: Its version.
        digest: Sha256 of its canonical JSON.
        judge: Who compared.
        judge_version: The version of the judge.
        group: Digests of the episodes that were compared, this one among them, sorted.
        agreement: Share of the pairs judged in both orders where the orders agree, 0.0 to 1.0; None: none
            was judged in both.
    """

    rubric: str
    version: str
    digest: str
    judge: str
    judge_version: str
    group: tuple[str, ...]
    agreement: float | None


class Ledger(msgspec.Struct, frozen=True):
    """The bins of reward, never summed, and the components that the terminal one is made of.

    Attributes:
        terminal: The only bin that is the Gymnasium reward: 0.0 or 1.0, of similarity 0.0 to 1.0; None: not
            graded, and so outside of every rate, also where the episode was completed.
        process: Sum of per-step rewards; None: not asked for.
        rubric: A judge's score; None: not asked for, or asked for without a score: see its source.
        components: Each condition of the terminal reward by name: 1.0 met, 0.0 not met.
        format: The share of the policy's messages in the demanded form; None: not asked for. It joins the
            terminal reward through a named formula only: see `tool_envs.credit.combine`.
        terminal_source: What gave `terminal`, or would have. The environment sets it, not the grader.
        process_source: What gave `process`; None: it was not asked for.
        rubric_source: What gave `rubric`, or failed to; None: it was not asked for.
    """

    terminal: float | None
    process: float | None = None
    rubric: float | None = None
    components: dict[str, float] = {}
    format: float | None = None
    terminal_source: TerminalSource = "rules"
    process_source: ProcessSource | None = None
    rubric_source: RubricSource | None = None


class Outcome(msgspec.Struct, frozen=True):
    """How one episode ended.

    Attributes:
        status: `completed`, `truncated` or `infrastructure`.
        reward: The sum of the Gymnasium rewards, the ledger's `terminal`; None after an infrastructure
            failure.
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


def unjudged(outcome: Outcome) -> Outcome:
    """The outcome as the environment gave it, without what was said of the episode later."""
    ledger = msgspec.structs.replace(outcome.ledger, rubric=None, rubric_source=None, format=None)
    return msgspec.structs.replace(outcome, ledger=ledger)


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
