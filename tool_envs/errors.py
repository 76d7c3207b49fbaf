"""The error model and the error tree.

Three kinds of failure, which never mix:

* The **agent's** mistake (broken JSON, unknown tool, bad arguments, a refused action) is not an exception.
  It is an observation with a stable `Code`, and the database is as it was before.
* The **programmer's** mistake (an unknown id, a wrong type, a step after the end) is a `UsageError`; a file
  that is missing, damaged or changed is a `DataFileError`. Both say what was expected, what came, what to do.
* The **infrastructure's** failure (a model server is down, a sandbox died) is an `InfrastructureError`. Such
  an episode has no reward, is excluded from every metric, and is never counted as 0.
"""

import difflib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import gymnasium.error


class Code(StrEnum):
    """Stable codes of the agent's mistakes that every environment knows; domains add their refusals."""

    MALFORMED_CALL = "malformed_call"
    """The action could not be read as a tool call or as text."""
    UNKNOWN_TOOL = "unknown_tool"
    """The schema has no tool of that name."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The arguments are not valid for the tool's parameters."""
    SEVERAL_CALLS = "several_calls"
    """The action holds several calls and the environment was told to refuse that."""
    NOT_RUN = "not_run"
    """An earlier call of the same action ended the episode."""


class ToolEnvsError(Exception):
    """Base class of every exception that this package raises on purpose."""


class UsageError(ToolEnvsError, ValueError):
    """Raised when the caller asked for something that cannot be: the message says what can."""


class UnknownNameError(UsageError):
    """Raised when a name (schema, task, user, agent, option) is not one of the known ones."""

    def __init__(self, kind: str, name: object, known: Iterable[object]) -> None:
        names = [str(k) for k in known]
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f" Did you mean: `{close[0]}`?" if close else ""
        shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
        super().__init__(f"Unknown {kind} {name!r}.{hint} Known: {shown or 'none'}.")


class ActionTypeError(UsageError, TypeError):
    """Raised when an action is no text, bytes or JSON value, so that no agent can have written it."""


class EpisodeEndedError(UsageError, gymnasium.error.ResetNeeded):
    """Raised by `step` before the first `reset` and after the end of an episode."""


class DataFileError(ToolEnvsError):
    """Raised when a file is missing, damaged or not of the expected form.

    Args:
        path: The file.
        problem: What was expected and what was found.
        line: 1-based line of the problem, where one is known.
    """

    def __init__(self, path: str | Path, problem: str, line: int | None = None) -> None:
        self.path, self.problem, self.line = str(path), problem, line
        super().__init__(f"{path}{f', line {line}' if line else ''}: {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        return type(self), (self.path, self.problem, self.line)


class TamperedFileError(DataFileError):
    """Raised when a released file does not have the digest that it was released with."""


class RecordFormError(DataFileError):
    """Raised when a JSON value is no record of a known format version, or not of the form of its version."""


class RecordLawError(DataFileError):
    """Raised when a record has the right form and contradicts itself: a policy version is missing, say."""


class ReplayMismatchError(ToolEnvsError):
    """Raised when a replayed trajectory meets another observation, reward or digest than it recorded."""


class SliceMismatchError(ToolEnvsError):
    """Raised when what a slice froze is not what is here, or two evaluations are not of equal slices."""


class MaskProofError(ToolEnvsError):
    """Raised when sequences of tokens or their loss mask are not what the record says was sampled."""


class InfrastructureError(ToolEnvsError):
    """Raised when something outside the episode failed; the episode has no reward and counts nowhere."""
