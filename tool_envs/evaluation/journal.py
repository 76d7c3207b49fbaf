"""What an evaluation has finished, beside its report-to-be: run again, it goes on where it was stopped."""

import json
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from tool_envs.errors import DataFileError, UsageError
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.messages import Json
from tool_envs.trajectory.segments import mend_tail


class Journal:
    """The finished episodes of one evaluation: a line for what is evaluated, then one for each episode.

    A line that its writer was killed at is dropped.

    Args:
        report: The path of the report; the journal is `<report>.part` beside it.
        what: All that the results depend on, as a JSON object: the manifest's digest, the agent, the trials.

    Raises:
        UsageError: The journal there is one of another evaluation; names the fields that differ.
        DataFileError: It cannot be read or written.
    """

    def __init__(self, report: str | Path, what: dict[str, Json]) -> None:
        self.path = Path(f"{report}.part")
        self._what = json.loads(json.dumps(what))
        try:
            self._file = self.path.open("a+b")
        except OSError as problem:
            raise DataFileError(self.path, f"cannot be used: {problem.strerror}") from None
        try:
            mend_tail(self._file)
            self._file.seek(0)
            lines = self._file.read().splitlines()
            self.finished = self._read(lines)
        except BaseException:
            self._file.close()
            raise
        if not lines:
            self._write(self._what)

    def append(self, result: EpisodeResult) -> None:
        """Note one more finished episode; it is handed to the system before this returns."""
        self._write(result)

    def remove(self) -> None:
        """The report is written: forget the journal."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _write(self, value: EpisodeResult | dict[str, Json]) -> None:
        self._file.write(msgspec.json.encode(value) + b"\n")
        self._file.flush()

    def _read(self, lines: list[bytes]) -> dict[tuple[int, int], EpisodeResult]:
        """(Index of the task, trial) -> its result."""
        if not lines:
            return {}
        try:
            what = msgspec.json.decode(lines[0])
            results = [msgspec.json.decode(line, type=EpisodeResult) for line in lines[1:]]
        except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
            raise DataFileError(self.path, f"no journal of an evaluation: {problem}") from None
        if what != self._what:
            differ = [name for name in self._what if what.get(name) != self._what[name]]
            raise UsageError(
                f"{self.path} is of another evaluation: {', '.join(differ)} differ. Finish that one, remove "
                "the file, or write the report elsewhere."
            )
        return {(result.index, result.trial): result for result in results}
