"""The array view of very many episodes at once: the compiled stepper as a `gymnasium.vector.VectorEnv`."""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.envs.registration import load_env_creator
from gymnasium.spaces import Space
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tool_envs.array_view import Level
from tool_envs.arrays.env import ArrayEnv
from tool_envs.arrays.observations import ACTION_MASK, Observation
from tool_envs.arrays.pool import Records, Words
from tool_envs.arrays.stepper import NO_STEPPER, Ids, Stepper
from tool_envs.errors import EpisodeEndedError, UnknownNameError, UsageError
from tool_envs.vector import as_mode

Infos = dict[str, Any]
Ends = tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
"""Rewards, terminations, truncations."""
_INFOS = ("steps", "choices", "success", "task_index")


@dataclass(frozen=True)
class LanesSnapshot:
    """Some lanes at one moment; an opaque value for `restore`.

    Attributes:
        arguments: Those of their environment that decide what its lanes are.
        kept: Copies of all that is kept of them.
    """

    arguments: tuple[Any, ...]
    kept: tuple[npt.NDArray[Any], ...]

    def __len__(self) -> int:
        return len(self.kept[0])


class ArrayVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], Any]):
    """Many episodes of an array view in one compiled stepper; `ArrayEnv` is its reference, bit for bit.

    ## Actions and Observations
    Those of `ArrayEnv` with an axis of lanes before them: actions are integers of shape `(num_envs,)`, or
    `(num_envs, dimensions)` in the form `multidiscrete`. `action_masks()` and `sample_actions(rng)` say what
    can be chosen. In the mode `NextStep` the action of a lane whose episode has just ended is ignored.

    ## Tasks
    Which task episode number k of a lane has is a function of the seed of the lane and k alone. With
    `pool_size=n` it is one of the first n tasks of the split; these are made once and kept on disk. With
    `pool_size=None` there is no end of tasks, each made when it is needed, which takes a few milliseconds.

    ## Options of `reset`
    `reset_mask`, a bool array of shape `(num_envs,)`: the lanes to reset; `task_index`: an int, or one for
    each lane.

    ## Information
    As of `ArrayEnv`, as arrays with masks. In the mode `SameStep` also `final_obs` and `final_info`.

    ## Arguments
    * `env_id`: the JSON view.
    * `num_envs`: number of lanes.
    * `autoreset_mode`: `NextStep`, `SameStep`, `Disabled`, or the enum, which a spec in JSON cannot hold.
    * `pool_size`: see above.
    * `copy`: whether what `reset` and `step` give is the caller's own; with False the next call overwrites
      it, and it must not be written to.
    * `threads`: how many threads share the lanes; worth it from about ten thousand lanes on.
    * `words`: for controls, which should learn nothing: `blanked`, nothing that the user says is heard but
      who they are; `shuffled`, they say the words of the user of another task. Masks follow what is heard.
    * others: as of `ArrayEnv`, `render_mode` aside.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        env_id: str,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        action_form: Literal["sequential", "multidiscrete"] = "sequential",
        mask: Level = "policy",
        observation: Literal["tables", "features"] = "tables",
        pool_size: int | None = 4096,
        copy: bool = True,
        threads: int = 1,
        words: Words = "heard",
        **options: Any,  # noqa: ANN401 - whatever the JSON view takes
    ) -> None:
        if "render_mode" in options:
            raise UsageError("The vectorized array view renders nothing, and has no argument `render_mode`.")
        _require_arguments(env_id, options)
        _require_count("num_envs", num_envs)
        _require_count("threads", threads)
        self.autoreset_mode = as_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.reference = ArrayEnv(
            env_id, action_form, mask, observation, None, pool_size=pool_size, **options
        )
        self.num_envs, self.copy = num_envs, copy
        self._arguments = (env_id, action_form, mask, pool_size, words, *sorted(options.items()))
        self.single_action_space = self.reference.action_space
        self.single_observation_space = self.reference.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.closed = False
        self._by_choices = action_form == "sequential"
        if words not in get_args(Words):
            raise UnknownNameError("value of words", words, get_args(Words))
        restarts = self.autoreset_mode is AutoresetMode.NEXT_STEP
        self._stepper = Stepper(self.reference, num_envs, pool_size, words, threads, restarts)
        self._seeds: list[int | None] = [None] * num_envs
        self._have_all_begun = False  # True only when each lane is known to have had an episode

    @cached_property
    def observation_space(self) -> Space[Any]:  # type: ignore[override]  # made when it is asked for: it is large
        """As of one environment, with an axis of lanes."""
        return batch_space(self.single_observation_space, self.num_envs)

    # --- Gymnasium

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Infos]:
        """Start an episode in each lane, or in those of `options["reset_mask"]`.

        Args:
            seed: An int gives lane i `seed + i`; a list holds an int or None for each lane.
            options: See the class; not changed.

        Raises:
            UsageError: An option is unknown or has another form, or there is not one seed for each lane.
        """
        self._require_open()
        for name in options or {}:
            if name not in ("reset_mask", "task_index"):
                raise UnknownNameError("option of reset", name, ("reset_mask", "task_index"))
        ids = self._lanes_to_reset((options or {}).get("reset_mask"))
        given = (options or {}).get("task_index")
        chosen = None if given is None else self._chosen_tasks(given)[ids]
        self._seed(ids, self._seed_of_each(seed))
        seen, outcomes = self._stepper.write_to(self._stepper.seen)
        self._stepper.begin(ids, chosen)
        infos = self._infos(outcomes, ids)
        return self._stepper.observe(seen.copy() if self.copy else seen, copy=False), infos

    def step(
        self,
        actions: Any,  # noqa: ANN401 - any array of integers
    ) -> tuple[Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], Infos]:
        """Take an action in each lane.

        Returns:
            Observations, rewards (float64), terminations and truncations (bool), each of shape
            `(num_envs,)`, and infos.

        Raises:
            UsageError: The actions have another shape, type or range than the action space.
            EpisodeEndedError: A lane has no running episode and does not reset itself.
        """
        stepper = self._stepper
        given, outcomes = stepper.write_to(stepper.fresh() if self.copy else stepper.seen, all_steps=True)
        ends, infos = self._step(stepper.every, actions, outcomes)
        return stepper.observe(given, self.copy), *ends, infos

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ANN401, ARG002 - Gymnasium's form
        """Let the threads go."""
        self._stepper.close()
        self.reference.close()

    # --- For those who know the stepper

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """What is possible now: bool of shape `(num_envs, n)`; a fresh array."""
        return self._stepper.seen[ACTION_MASK].astype(np.bool_)

    def sample_actions(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """An action for each lane that its mask allows, each choice with equal chances.

        Raises:
            EpisodeEndedError: A lane has no episode yet.
        """
        self._require_started(self._stepper.every)
        return self._stepper.sample(rng)

    def step_subset(
        self,
        ids: Any,  # noqa: ANN401 - any array of integers
        actions: Any,  # noqa: ANN401 - likewise
    ) -> tuple[Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], Infos]:
        """As `step`, for some lanes alone; the others stay as they are.

        Args:
            ids: Numbers of lanes, each once, of shape (n,).
            actions: For each of them one.

        Returns:
            As `step`, with n instead of `num_envs`, in the order of `ids`; infos have all lanes.

        Raises:
            UsageError: As `step`; or there is no such lane.
            EpisodeEndedError: As `step`.
        """
        lanes = self._lane_numbers(ids)
        seen, outcomes = self._stepper.write_to(self._stepper.seen)
        (rewards, terminated, truncated), infos = self._step(lanes, actions, outcomes)
        ends = rewards[lanes], terminated[lanes], truncated[lanes]
        return self._stepper.observe(seen[lanes], copy=False), *ends, infos

    def snapshot(self, ids: Any = None) -> LanesSnapshot:  # noqa: ANN401 - any array of integers
        """Some lanes now, or all of them, for `restore`."""
        lanes = self._stepper.every if ids is None else self._lane_numbers(ids)
        return LanesSnapshot(self._arguments, tuple(each[lanes].copy() for each in self._stepper.records()))

    def restore(self, snapshot: LanesSnapshot, ids: Any = None) -> None:  # noqa: ANN401 - any array of integers
        """Go on from a snapshot, of this environment or of another one with the same arguments.

        Args:
            snapshot: The lanes.
            ids: Where they go; None: to as many of the first lanes.

        Raises:
            UsageError: There are not as many lanes as were kept, or they are of an environment with other
                arguments.
        """
        if not isinstance(snapshot, LanesSnapshot):
            raise UsageError(f"A snapshot is what `snapshot` gave, not {snapshot!r:.80}.")
        if snapshot.arguments != self._arguments:
            raise UsageError(
                f"The snapshot is of an environment made with {snapshot.arguments}, not with "
                f"{self._arguments}; restore it in one with the same arguments."
            )
        lanes = np.arange(len(snapshot)) if ids is None else self._lane_numbers(ids)
        if len(lanes) != len(snapshot) or len(lanes) > self.num_envs:
            raise UsageError(f"The snapshot holds {len(snapshot)} lanes, not {len(lanes)}; name as many.")
        for values, kept in zip(self._stepper.records(), snapshot.kept, strict=True):
            values[lanes] = kept
        self._stepper.moved(lanes)
        self._have_all_begun = False

    @property
    def lane_bytes(self) -> int:
        """What one lane takes: its state and the rows that it was shown, without observations and pool."""
        return self._stepper.lane_bytes

    @property
    def total_actions(self) -> int:
        """How many actions were carried out in all lanes since this environment was made."""
        return int(self._stepper.plays["total"].sum())

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]  # one for each lane
        """The seed of each lane."""
        return tuple(self._seeds)

    # --- Episodes

    def _lanes_to_reset(self, mask: Any) -> Ids:  # noqa: ANN401 - whatever the caller gave
        if mask is None:
            return self._stepper.every
        is_mask = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        if not is_mask or not mask.any():
            raise UsageError(
                f"`reset_mask` is a bool array of shape ({self.num_envs},) with a True, not {mask!r:.80}."
            )
        return np.flatnonzero(mask)

    def _seed_of_each(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + lane for lane in range(self.num_envs)]
        if not isinstance(seed, Sequence | np.ndarray) or len(seed) != self.num_envs:
            raise UsageError(f"Seeds are an int, or one for each of {self.num_envs} lanes, not {seed!r:.80}.")
        return list(seed)

    def _chosen_tasks(self, chosen: Any) -> Ids:  # noqa: ANN401 - whatever the caller gave
        tasks, count = _as_array(chosen), len(self.reference.json_env.domain.tasks)
        is_shaped = tasks.shape in ((), (self.num_envs,)) and tasks.dtype.kind in "iu"
        if not is_shaped or (tasks < 0).any() or (tasks >= count).any():
            raise UsageError(
                f"`task_index` is an int from 0 to {count - 1}, or one for each lane, not {chosen!r:.80}."
            )
        return np.broadcast_to(tasks.astype(np.int64), (self.num_envs,))

    def _seed(self, ids: Ids, seeds: list[int | None]) -> None:
        """Give new keys to lanes that are seeded, or never were."""
        self._have_all_begun = False
        fresh = ~self._stepper.have_begun(ids)
        lanes = [
            lane for lane, new in zip(ids.tolist(), fresh, strict=True) if new or seeds[lane] is not None
        ]
        drawn = [seeding.np_random(seeds[lane]) for lane in lanes]  # all, before any lane is changed
        for lane, (generator, seed) in zip(lanes, drawn, strict=True):
            self._stepper.seed(lane, generator.bit_generator.random_raw())
            self._seeds[lane] = seed

    def _step(self, ids: Ids, actions: Any, outcomes: Records) -> tuple[Ends, Infos]:  # noqa: ANN401
        self._require_open()
        self._require_started(ids)
        if self.autoreset_mode is not AutoresetMode.NEXT_STEP:
            self._require_none_over(ids)
        self._stepper.take(ids, self._checked(ids, actions))
        rewards, terminated, truncated = (outcomes[name] for name in ("reward", "terminated", "truncated"))
        over = np.empty(0, np.int64)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            over = np.flatnonzero(terminated | truncated)
        final = self._end_and_restart(over, outcomes) if len(over) else {}
        return (rewards, terminated, truncated), {**final, **self._infos(outcomes, ids)}

    def _end_and_restart(self, over: Ids, outcomes: Records) -> Infos:
        final_obs = np.full(self.num_envs, None, object)
        for lane, observation in zip(over.tolist(), self._one_by_one(over), strict=True):
            final_obs[lane] = observation
        final_info = self._infos(outcomes.copy(), over)
        self._stepper.begin(over)
        among = np.zeros((2, self.num_envs), np.bool_)
        among[:, over] = True
        return {
            "final_obs": final_obs,
            "_final_obs": among[0],
            "final_info": final_info,
            "_final_info": among[1],
        }

    # --- What is given back

    def _one_by_one(self, ids: Ids) -> list[Observation]:
        observations = self._stepper.observe(self._stepper.seen[ids], copy=False)
        return [{name: table[k].copy() for name, table in observations.items()} for k in range(len(ids))]

    def _infos(self, outcomes: Records, ids: Ids) -> Infos:
        """Infos of some lanes; those of the others are 0."""
        whole = ids is self._stepper.every
        among = np.full((len(_INFOS), self.num_envs), whole)
        if not whole:
            among[:, ids] = True
        infos: Infos = {}
        for name, own in zip(_INFOS, among, strict=True):
            values = outcomes[name]
            infos[name], infos[f"_{name}"] = values if whole else np.where(own, values, 0), own
        return infos

    # --- What is refused

    def _checked(self, ids: Ids, actions: Any) -> npt.NDArray[np.int64]:  # noqa: ANN401
        """Actions for lanes; those of lanes that start their next episode are not looked at."""
        shape = (len(ids),) if self._by_choices else (len(ids), len(self._stepper.sizes))
        given = _as_array(actions)
        if given.shape != shape or given.dtype.kind not in "iu":
            raise UsageError(
                f"Actions are integers of shape {shape}, not {given.dtype} of shape {given.shape}."
            )
        limits = self._stepper.sizes[0] if self._by_choices else self._stepper.sizes
        checked = np.array(given, np.int64, order="C")  # each kind of array would be compiled for itself
        below = checked.view(np.uint64) < limits  # a negative number is a large one there
        if not below.all():
            wrong = ~(below if self._by_choices else below.all(axis=1)) & ~self._stepper.is_over(ids)
            if wrong.any():
                raise UsageError(
                    f"An action is an integer from 0 to {(limits - 1).tolist()}, each in its dimension, not "
                    f"{given[wrong][0].tolist()}."
                )
        return checked

    def _lane_numbers(self, ids: Any) -> Ids:  # noqa: ANN401 - whatever the caller gave
        given = _as_array(ids)
        is_list = given.ndim == 1 and given.dtype.kind in "iu" and len(given)
        if (
            not is_list
            or given.min() < 0
            or given.max() >= self.num_envs
            or len(np.unique(given)) < len(given)
        ):
            raise UsageError(f"Lanes are numbers from 0 to {self.num_envs - 1}, each once, not {ids!r:.80}.")
        return given.astype(np.int64)

    def _require_started(self, ids: Ids) -> None:
        if self._have_all_begun:
            return
        if not self._stepper.have_begun(ids).all():
            raise EpisodeEndedError("There is no episode yet. Call `reset` first.")
        self._have_all_begun = ids is self._stepper.every

    def _require_none_over(self, ids: Ids) -> None:
        over = self._stepper.is_over(ids)
        if over.any():
            raise EpisodeEndedError(
                f"The episodes of the lanes {ids[over].tolist()} are over. Start new ones with "
                '`reset(options={"reset_mask": ...})`.'
            )

    def _require_open(self) -> None:
        if self.closed:
            raise UsageError("This vector environment is closed. Make another one.")


def _as_array(given: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - whatever the caller gave
    """It as an array; what cannot be one, since its parts differ in length, as one of an object."""
    try:
        return np.asarray(given)
    except ValueError:
        return np.array(None)


def _require_arguments(env_id: str, options: Iterable[str]) -> None:
    """Require that a JSON view knows its arguments, as far as it says which it takes."""
    entry = gymnasium.spec(env_id).entry_point
    creator: Any = load_env_creator(entry) if isinstance(entry, str) else entry
    known = inspect.signature(creator).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in known.values()):
        return
    if "pool_size" not in known:
        raise UsageError(NO_STEPPER.format(env_id))
    for name in options:
        if name not in known:
            raise UnknownNameError(f"argument of {env_id}", name, list(known))


def _require_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"`{name}` is a number of at least 1, not {value!r}.")
