"""What an evaluation found."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from tool_envs.messages import Json
from tool_envs.reward import Status


class EpisodeResult(msgspec.Struct, frozen=True, kw_only=True):
    """How one episode of an evaluation went.

    Attributes:
        index: Index of its task in the split.
        task_id: Id of its task.
        seed: The seed of its `reset`.
        status: `completed`, `truncated` or `infrastructure`.
        reward: 0.0 or 1.0; None when it was not graded: it then counts nowhere.
        steps: Actions taken; 0 when the user could not even be met.
        error_codes: How often each kind of agent's mistake was answered.
        said: Messages of the agent to the user.
        not_understood: How many of them the user did not understand.
    """

    index: int
    task_id: str
    seed: int
    status: Status
    reward: float | None
    steps: int
    error_codes: dict[str, int] = {}
    said: int = 0
    not_understood: int = 0


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluation: what was played, by whom, and what came out. Rates of other digests are not comparable.

    Attributes:
        env_id: The environment.
        kwargs: How it was made.
        agent: Name of the agent.
        agent_version: Its version.
        seed: The seed, from which each episode's own is derived.
        interface: Whose tool descriptions and domain policy the agent saw: `ours` or `upstream`.
        schema_version: Version of the tools.
        schema_sha256: Their digest.
        data_digest: Digest of the data that every episode started from.
        grader_digest: Digest of what decides a grade.
        user: Name and version of the simulated user; None when no episode began.
        episodes: How many were played.
        graded: How many of them have a reward; infrastructure failures have none.
        success_rate: Share of the graded episodes with reward 1.0; None when there are none.
        mean_reward: Mean reward of the graded episodes; None when there are none.
        mean_steps: Mean steps of the episodes that did not fail for the infrastructure; None without any.
        outcomes: How many episodes ended in each way.
        error_codes: How often each kind of agent's mistake was answered.
        not_understood_rate: Share of the agent's messages that the user did not understand; None: no message.
        seconds: Time that playing took.
        results: The episodes, in the order of their tasks.
    """

    env_id: str
    kwargs: dict[str, Json]
    agent: str
    agent_version: str
    seed: int
    interface: str
    schema_version: str
    schema_sha256: str
    data_digest: str
    grader_digest: str
    user: dict[str, str] | None
    episodes: int
    graded: int
    success_rate: float | None
    mean_reward: float | None
    mean_steps: float | None
    outcomes: dict[str, int]
    error_codes: dict[str, int]
    not_understood_rate: float | None
    seconds: float
    results: tuple[EpisodeResult, ...]

    def to_json(self) -> dict[str, Json]:
        """The report as a JSON object."""
        value: dict[str, Json] = json.loads(json.dumps(msgspec.to_builtins(self), allow_nan=False))
        return value


def summarise(results: Sequence[EpisodeResult]) -> dict[str, Any]:
    """The fields of a report that follow from its results."""
    rewards = [result.reward for result in results if result.reward is not None]
    played = [result.steps for result in results if result.status != "infrastructure"]
    codes = sum((Counter(result.error_codes) for result in results), Counter[str]())
    return {
        "episodes": len(results),
        "graded": len(rewards),
        "success_rate": _mean([float(reward == 1.0) for reward in rewards]),
        "mean_reward": _mean(rewards),
        "mean_steps": _mean(played),
        "outcomes": dict(sorted(Counter(result.status for result in results).items())),
        "error_codes": dict(sorted(codes.items())),
        "not_understood_rate": _share(
            sum(result.not_understood for result in results), sum(result.said for result in results)
        ),
        "results": tuple(results),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
