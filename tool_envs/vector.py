"""Many episodes in one process: what `gymnasium.make_vec` makes of an environment with a JSON view."""

import functools
import math
from collections.abc import Sequence, Sized
from typing import Any

import gymnasium
import msgspec
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tool_envs.chat_form import to_chat
from tool_envs.env import Observation, unwrap
from tool_envs.errors import EpisodeEndedError, InfrastructureError, UnknownNameError, UsageError
from tool_envs.messages import Json
from tool_envs.reward import Ledger, Outcome

_PER_LANE = (list, tuple, np.ndarray)
_NO_MESSAGE = {"role": "user", "name": "user", "content": ""}


class ToolVectorEnv(SyncVectorEnv):
    """Gymnasium's `SyncVectorEnv` whose lanes have tasks of their own and fail each for itself.

    ## Actions and Observations
    `step` takes a list or tuple of `num_envs` actions, each in any form that `ToolEnv.step` takes.
    Observations are a tuple of `num_envs` messages. In the mode `NextStep` the action of a lane whose episode
    has just ended is ignored.

    ## Options of `reset`
    Those of the environment. A list, tuple or array holds `num_envs` values, one for each lane:
    `{"task_id": ["a", "b"]}`; anything else goes to all lanes. So an option that is a list itself, like
    `user_turns`, is given as a list of lists. They hold for this `reset`; episodes that begin by autoreset
    have none. `reset_mask`, a bool array of shape `(num_envs,)`, names the lanes to reset.

    ## Failures
    A lane in which a step raises `InfrastructureError` gives the reward NaN and `truncated`, its last
    observation again, and in its info, besides what a step has, `failure` (the message) and `outcome` (status
    `infrastructure`; `reward` and the ledger's `terminal` are NaN and its empty bins absent, so that arrays
    hold numbers). A lane that fails in `reset` shows an empty message of the user and `failure` alone; its
    first step ignores the action and ends the episode in the same way. Afterwards a lane is reset like any
    other. Mistakes of the programmer are raised; the lanes before have then taken their step.

    ## Arguments
    * `env_id`: an id that `gymnasium.make` knows, with a `ToolEnv` inside.
    * `num_envs`: number of lanes.
    * `autoreset_mode`: `NextStep`, `SameStep`, `Disabled`, or the enum, which a spec in JSON cannot hold.
    * others: arguments of `gymnasium.make`, such as `max_episode_steps`, and of the environment.

    `make_vec` tells an entry point nothing about the id: a domain registers the name of a
    `functools.partial(ToolVectorEnv, its id)` of its own as its `vector_entry_point`.
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **kwargs: Any,  # noqa: ANN401 - whatever the environment takes
    ) -> None:
        if not (isinstance(num_envs, int) and num_envs > 0):
            raise UsageError(f"`num_envs` is a number of lanes of at least 1, not {num_envs!r}.")
        mode = as_mode(autoreset_mode)
        makers = [functools.partial(_make_lane, lane, env_id, kwargs) for lane in range(num_envs)]
        super().__init__(makers, autoreset_mode=mode)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in each lane, or in those of `options["reset_mask"]`.

        Args:
            seed: An int gives lane i `seed + i`; a list holds an int or None for each lane.
            options: See the class; not changed.

        Raises:
            UsageError: An option is unknown, names no task or has not one value for each lane.
        """
        self._require_open()
        for name, value in (options or {}).items():
            if isinstance(value, _PER_LANE):
                self._require_one_each(f"options[{name!r}]", value)
        # Gymnasium takes the mask out of the dict that it is given.
        return super().reset(seed=seed, options=None if options is None else dict(options))

    def step(self, actions: Sequence[Json]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in each lane.

        Returns:
            Observations, rewards (float64), terminations and truncations (bool), each of shape `(num_envs,)`,
            and infos in Gymnasium's form of arrays with masks; all of them fresh.

        Raises:
            UsageError: There is not one action for each lane.
            EpisodeEndedError: A lane has no running episode and does not reset itself.
            ActionTypeError: An action is nothing that an agent can have written.
        """
        self._require_open()
        # The characters of a text and the keys of a dict would pass for actions.
        if not isinstance(actions, _PER_LANE):
            raise UsageError(f"Actions are a list or tuple, one for each lane, not {actions!r:.80}.")
        self._require_one_each("actions", actions)
        self._require_running()
        return super().step(actions)

    def _require_running(self) -> None:
        """With autoreset disabled the caller has to reset lanes whose episode is over."""
        if self.autoreset_mode is AutoresetMode.DISABLED and any(self.get_attr("ended")):
            ended = np.flatnonzero(self.get_attr("ended")).tolist()
            raise EpisodeEndedError(
                f"The episodes of the lanes {ended} are over. Start new ones with "
                '`reset(options={"reset_mask": ...})`.'
            )

    def _require_open(self) -> None:
        if self.closed:
            raise UsageError("This vector environment is closed. Make another one.")

    def _require_one_each(self, name: str, values: Sized) -> None:
        if len(values) != self.num_envs:
            raise UsageError(f"`{name}` needs a value for each of {self.num_envs} lanes; got {len(values)}.")


class _Lane(gymnasium.Wrapper[Observation, Json, Observation, Json]):
    """An environment that takes its share of the options, and ends episodes that fail instead of raising.

    Attributes:
        ended: The last step ended its episode, and there was no reset since.
    """

    def __init__(self, env: gymnasium.Env[Observation, Json], number: int) -> None:
        super().__init__(env)
        # Gymnasium 1.2 writes the mode into the metadata, which all environments of a class share.
        self.metadata = dict(env.metadata)
        self.ended = False
        self._inner = unwrap(env)
        self._number = number
        self._observation: Observation = _NO_MESSAGE
        self._failed_start: dict[str, Any] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        self.ended, self._failed_start = False, None
        try:
            self._observation, info = self.env.reset(seed=seed, options=_share(options, self._number))
        except InfrastructureError as failure:
            # Not the environment's own outcome: that may still be the one of the episode before.
            self._failed_start = _failed_info(self._outcome_of(failure, steps=0), failure, [])
            self._observation, info = dict(_NO_MESSAGE), {"failure": str(failure)}
        return self._observation, info

    def step(self, action: Json) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self._failed_start is not None:
            return self._fail(self._failed_start)
        episode = self._inner.episode
        first_new = len(episode.history)
        try:
            self._observation, reward, terminated, truncated, info = self.env.step(action)
        except InfrastructureError as failure:
            # A wrapper's failure is not known to the environment.
            outcome = episode.outcome or self._outcome_of(failure, episode.steps)
            return self._fail(_failed_info(outcome, failure, to_chat(episode.history[first_new:])))
        self.ended = terminated or truncated
        return self._observation, float(reward), terminated, truncated, info

    def render(self) -> Any:  # noqa: ANN401 - what the environment gives
        if self._failed_start is not None and self.render_mode is not None:
            return ""
        return self.env.render()

    def _outcome_of(self, failure: InfrastructureError, steps: int) -> Outcome:
        ledger = Ledger(terminal=None, terminal_source=self._inner.domain.terminal_source)
        return Outcome("infrastructure", None, ledger, type(failure).__name__, steps)

    def _fail(self, info: dict[str, Any]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self.ended = True
        return self._observation, math.nan, False, True, info


def _make_lane(number: int, env_id: str, kwargs: dict[str, Any]) -> _Lane:
    # After a reset that failed, Gymnasium's checker fails too.
    return _Lane(gymnasium.make(env_id, **{"disable_env_checker": True, **kwargs}), number)


def _share(options: dict[str, Any] | None, lane: int) -> dict[str, Any] | None:
    """The options of one lane."""
    if options is None:
        return None
    return {name: value[lane] if isinstance(value, _PER_LANE) else value for name, value in options.items()}


def _failed_info(
    outcome: Outcome, failure: InfrastructureError, messages: list[dict[str, Any]]
) -> dict[str, Any]:
    """The info of the step that ends a failed episode; `messages` are what it brought before the failure."""
    ended = msgspec.to_builtins(outcome)
    # The first lane's value decides the type of an array: a None among numbers would do so for all.
    known = {bin_: value for bin_, value in ended["ledger"].items() if value is not None}
    ended |= {"reward": math.nan, "ledger": {**known, "terminal": math.nan}}
    return {"messages": messages, "error_code": None, "outcome": ended, "failure": str(failure)}


def as_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """An autoreset mode by its name or as it is; raises UnknownNameError when there is none."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise UnknownNameError("autoreset_mode", mode, [known.value for known in AutoresetMode]) from None
