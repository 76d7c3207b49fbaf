"""What a run of tests showed of each library, kept for the table in the README.

`pytest --compatibility FOLDER tests/integrations/test_NAME*.py` writes `FOLDER/NAME.json`, for all tests
of the extra NAME with the marks `library` and `shows` (see pyproject.toml). Without it nothing is kept.
"""

import importlib.metadata
import platform
from collections import defaultdict
from pathlib import Path

import pytest
from compatibility import Run, Shown, files_by_extra, marked_libraries, write_run


def pytest_addoption(parser):
    parser.addoption(
        "--compatibility", metavar="FOLDER", type=Path, help="keep what the tests show of libraries"
    )


def pytest_configure(config):
    folder = config.getoption("compatibility", None)  # there is no option if other tests come first
    if folder is None:
        return
    if any("::" in argument for argument in config.args):
        raise pytest.UsageError(PARTS)
    config.pluginmanager.register(Keeper(folder))


PARTS = (
    "--compatibility keeps what an extra shows as a whole: give all its files, and choose no tests in them."
)


def files_of(items):
    """The extras that tests are of, each with all its files."""
    chosen = {item.path for item in items}
    known = [pair for folder in {path.parent for path in chosen} for pair in files_by_extra(folder).items()]
    return {extra: files for extra, files in known if chosen & set(files)}


class Keeper:
    """Notes how each test with the mark `library` went, and writes a file for each extra."""

    def __init__(self, folder):
        self._folder = folder
        self._reports = defaultdict(list)

    def pytest_deselected(self):
        raise pytest.UsageError(PARTS)

    def pytest_collection_finish(self, session):
        chosen = {item.path for item in session.items}
        for files in files_of(session.items).values():
            if any(marked_libraries(file) for file in set(files) - chosen):
                raise pytest.UsageError(PARTS)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        self._reports[item].append(report)
        return report

    def pytest_sessionfinish(self, session):
        if self._reports.keys() != set(session.items):
            return  # stopped on the way
        for extra, files in files_of(session.items).items():
            self._keep(extra, [item for item in session.items if item.path in files])

    def _keep(self, extra, items):
        libraries = defaultdict(list)
        for item in items:
            if mark := item.get_closest_marker("library"):
                libraries[mark.args[0], mark.kwargs.get("fake")].append(item)
        if libraries:
            shown = [self._shown(*library, items) for library, items in sorted(libraries.items(), key=str)]
            run = Run(python=".".join(platform.python_version_tuple()[:2]), libraries=tuple(shown))
            write_run(self._folder, extra, run)

    def _shown(self, library, fake, items):
        outcomes = [self._outcome(item) for item in items]
        phrases = defaultdict(set)
        for item, outcome in zip(items, outcomes, strict=True):
            for mark in item.iter_markers("shows"):
                phrases[mark.args[0]].add(outcome)
        ran = outcomes.count("passed") + outcomes.count("failed")
        return Shown(
            library=library,
            version=importlib.metadata.version(library) if ran and not fake else None,
            fake=fake,
            passed=outcomes.count("passed"),
            failed=outcomes.count("failed"),
            skipped=outcomes.count("skipped"),
            why_skipped=tuple(sorted({reason for item in items for reason in self._why_skipped(item)})),
            shows=tuple(sorted(phrase for phrase, found in phrases.items() if found == {"passed"})),
            fails=tuple(sorted(phrase for phrase, found in phrases.items() if "failed" in found)),
        )

    def _outcome(self, item):
        """Of setting up, the test and tearing down, the worst."""
        found = {report.outcome for report in self._reports[item]}
        return next(outcome for outcome in ("failed", "skipped", "passed") if outcome in found)

    def _why_skipped(self, item):
        skipped = [report for report in self._reports[item] if report.skipped]
        return [report.longrepr[2].removeprefix("Skipped: ") for report in skipped]
