"""Rewards from several bins of the ledger: only ever by a formula with its weights, which is recorded."""

import re
from typing import Literal, TypeAlias, get_args

from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.reward import Ledger

Bin: TypeAlias = Literal["terminal", "process", "rubric", "format"]
"""A bin of `tool_envs.reward.Ledger`."""

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)


def read_formula(formula: str) -> dict[Bin, float]:
    """The weight of each bin in a formula, in its order.

    Args:
        formula: A bin, or terms with a `+` between them, each a bin or `weight*bin`: `terminal+0.1*format`.
            Weights are plain decimal numbers; a bin alone weighs 1.0.

    Raises:
        UsageError: It is not of that form, or a bin stands in it twice.
        UnknownNameError: There is no such bin.
    """
    weights: dict[Bin, float] = {}
    for term in formula.split("+"):
        number, times, name = term.rpartition("*")
        bin_ = _find_bin(name.strip())
        if times and not _NUMBER.fullmatch(number.strip()):
            raise UsageError(f"Expected `weight*bin` with a decimal number as weight, not {term.strip()!r}.")
        if bin_ in weights:
            raise UsageError(f"The bin {bin_!r} stands in {formula!r} twice.")
        weights[bin_] = float(number) if times else 1.0
    return weights


def combine(ledger: Ledger, formula: str) -> float | None:
    """The reward that a formula makes of a ledger: the weighted sum of its bins.

    Args:
        ledger: The ledger of an episode whose infrastructure did not fail.
        formula: See `read_formula`.

    Returns:
        The sum; None where one of the bins has no reward: no rule graded the task, the judge gave no score.

    Raises:
        UsageError: The formula has a bin that was not asked for in this ledger, or as `read_formula`.
        UnknownNameError: As `read_formula`.
    """
    total = 0.0
    for bin_, weight in read_formula(formula).items():
        value = _value(ledger, bin_)
        if value is None:
            return None
        total += weight * value
    return total


def _value(ledger: Ledger, bin_: Bin) -> float | None:
    value: float | None = getattr(ledger, bin_)
    asked = {
        "terminal": True,
        "process": ledger.process_source is not None,
        "rubric": ledger.rubric_source is not None,
        "format": ledger.format is not None,
    }
    if not asked[bin_]:
        raise UsageError(f"The ledger has nothing in the bin {bin_!r}: {_HOW_TO_ASK[bin_]}.")
    return value


_HOW_TO_ASK = {
    "process": "make the environment with `process=`",
    "rubric": "score the record with `tool_envs.judging.with_rubric`",
    "format": "fill it with `tool_envs.credit.with_format`",
}


def _find_bin(name: str) -> Bin:
    for known in get_args(Bin):
        if name == known:
            found: Bin = known
            return found
    raise UnknownNameError("bin of rewards", name, get_args(Bin))
