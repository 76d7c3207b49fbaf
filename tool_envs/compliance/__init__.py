"""The checks that every environment passes, built-in or not.

A domain's own test is a few lines; `kwargs` go to `gymnasium.make`::

    @pytest.mark.parametrize("check", compliance.CHECKS)
    def test_compliance(check):
        compliance.CHECKS[check]("my_package:my_names/Desk-v0", {"user": "scripted"})

An id `module:namespace/Name-v0` has Gymnasium import the module, also in the other processes of some checks.

A new check is a function of a `Subject` in the file of its group, and a name in that file's `CHECKS`.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

from tool_envs.compliance import (
    conversation,
    copies,
    determinism,
    gymnasium_contract,
    hostile_actions,
    leaks,
    rewards_and_ends,
    several_calls,
)
from tool_envs.compliance.conversation import RESET_KEYS
from tool_envs.compliance.copies import MAX_PICKLE
from tool_envs.compliance.expectations import Unmet
from tool_envs.compliance.subject import Subject
from tool_envs.errors import ToolEnvsError

__all__ = ["CHECKS", "MAX_PICKLE", "RESET_KEYS", "Check", "ComplianceError", "run"]

Check: TypeAlias = Callable[[str, dict[str, Any]], None]
"""`check(env_id, kwargs)`: silent, or raises `ComplianceError`."""


class ComplianceError(ToolEnvsError, AssertionError):
    """Raised when an environment fails a check: which one, and what was expected and came."""

    def __init__(self, check: str, env_id: str, problem: str) -> None:
        self.check, self.env_id, self.problem = check, env_id, problem
        super().__init__(f"{env_id} fails the check `{check}`: {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.check, self.env_id, self.problem)


def _as_check(function: Callable[[Subject], None]) -> Check:
    """The function, for an id and arguments; all that it raises becomes a `ComplianceError` with its name."""

    @functools.wraps(function)
    def check(env_id: str, kwargs: dict[str, Any]) -> None:
        try:
            with warnings.catch_warnings():
                # Gymnasium warns about what a text environment has by design: no bounds, no flattening.
                warnings.simplefilter("ignore", UserWarning)
                function(Subject(env_id, dict(kwargs)))
        except Exception as problem:
            text = str(problem) if isinstance(problem, Unmet) else f"{type(problem).__name__}: {problem}"
            raise ComplianceError(function.__name__, env_id, text) from problem

    return check


_FUNCTIONS: tuple[Callable[[Subject], None], ...] = (
    *gymnasium_contract.CHECKS,
    *conversation.CHECKS,
    *leaks.CHECKS,
    *determinism.CHECKS,
    *rewards_and_ends.CHECKS,
    *copies.CHECKS,
    *hostile_actions.CHECKS,
    *several_calls.CHECKS,
)

CHECKS: dict[str, Check] = {function.__name__: _as_check(function) for function in _FUNCTIONS}
"""All checks by name."""


def run(env_id: str, **kwargs: Any) -> None:  # noqa: ANN401 - whatever gymnasium.make takes
    """Run all checks.

    Args:
        env_id: The environment's id.
        **kwargs: Its arguments for `gymnasium.make`.

    Raises:
        ComplianceError: The first check that fails.
    """
    for check in CHECKS.values():
        check(env_id, kwargs)
