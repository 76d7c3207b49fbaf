"""When an issue counts as resolved: SWE-bench's rule, as pure functions over the statuses of tests.

Source: SWE-bench 5, `swebench/harness/grading.py`. Earlier versions of it counted a skipped FAIL_TO_PASS test
neither as a success nor as a failure, so that a patch that made all of them skip resolved the issue.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

Status: TypeAlias = Literal["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"]
"""What became of a test. XFAIL: it failed as it was marked to; XPASS: it was marked to fail and passed."""

STATUSES: Mapping[str, Status] = MappingProxyType(
    {"PASSED": "PASSED", "FAILED": "FAILED", "ERROR": "ERROR", "SKIPPED": "SKIPPED", "XFAIL": "XFAIL"}
)
"""The statuses that logs know, each under its own name; to SWE-bench, a test that has XPASS is missing."""

PASSING = frozenset({"PASSED", "XFAIL"})
"""The statuses of a test that passes."""

_MAINTAINED = PASSING | {"SKIPPED"}


class Resolution(StrEnum):
    """How far an issue is resolved."""

    FULL = "RESOLVED_FULL"
    """Every test that was to pass passes, and none that passed before is lost."""
    PARTIAL = "RESOLVED_PARTIAL"
    """Some of the tests that were to pass do, and none that passed before is lost."""
    NO = "RESOLVED_NO"


class Split(msgspec.Struct, frozen=True):
    """The tests of one list, each in one of two, in the list's order."""

    success: tuple[str, ...]
    failure: tuple[str, ...]


class TestsStatus(msgspec.Struct, frozen=True):
    """What became of the tests that decide; in JSON the same names as in SWE-bench's reports."""

    __test__ = False  # pytest collects classes by this beginning of their names

    fail_to_pass: Split = msgspec.field(name="FAIL_TO_PASS")
    pass_to_pass: Split = msgspec.field(name="PASS_TO_PASS")

    @property
    def resolution(self) -> Resolution:
        """FULL, PARTIAL or NO. An empty list counts as one whose tests all succeed, as in SWE-bench."""
        if self.pass_to_pass.failure:
            return Resolution.NO
        if not self.fail_to_pass.failure:
            return Resolution.FULL
        return Resolution.PARTIAL if self.fail_to_pass.success else Resolution.NO

    @property
    def resolved(self) -> bool:
        """Whether the issue is resolved fully."""
        return self.resolution is Resolution.FULL


def judge(
    fail_to_pass: Iterable[str], pass_to_pass: Iterable[str], statuses: Mapping[str, Status]
) -> TestsStatus:
    """Divide the tests that decide into successes and failures.

    Args:
        fail_to_pass: Tests that the fix makes pass. PASSED and XFAIL are successes, all else is a failure,
            SKIPPED and no status among it.
        pass_to_pass: Tests that passed before, and must still. Here SKIPPED is a success too.
        statuses: Test -> status in the run. A test whose name was cut within its parameters
            (`test_x[log(ph`), as 676 of SWE-bench Verified are, has the status of the tests whose names begin
            so, if these are all passing or all not.
    """
    return TestsStatus(
        _divide(fail_to_pass, lambda test: _status(test, statuses) in PASSING),
        _divide(pass_to_pass, lambda test: _status(test, statuses) in _MAINTAINED),
    )


def _divide(tests: Iterable[str], succeeds: Callable[[str], bool]) -> Split:
    verdicts = [(test, succeeds(test)) for test in tests]
    return Split(
        tuple(test for test, good in verdicts if good), tuple(test for test, good in verdicts if not good)
    )


def _status(test: str, statuses: Mapping[str, Status]) -> Status | None:
    if test in statuses or test.count("[") <= test.count("]"):
        return statuses.get(test)
    longer = [status for name, status in statuses.items() if name.startswith(test)]
    alike = len({status in PASSING for status in longer}) == 1
    return longer[0] if alike else None
