"""Process rewards: where they come from. Off unless asked for, and never part of the Gymnasium reward."""

import hashlib
import importlib
import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from tool_envs.errors import UsageError
from tool_envs.reward import ProcessSource

if TYPE_CHECKING:
    from tool_envs.episode import Episode

SUB_GOALS: Final = "sub_goals"
"""Names the sub-goals of the domain's tasks."""

Progress: TypeAlias = Callable[["Episode"], float]
"""How far an episode has come. The reward of a step is what it added, so that one who undoes a step and does
it again earns nothing by it: a potential, as in Ng et al., Policy invariance under reward transformations,
1999, undiscounted."""


class ProcessReward(msgspec.Struct, frozen=True):
    """What gives the rewards per step.

    Attributes:
        source: Names it in records.
        function: A user's function, at the top of its module; None: the sub-goals of the domain.
    """

    source: ProcessSource
    function: Progress | None

    def measure(self, sub_goals: Progress | None, episode: "Episode") -> float:
        """How far the episode has come now.

        Args:
            sub_goals: The domain's own measure.
            episode: The episode; nothing in it is changed.

        Raises:
            UsageError: What was measured is no finite number.
        """
        progress = self.function or sub_goals
        value = progress(episode) if progress else math.nan
        if not (isinstance(value, float | int) and math.isfinite(value)):
            raise UsageError(
                f"The process rewards of {self.source.name!r} are finite numbers, not {value!r:.40}."
            )
        return float(value)


def find_process(process: object, sub_goals: Progress | None) -> ProcessReward | None:
    """What an environment's argument `process` names.

    Args:
        process: None, "sub_goals", or a user's function as "module:function", which is imported.
        sub_goals: The domain's own measure; None: it has none.

    Raises:
        UsageError: It names none of these, the domain has no sub-goals, or the function is not one that is
            defined at the top of that module, in Python, with its source at hand.
    """
    if process is None:
        return None
    if process == SUB_GOALS:
        if sub_goals is None:
            raise UsageError(f"`process={SUB_GOALS!r}`: these tasks have no sub-goals; name a function.")
        return ProcessReward(ProcessSource(SUB_GOALS, None), None)
    module, colon, name = process.partition(":") if isinstance(process, str) else ("", "", "")
    if not (module and colon and name):
        raise UsageError(f'`process` is None, "{SUB_GOALS}" or "module:function", not {process!r:.80}.')
    return _find_function(module, name)


def _find_function(module_name: str, name: str) -> ProcessReward:
    try:
        module = importlib.import_module(module_name)
        source = inspect.getsource(module)
    except (ImportError, OSError, TypeError) as problem:
        raise UsageError(f"`process`: no module {module_name!r} with its source: {problem}.") from None
    function = getattr(module, name, None)
    if not (inspect.isfunction(function) and function.__module__ == module_name):
        raise UsageError(f"`process`: {name!r} is no function that is defined in {module_name!r}.")
    # The whole module: a function may call others in it.
    digest = hashlib.sha256(source.encode()).hexdigest()
    return ProcessReward(ProcessSource(f"{module_name}:{name}", digest), function)
