"""What an evaluation found: a file that carries all that its scores depend on."""

import functools
import json
from pathlib import Path
from typing import Final, Literal

import msgspec

from tool_envs.errors import DataFileError
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.scores import Scores, scores_of
from tool_envs.evaluation.slice import Slice
from tool_envs.evaluation.slice_files import parse_slice
from tool_envs.evaluation.whole_files import write_whole
from tool_envs.json_values import parse_json
from tool_envs.messages import Json
from tool_envs.schema.forms import check_form
from tool_envs.trajectory.refs import AgentRef

FORMAT_VERSION: Final = "1.1.0"
"""The version of a report's form, `schemas/meta/report/<version>.json`."""


class Report(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """An evaluation: what was played, by whom, and what came out.

    Attributes:
        format_version: The version of this form.
        slice: All that the scores depend on besides the agent. Reports of equal slices are comparable.
        agent: Who acted.
        trials: How many trials of each task there are.
        results: The episodes, in the order of their tasks and trials.
        floors: Trivial agent -> its score on the slice, a success rate or a mean similarity; empty: they were
            not run.
        marks: Why the scores are no plain ones: trained on another schema version, say.
        seconds: Time that playing took.
    """

    format_version: Literal["1.1.0"]
    slice: Slice
    agent: AgentRef
    trials: int
    results: tuple[EpisodeResult, ...]
    floors: dict[str, float] = {}
    marks: tuple[str, ...] = ()
    seconds: float = 0.0

    @functools.cached_property
    def scores(self) -> Scores:
        """The figures that follow from the results."""
        return scores_of(self.results, self.slice.reward)

    def to_json(self) -> dict[str, Json]:
        """The report as a JSON object; `scores` stands there for readers, and is computed anew when read."""
        fields = {name: msgspec.to_builtins(getattr(self, name)) for name in self.__struct_fields__}
        scores = msgspec.to_builtins(self.scores, str_keys=True)
        value = {**fields, "slice": self.slice.to_json(), "scores": scores}
        plain: dict[str, Json] = json.loads(json.dumps(value, allow_nan=False))
        return plain


def write_report(report: Report, path: str | Path) -> None:
    """Write a report as a JSON file, whole or not at all.

    Raises:
        DataFileError: It cannot be written.
    """
    write_whole(json.dumps(report.to_json(), allow_nan=False) + "\n", path)


def read_report(path: str | Path) -> Report:
    """The report in a JSON file.

    Raises:
        DataFileError: It is missing, not of the form, or the digest of its slice is not that of its content.
    """
    try:
        value = parse_json(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise DataFileError(path, f"no report: {problem}") from None
    value = _upgraded(value, str(path))
    check_form("report", FORMAT_VERSION, value, str(path))
    frozen = parse_slice(value["slice"], str(path))
    fields = {name: part for name, part in value.items() if name not in ("slice", "scores")}
    try:
        return msgspec.convert({**fields, "slice": frozen.fields()}, Report)
    except msgspec.ValidationError as problem:
        raise DataFileError(path, str(problem)) from None


def _upgraded(value: Json, path: str) -> Json:
    """A report 1.0.0 as 1.1.0, which adds the tokens of each episode: nobody counted them."""
    if not isinstance(value, dict) or value.get("format_version") != "1.0.0":
        return value
    check_form("report", "1.0.0", value, path)
    results = [{**result, "usage": {"agent": None, "user": None}} for result in value["results"]]
    return {**value, "format_version": "1.1.0", "results": results}
