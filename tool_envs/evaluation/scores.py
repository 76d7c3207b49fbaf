"""What follows from the episodes of an evaluation: rates with their intervals, counts, causes of failure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from tool_envs.evaluation.metrics import Interval, Trials, flip_rate, pass_at_k, pass_hat_k, rate_over_tasks
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.reward import TerminalSource
from tool_envs.trajectory.refs import TokenCounts

Key = TypeVar("Key", str, int)


class Group(msgspec.Struct, frozen=True):
    """The tasks of one family, or of one difficulty.

    Attributes:
        tasks: Those with a graded trial.
        score: Mean over them of the share of their trials that succeeded, or of their similarity.
    """

    tasks: int
    score: Interval


class MeanTokens(msgspec.Struct, frozen=True):
    """Tokens of the requests to a model, for an episode.

    Attributes:
        episodes: In how many they were counted; others are not in the means.
        prompt: Mean of those sent.
        completion: Mean of those sampled.
    """

    episodes: int
    prompt: float
    completion: float


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of an evaluation. Only graded episodes count in rates; intervals are over tasks.

    A reward by similarity is no success: of it there is a mean, and no rate, pass^k or pass@k.

    Attributes:
        reward: What the terminal reward comes from.
        episodes: How many were played.
        graded: How many of them have a terminal reward; infrastructure failures have none.
        success_rate: Mean over tasks of the share of their trials with reward 1.0; None: nothing was graded,
            or the reward is one by similarity.
        mean_similarity: Mean over tasks of the mean reward of their trials; None: nothing was graded, or the
            reward is none by similarity.
        pass_hat: k -> the probability that k trials of a task all succeed, mean over tasks, as far as every
            task has k graded trials.
        pass_at: k -> the probability that one of k trials succeeds, likewise.
        flip_rate: How often two trials of a task disagree; None: no task has two.
        mean_steps: Of the episodes that did not fail for the infrastructure; None without any.
        outcomes: How many episodes ended in each way.
        error_codes: How often each kind of agent's mistake was answered.
        not_understood_rate: Share of the agent's messages that the user did not understand; None: no message.
        by_family: Family of tasks -> how they went.
        by_difficulty: Difficulty -> how they went.
        blames: Whose fault the failures were, most frequent first.
        causes: Why episodes failed, most frequent first.
        cost: US dollars.
        agent_tokens: Of the agent's model; None: they were counted in no episode.
        user_tokens: Of the user's model, likewise.
    """

    reward: TerminalSource
    episodes: int
    graded: int
    success_rate: Interval | None
    mean_similarity: Interval | None
    pass_hat: dict[int, Interval]
    pass_at: dict[int, Interval]
    flip_rate: float | None
    mean_steps: float | None
    outcomes: dict[str, int]
    error_codes: dict[str, int]
    not_understood_rate: float | None
    by_family: dict[str, Group]
    by_difficulty: dict[int, Group]
    blames: dict[str, int]
    causes: dict[str, int]
    cost: float
    agent_tokens: MeanTokens | None
    user_tokens: MeanTokens | None

    @property
    def rate(self) -> float | None:
        """The success rate without its interval."""
        return None if self.success_rate is None else self.success_rate.value

    @property
    def score(self) -> Interval | None:
        """The one figure that agents are ranked by: the success rate, or the mean similarity."""
        return self.mean_similarity if self.reward == "similarity" else self.success_rate

    @property
    def score_name(self) -> str:
        """What that figure is called."""
        return "mean similarity" if self.reward == "similarity" else "success rate"


def scores_of(results: Sequence[EpisodeResult], reward: TerminalSource = "rules") -> Scores:
    """The figures of an evaluation.

    Args:
        results: Its episodes.
        reward: What their terminal reward comes from.
    """
    means = mean_by_task(results)
    is_rate = reward != "similarity"
    tasks = trials_by_task(results) if is_rate else {}
    played = [result.steps for result in results if result.status != "infrastructure"]
    codes = sum((Counter(result.error_codes) for result in results), Counter[str]())
    failures = [result.failure for result in results if result.failure]
    said = sum(result.said for result in results)
    return Scores(
        reward=reward,
        episodes=len(results),
        graded=sum(result.reward is not None for result in results),
        success_rate=_score(means) if is_rate else None,
        mean_similarity=None if is_rate else _score(means),
        pass_hat=_curve(pass_hat_k, tasks),
        pass_at=_curve(pass_at_k, tasks),
        flip_rate=flip_rate(list(tasks.values())),
        mean_steps=sum(played) / len(played) if played else None,
        outcomes=dict(sorted(Counter(result.status for result in results).items())),
        error_codes=dict(sorted(codes.items())),
        not_understood_rate=sum(result.not_understood for result in results) / said if said else None,
        by_family=_groups({result.task_id: result.family for result in results}, means),
        by_difficulty=_groups({result.task_id: result.difficulty for result in results}, means),
        blames=_most_frequent(Counter(failure.blame for failure in failures)),
        causes=_most_frequent(Counter(failure.cause for failure in failures)),
        cost=sum(result.cost for result in results),
        agent_tokens=_mean_tokens([result.usage.agent for result in results]),
        user_tokens=_mean_tokens([result.usage.user for result in results]),
    )


def trials_by_task(results: Sequence[EpisodeResult]) -> dict[str, Trials]:
    """Task id -> its graded trials, for the tasks that have any, in their order; not for similarity."""
    rewards = _rewards_by_task(results)
    return {task: Trials(each.count(1.0), len(each)) for task, each in rewards.items()}


def mean_by_task(results: Sequence[EpisodeResult]) -> dict[str, float]:
    """Task id -> the mean reward of its graded trials, for the tasks that have any, in their order."""
    return {task: sum(each) / len(each) for task, each in _rewards_by_task(results).items()}


def _rewards_by_task(results: Sequence[EpisodeResult]) -> dict[str, list[float]]:
    rewards: dict[str, list[float]] = {}
    for result in results:
        if result.reward is not None:
            rewards.setdefault(result.task_id, []).append(result.reward)
    return rewards


def _mean_tokens(counts: Sequence[TokenCounts | None]) -> MeanTokens | None:
    known = [each for each in counts if each is not None]
    if not known:
        return None
    prompt, completion = sum(each.prompt for each in known), sum(each.completion for each in known)
    return MeanTokens(len(known), prompt / len(known), completion / len(known))


def _score(means: Mapping[str, float]) -> Interval | None:
    return rate_over_tasks(list(means.values())) if means else None


def _curve(metric: Callable[[Trials, int], float], tasks: Mapping[str, Trials]) -> dict[int, Interval]:
    most = min((task.trials for task in tasks.values()), default=0)
    return {k: rate_over_tasks([metric(task, k) for task in tasks.values()]) for k in range(1, most + 1)}


def _groups(keys: Mapping[str, Key], means: Mapping[str, float]) -> dict[Key, Group]:
    found = {}
    for key in sorted({keys[task] for task in means}):
        members = [mean for task, mean in means.items() if keys[task] == key]
        found[key] = Group(len(members), rate_over_tasks(members))
    return found


def _most_frequent(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
