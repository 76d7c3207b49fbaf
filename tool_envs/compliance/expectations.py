"""What a check says when an environment is not as it should be."""

from collections.abc import Callable


class Unmet(Exception):  # noqa: N818 - it never leaves this package
    """An expectation that was not met, as a sentence."""


def expect(met: bool, problem: str) -> None:
    """Fail with a sentence unless something is met."""
    if not met:
        raise Unmet(problem)


def expect_raises(error: type[Exception], call: Callable[[], object], what: str) -> None:
    """Fail unless a call raises an error of a type."""
    try:
        call()
    except error:
        return
    raise Unmet(f"{what} should raise {error.__name__}")
