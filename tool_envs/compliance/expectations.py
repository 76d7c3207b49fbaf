"""What a check says when an environment is not as it should be."""

from collections.abc import Callable

from tool_envs.env import ToolEnv


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


def expect_possible(reward: float, env: ToolEnv, what: str) -> None:
    """Fail unless a reward is one that its source can give: 0.0, 1.0, or of similarity what is between."""
    partly = env.domain.terminal_source == "similarity" and 0.0 < reward < 1.0
    expect(reward in (0.0, 1.0) or partly, f"{what}: the reward is {reward}")
