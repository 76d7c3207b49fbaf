"""Writes the README's table of foreign libraries from what runs of their tests showed.

`make compatibility LIBRARIES="sb3 mcp"` runs the tests anew and then this; `--check` says whether the table
is what the kept runs give.
"""

import argparse
import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "compatibility"
TESTS = ROOT / "tests" / "integrations"
BEGIN, END = "<!-- compatibility: written by `make compatibility` -->\n", "<!-- end of compatibility -->\n"

UNTESTED = {
    "gem-llm": "its import wants many other libraries, some of them pinned",
    "nemo-gym": "wants Python 3.13.14 or newer",
    "pufferlib": "has no wheels, and its build downloads a graphics library",
}
"""Libraries that people ask for, and why there is no test of them."""


class Shown(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the tests of one extra showed of a library.

    Args:
        library: Name of the distribution.
        version: The one that was tested; None: it was not there.
        fake: Why a fake of its interface stood in for it; None: it was the library itself.
        passed: Number of tests that passed, and likewise `failed` and `skipped`.
        why_skipped: The reasons, each once.
        shows: What works: phrases all of whose tests passed.
        fails: Phrases one of whose tests failed. One that has only skipped tests beside passed ones is in
            neither.
    """

    library: str
    version: str | None
    fake: str | None
    passed: int
    failed: int
    skipped: int
    why_skipped: tuple[str, ...]
    shows: tuple[str, ...]
    fails: tuple[str, ...]


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the tests of one extra showed, on one version of Python."""

    python: str
    libraries: tuple[Shown, ...]


def write_run(folder: Path, extra: str, run: Run) -> None:
    """Keep a run, in the place of the last one of the same extra."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath(f"{extra}.json").write_bytes(msgspec.json.format(msgspec.json.encode(run)) + b"\n")


def read_runs(folder: Path) -> dict[str, Run]:
    """The kept runs by their extras."""
    return {file.stem: msgspec.json.decode(file.read_bytes(), type=Run) for file in folder.glob("*.json")}


def extras() -> set[str]:
    """The extras that can be installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return set(project["optional-dependencies"])


def files_by_extra(tests: Path) -> dict[str, list[Path]]:
    """The files of tests by the extra that they want: `test_http.py` and `test_http_many.py` by `http`."""
    found, known = defaultdict(list), extras()
    for file in sorted(tests.glob("test_*.py")):
        words = file.stem.split("_")[1:]
        starts = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
        found[next((start for start in starts if start in known), starts[0])].append(file)
    return dict(found)


def marked_libraries(file: Path) -> set[str]:
    """The libraries that a file of tests says it is about, whether it can be run here or not."""
    calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return {call.args[0].value for call in calls if ast.unparse(call.func) == "pytest.mark.library"}


def rows(results: Path, tests: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Library, version, extra, how it was tested, and what works, unsorted."""
    runs = read_runs(results)
    for extra, files in files_by_extra(tests).items():
        run = runs.get(extra, Run(python="", libraries=()))
        shown = {each.library: each for each in run.libraries}
        for library in set().union(*map(marked_libraries, files)):
            if library in shown:
                each = shown[library]
                yield library, each.version or "", f"`{extra}`", tested(each, run.python), works(each)
            else:
                yield library, "", f"`{extra}`", "not run", ""
    for library, reason in UNTESTED.items():
        yield library, "", "", f"not tested: {reason}", ""


def tested(shown: Shown, python: str) -> str:
    """How a library was tested, in words."""
    if not shown.passed + shown.failed:
        return f"not run: {'; '.join(shown.why_skipped)}"
    by = f"a fake of it ({shown.fake})" if shown.fake else "the library itself"
    counts = {"passed": shown.passed, "failed": shown.failed, "skipped": shown.skipped}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{by}, Python {python}: {told}"


def works(shown: Shown) -> str:
    """What works and what does not, in words."""
    fails = f"fails: {'; '.join(shown.fails)}" if shown.fails else ""
    return "; ".join(filter(None, [*shown.shows, fails]))


def table(results: Path = RESULTS, tests: Path = TESTS) -> str:
    """The whole table, one row for each library and extra."""
    head = ("library", "version", "extra", "tested with", "what works")
    body = sorted(rows(results, tests), key=lambda row: (row[0].casefold(), row[2]))
    lines = [head, ("---",) * len(head), *((f"`{row[0]}`", *row[1:]) for row in body)]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def with_table(text: str, new: str) -> str:
    """A document with a new table in the place of the one between the two comments.

    Raises:
        ValueError: The document does not have both comments, once each.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"Expected the comments {BEGIN.strip()} and {END.strip()} in it, once each.")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{new}\n{END}{rest.split(END)[1]}"


def main() -> str | None:
    """Write the table, or check it; returns what is wrong."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="write nothing")
    check = arguments.parse_args().check
    readme = ROOT / "README.md"
    text = readme.read_text("utf-8")
    new = with_table(text, table())
    if check:
        return "README.md: the table is not that of the runs; `make compatibility`" if text != new else None
    readme.write_text(new, "utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main())
