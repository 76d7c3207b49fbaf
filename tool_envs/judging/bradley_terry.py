"""Scores from pairwise comparisons, by the model of Bradley and Terry."""

import math
from collections.abc import Mapping
from typing import TypeAlias

from tool_envs.errors import UsageError

Wins: TypeAlias = Mapping[tuple[int, int], float]
"""(i, j) -> how often i was preferred to j; a tie is half a win for each."""

PRIOR = 1.0
"""Comparisons that each compared pair is taken to have tied before any was made."""

_CLOSE, _MOST = 1e-12, 100_000  # change of a score at which it stands, and rounds until then


def bradley_terry(players: int, wins: Wins, prior: float = PRIOR) -> tuple[float, ...] | None:
    """The scores of players: P(i is preferred to j) = 1 / (1 + exp(score[j] - score[i])).

    They are those of the greatest posterior probability. The prior adds `prior` comparisons, tied, to each
    pair that was compared: without them a player who wins all has an endless score. The maximum is found by
    minorisation and maximisation, which climbs in every round; it is the only one where all players hang
    together by comparisons.

    Source: Hunter, MM algorithms for generalized Bradley-Terry models, Annals of Statistics 32, 2004.

    Args:
        players: How many there are.
        wins: Who was preferred to whom.
        prior: Above 0.0.

    Returns:
        One score for each player; they add up to 0. None where there is no comparison, or where comparisons
        leave players, or groups of them, apart: nothing says how they stand to each other.

    Raises:
        UsageError: The prior is not above 0.0.
    """
    if not prior > 0.0:
        raise UsageError(f"`prior` is a number of comparisons above 0.0, not {prior!r}.")
    pairs = {(min(pair), max(pair)) for pair in wins}
    if not (pairs and _hang_together(players, pairs)):
        return None
    won = [0.0] * players
    rivals: list[list[tuple[int, float]]] = [[] for _ in range(players)]
    for i, j in sorted(pairs):
        of_i, of_j = wins.get((i, j), 0.0) + prior / 2, wins.get((j, i), 0.0) + prior / 2
        won[i] += of_i
        won[j] += of_j
        rivals[i].append((j, of_i + of_j))
        rivals[j].append((i, of_i + of_j))
    return _climb(won, rivals)


def _climb(won: list[float], rivals: list[list[tuple[int, float]]]) -> tuple[float, ...]:
    """The fixed point of Hunter's iteration, in which each player's strength takes up all newest ones."""
    scores = [0.0] * len(won)
    strengths = [1.0] * len(won)
    for _ in range(_MOST):
        for i, against in enumerate(rivals):
            if against:
                strengths[i] = won[i] / math.fsum(n / (strengths[i] + strengths[j]) for j, n in against)
        logs = [math.log(strength) for strength in strengths]
        mean = math.fsum(logs) / len(logs)
        newest = [log - mean for log in logs]
        strengths = [math.exp(score) for score in newest]
        change = max(abs(new - old) for new, old in zip(newest, scores, strict=True))
        scores = newest
        if change < _CLOSE:
            break
    return tuple(scores)


def _hang_together(players: int, pairs: set[tuple[int, int]]) -> bool:
    """Whether every player can be reached from the first one by comparisons."""
    beside: dict[int, set[int]] = {player: set() for player in range(players)}
    for i, j in pairs:
        beside[i].add(j)
        beside[j].add(i)
    reached: set[int] = set()
    waiting = [0]
    while waiting:
        player = waiting.pop()
        if player not in reached:
            reached.add(player)
            waiting += beside[player] - reached
    return len(reached) == players
