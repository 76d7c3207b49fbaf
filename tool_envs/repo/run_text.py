"""What an agent is told of a run of tests: the same bytes whenever the same happened."""

import re
from collections import Counter

from tool_envs.repo.resolution import Status
from tool_envs.repo.testing import Problem, TestRun
from tool_envs.repo.texts import cut

_ORDER: tuple[Status, ...] = ("FAILED", "ERROR", "PASSED", "SKIPPED", "XFAIL", "XPASS")
_WORDS = {
    "FAILED": "failed",
    "ERROR": "in error",
    "PASSED": "passed",
    "SKIPPED": "skipped",
    "XFAIL": "xfailed",
    "XPASS": "xpassed",
}
_PROBLEMS = {
    Problem.CPU_LIMIT: "The run used more processor time than it may, and was stopped.",
    Problem.WALL_LIMIT: "The run took longer than it may, and was stopped.",
    Problem.MEMORY_LIMIT: "The run used more memory than it may, and was stopped.",
    Problem.DISK_LIMIT: "The run wrote more to its folder than it may, and was stopped.",
    Problem.DIED: "The run ended before pytest was done.",
    Problem.NOT_RUN: "pytest could not run.",
    Problem.DISAGREES: "pytest's exit code does not fit what became of the tests.",
    Problem.TAMPERED: "The code under test changed what decides whether a test passes.",
}

_UNSTEADY = (
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "0x..."),
    (re.compile(r"(?:/[\w.+-]+)*/pytest-of-[\w.-]+/pytest-\d+"), "/tmp/pytest"),  # noqa: S108 - a text
    (re.compile(r"(?:/[\w.+-]+)*/tool-envs-\w+/workspace\b|/workspace\b"), "."),
    (re.compile(r"\b\d+(?:\.\d+)?s\b(?= *=|(?: \([\d:]+\))? *=*$)", re.MULTILINE), "...s"),
)  # fmt: skip


def describe(run: TestRun, limit: int = 20_000) -> str:
    """A run as text: how many tests had which status, why some failed, and which others did not just pass.

    Addresses, temporary folders and durations are left out of it, so that what stays differs only if the
    tests do, or what they print.

    Args:
        run: The run.
        limit: Characters of the longest text; a longer one is cut in the middle with a mark.
    """
    counts = Counter(run.statuses.values())
    lines = [
        ", ".join(f"{counts[status]} {_WORDS[status]}" for status in _ORDER if counts[status])
        or "no tests ran"
    ]
    if run.problem:
        lines.append(_PROBLEMS[run.problem])
    lines += [f"changed: {name}" for name in run.changed]
    for test, status in run.statuses.items():
        if status in ("FAILED", "ERROR"):
            lines += ["", f"{status} {test}", *_indented(run.texts.get(test, ""))]
    others = [
        f"{status} {test}: {run.texts.get(test, '')}" if status == "SKIPPED" else f"{status} {test}"
        for test, status in run.statuses.items()
        if status in ("SKIPPED", "XFAIL", "XPASS")
    ]
    lines += ["", *others] if others else []
    if run.problem or not run.statuses:
        lines += ["", "output:", *_indented(run.output)]
    return cut(steady("\n".join(lines)), limit)


def steady(text: str) -> str:
    """A text without what differs from run to run: addresses, temporary folders, durations."""
    for pattern, replacement in _UNSTEADY:
        text = pattern.sub(replacement, text)
    return text


def _indented(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in text.strip("\n").split("\n")] if text.strip() else []
