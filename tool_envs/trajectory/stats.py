"""What a set of records holds, in numbers."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import msgspec

from tool_envs.messages import Json
from tool_envs.trajectory.record import ToolMessage, Trajectory, versions_of


class Summary(msgspec.Struct, frozen=True):
    """Counts over records; each is by name, the most frequent first, equal ones by name.

    Attributes:
        episodes: How many records.
        statuses: Records by `completed`, `truncated` and `infrastructure`.
        environments: Records by id of the environment.
        schemas: Records by sha256 of the tools' schema.
        policy_versions: Records by `agent version` of who wrote a message in them; one in which several
            versions wrote counts for each of them.
        graded: Completed records with a reward.
        mean_rewards: What a terminal reward comes from -> the mean of these rewards that do. Truncated
            episodes are not in it, nor are infrastructure failures, which have no reward.
        steps: Actions taken, in all.
        tool_errors: Answers of tools by the code of the agent's mistake.
    """

    episodes: int
    statuses: dict[str, int]
    environments: dict[str, int]
    schemas: dict[str, int]
    policy_versions: dict[str, int]
    graded: int
    mean_rewards: dict[str, float]
    steps: int
    tool_errors: dict[str, int]

    def to_json(self) -> dict[str, Json]:
        """The summary as a JSON object."""
        value: dict[str, Json] = msgspec.to_builtins(self)
        return value


def summarize(trajectories: Iterable[Trajectory]) -> Summary:
    """Count records, one by one: memory does not grow with their number."""
    statuses: Counter[str] = Counter()
    environments: Counter[str] = Counter()
    schemas: Counter[str] = Counter()
    versions: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    graded: Counter[str] = Counter()
    totals: dict[str, Fraction] = {}  # exact, so that the order of records does not matter
    steps = 0
    for trajectory in trajectories:
        outcome = trajectory.outcome
        statuses[outcome.status] += 1
        environments[trajectory.env.id] += 1
        schemas[trajectory.schema.sha256] += 1
        versions.update(f"{trajectory.agent.name} {version}" for version in versions_of(trajectory.messages))
        errors.update(m.code for m in trajectory.messages if isinstance(m, ToolMessage) and m.code)
        steps += outcome.steps
        if outcome.status == "completed" and outcome.reward is not None:
            source = outcome.ledger.terminal_source
            graded[source] += 1
            totals[source] = totals.get(source, Fraction()) + Fraction(outcome.reward)
    return Summary(
        episodes=statuses.total(),
        statuses=_ordered(statuses),
        environments=_ordered(environments),
        schemas=_ordered(schemas),
        policy_versions=_ordered(versions),
        graded=graded.total(),
        mean_rewards={source: float(totals[source] / graded[source]) for source in sorted(graded)},
        steps=steps,
        tool_errors=_ordered(errors),
    )


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
