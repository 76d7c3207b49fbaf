"""The array view of very many episodes at once: the compiled stepper as a `gymnasium.vector.VectorEnv`."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast, get_args

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.envs.registration import load_env_creator
from gymnasium.spaces import Space
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tool_envs.array_steps import Lanes, Play, Rules
from tool_envs.array_view import Level
from tool_envs.arrays.compiled import compiled, is_compiling, saying_when_slow
from tool_envs.arrays.env import ArrayEnv
from tool_envs.arrays.lanes import begin_all, pick_each, spread_all
from tool_envs.arrays.observations import FEATURES, Observation
from tool_envs.arrays.pool import Pool, Records, Words
from tool_envs.arrays.tables import layout_table, observation_dtype, record_dtype, segments_of
from tool_envs.env import TASK_DRAW
from tool_envs.errors import EpisodeEndedError, UnknownNameError, UsageError
from tool_envs.rows import Row
from tool_envs.vector import as_mode

Ids = npt.NDArray[np.int64]
"""Numbers of lanes."""
Infos = dict[str, Any]
_AHEAD = 4  # tasks are drawn for so many episodes at once, as a power of 2
_NO_STEPPER = '{} has no compiled stepper; run single ones by `vectorization_mode="sync"`.'
Ends = tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
"""Rewards, terminations, truncations."""


@dataclass(frozen=True)
class LanesSnapshot:
    """Some lanes at one moment; an opaque value for `restore`.

    Attributes:
        arguments: Those of their environment that decide what its lanes are.
        records: Copies of their rows.
        numbers: Copies of what is kept of them beside.
    """

    arguments: tuple[Any, ...]
    records: tuple[Records, ...]
    numbers: tuple[npt.NDArray[Any], ...]

    def __len__(self) -> int:
        return len(self.records[0])


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
    * `threads`: how many threads share the lanes.
    * `words`: for controls, which should learn nothing: `blanked`, nothing that the user says is heard but
      who they are; `shuffled`, they say the words of the user of the next task. Masks follow what is heard.
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
        self._compiled: dict[Any, Callable[..., None]] = {}
        self._is_endless = pool_size is None
        self._by_choices = action_form == "sequential"
        self._has_features = observation == "features"
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None
        self._workers = threads
        if words not in get_args(Words):
            raise UnknownNameError("value of words", words, get_args(Words))
        self._make_arrays(pool_size if pool_size is not None else num_envs, words)
        self._keys = np.zeros(num_envs, np.uint64)
        self._numbers = np.full(num_envs, -1, np.int64)  # of episodes; -1: there was none
        self._tasks = np.zeros(num_envs, np.int64)
        self._drawn = np.full(num_envs, -1, np.int64)  # which part of the episodes ahead was drawn
        self._ahead = np.zeros((num_envs, 1 << _AHEAD), np.int64)
        self._seeds: list[int | None] = [None] * num_envs

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
        self._count_episodes(ids)
        tasks = self._draw_tasks(ids) if chosen is None else chosen
        seen = self._write_to(self._seen)
        self._begin(ids, tasks)
        return self._observe(seen.copy() if self.copy else seen), self._infos(ids)

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
        fresh = self.copy and not self._has_features
        given = self._write_to(np.empty_like(self._seen) if fresh else self._seen)
        ends, infos = self._step(self._every, actions)
        return self._observe(given), *ends, infos

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ANN401, ARG002 - Gymnasium's form
        """Let the threads go."""
        if self._threads is not None:
            self._threads.shutdown()
        self.reference.close()

    # --- For those who know the stepper

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """What is possible now: bool of shape `(num_envs, n)`; a fresh array."""
        return self._seen["action_mask"].astype(np.bool_)

    def sample_actions(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """An action for each lane that its mask allows, each choice with equal chances."""
        sizes = self._sizes if self._by_choices is False else self._sizes[:1]
        chances = rng.random((self.num_envs, len(sizes)))
        actions = np.zeros((self.num_envs, len(sizes)), np.int64)
        compiled(pick_each)(self._seen["action_mask"], sizes, chances, actions)
        return actions[:, 0] if self._by_choices else actions

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
        self._write_to(self._seen)
        ends, infos = self._step(lanes, actions)
        return self._observe(self._seen[lanes]), *ends, infos

    def snapshot(self, ids: Any = None) -> LanesSnapshot:  # noqa: ANN401 - any array of integers
        """Some lanes now, or all of them, for `restore`."""
        lanes = self._every if ids is None else self._lane_numbers(ids)
        return LanesSnapshot(
            self._arguments,
            tuple(each[lanes] for each in self._lane_records()),
            tuple(each[lanes] for each in self._lane_numbers_kept()),
        )

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
        for records, kept in zip(self._lane_records(), snapshot.records, strict=True):
            records[lanes] = kept
        for numbers, kept in zip(self._lane_numbers_kept(), snapshot.numbers, strict=True):
            numbers[lanes] = kept
        self._drawn[lanes] = -1
        if self._is_endless:
            self._plays["slot"][lanes] = lanes

    @property
    def lane_bytes(self) -> int:
        """What one lane takes: its state and the rows that it was shown, without observations and pool."""
        return self._plays.dtype.itemsize + self._lanes.dtype.itemsize

    @property
    def total_actions(self) -> int:
        """How many actions were carried out in all lanes since this environment was made."""
        return int(self._plays["total"].sum())

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]  # one for each lane
        """The seed of each lane."""
        return tuple(self._seeds)

    # --- The arrays

    def _make_arrays(self, size: int, words: Words) -> None:
        form, reference = self.reference.form, self.reference
        domain = reference.json_env.domain
        rows = domain.rows
        if rows is None:
            raise UsageError(_NO_STEPPER.format(f"The domain {domain.toolkit.schema.domain}"))
        as_rows = not is_compiling()

        def record(dtype: Any) -> np.dtype[Any]:  # noqa: ANN401 - what `numpy.dtype` takes
            return record_dtype(dtype, as_rows)

        def as_records(array: Records) -> Records:
            return array.view(record(array.dtype))

        def one(row: Row) -> Records:
            return as_records(np.array([row.values()], np.dtype(cast("Any", row.numpy_dtype()))))

        self._rows = rows
        self._pool = Pool(domain, rows, size, words, record)
        if not self._is_endless:
            self._pool.fill()
        seen = record(observation_dtype(reference.observations.boxes, len(form.names)))
        self._plays: Records = np.zeros(self.num_envs, record(Play.numpy_dtype()))
        self._lanes: Records = np.zeros(self.num_envs, record(rows.lane.numpy_dtype()))
        self._seen: Records = np.zeros(self.num_envs, seen)
        self._firsts: Records = np.zeros(size, seen)
        self._segments, self._reals, self._smalls = segments_of(reference.observations.boxes)
        self._every = np.arange(self.num_envs)
        layout = form.layout
        sizes = [len(layout.verbs), *(slot.choices for slot in layout.slots)]
        self._sizes = np.array([len(form.names)] if self._by_choices else sizes)
        rules = Rules(int(form.level == "policy"), reference.json_env.max_steps, reference.max_choices)
        shared = {
            "plays": self._plays,
            "lanes": self._lanes,
            "seen": self._seen,
            "errands": self._pool.errands,
            "starts": self._pool.starts,
            "given": self._seen,
            "firsts": self._firsts,
            "store": as_records(rows.store),
            "rules": one(rules),
        }
        self._arrays = [
            Lanes(
                **shared,
                play=np.zeros(1, self._plays.dtype),
                work=one(rows.work),
                table=as_records(layout_table(form, rows)),
            )
            for _ in range(self._workers)
        ]
        if not self._is_endless:
            self._show_firsts(np.arange(size))

    def _lane_records(self) -> tuple[Records, ...]:
        own = (self._plays, self._lanes, self._seen)
        return (*own, self._pool.errands, self._pool.starts) if self._is_endless else own

    def _lane_numbers_kept(self) -> tuple[npt.NDArray[Any], ...]:
        return self._keys, self._numbers, self._tasks

    # --- Episodes

    def _lanes_to_reset(self, mask: Any) -> Ids:  # noqa: ANN401 - whatever the caller gave
        if mask is None:
            return self._every
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

    def _seed(self, ids: Ids, seeds: list[int | None]) -> None:
        """Draw keys, as `ToolEnv` does, for lanes that are seeded or never were."""
        lanes = [lane for lane in ids.tolist() if seeds[lane] is not None or self._numbers[lane] < 0]
        drawn = [seeding.np_random(seeds[lane]) for lane in lanes]  # all, before any lane is changed
        for lane, (generator, seed) in zip(lanes, drawn, strict=True):
            self._keys[lane], self._seeds[lane] = generator.bit_generator.random_raw(), seed
            self._numbers[lane] = self._drawn[lane] = -1

    def _count_episodes(self, ids: Ids) -> None:
        self._numbers[ids] += 1

    def _draw_tasks(self, ids: Ids) -> Ids:
        """The tasks of the episodes of some lanes, drawn for some episodes ahead at once: it is quicker."""
        numbers = self._numbers[ids]
        if (numbers >> _AHEAD != self._drawn[ids]).any():
            count = len(self.reference.json_env.domain.tasks)
            self._drawn = self._numbers >> _AHEAD
            episodes = (self._drawn[:, None] << _AHEAD) + np.arange(1 << _AHEAD)
            self._ahead = draws_below(count, self._keys[:, None], episodes, TASK_DRAW)
        tasks: Ids = self._ahead[ids, numbers & ((1 << _AHEAD) - 1)]
        return tasks

    def _chosen_tasks(self, chosen: Any) -> Ids:  # noqa: ANN401 - whatever the caller gave
        tasks, count = _as_array(chosen), len(self.reference.json_env.domain.tasks)
        is_shaped = tasks.shape in ((), (self.num_envs,)) and tasks.dtype.kind in "iu"
        if not is_shaped or (tasks < 0).any() or (tasks >= count).any():
            raise UsageError(
                f"`task_index` is an int from 0 to {count - 1}, or one for each lane, not {chosen!r:.80}."
            )
        return np.broadcast_to(tasks.astype(np.int64), (self.num_envs,))

    def _begin(self, ids: Ids, tasks: Ids) -> None:
        self._tasks[ids] = tasks
        places = tasks
        if self._is_endless:
            self._pool.put(ids.tolist(), tasks.tolist())
            places = ids
            self._firsts[ids] = np.zeros((), self._firsts.dtype)
            self._show_firsts(ids)
        compiled(begin_all)(self._arrays[0], ids, places)

    def _show_firsts(self, places: Ids) -> None:
        show = self._rows.show_firsts
        if show not in self._compiled:
            with saying_when_slow(f"tool_envs: compiling {show.__module__}.{show.__name__}, once ..."):
                compiled(show)(self._arrays[0], places[:0], self._by_choices)
        compiled(show)(self._arrays[0], places, self._by_choices)

    def _step(self, ids: Ids, actions: Any) -> tuple[Ends, Infos]:  # noqa: ANN401 - whatever the caller gave
        self._require_open()
        ended = self._is_over(ids)
        if self.autoreset_mode is not AutoresetMode.NEXT_STEP:
            self._require_none_over(ids, ended)
            ended[:] = False
        running = ids[~ended] if ended.any() else ids
        self._require_started(ids)
        step = self._rows.run_choices if self._by_choices else self._rows.run_actions
        self._run(step, running, self._checked(ids, actions, ended))
        if len(running) < len(ids):
            self._restart(ids[ended])
        ends = self._ends(ids)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            over = ids[self._is_over(ids)]
            if len(over):
                return ends, self._end_and_restart(ids, over)
        return ends, self._infos(ids)

    def _end_and_restart(self, ids: Ids, over: Ids) -> Infos:
        final_obs = np.full(self.num_envs, None, object)
        for lane, observation in zip(over.tolist(), self._one_by_one(over), strict=True):
            final_obs[lane] = observation
        among = self._among(over)
        final = {"final_obs": final_obs, "_final_obs": among, "final_info": self._infos(over)}
        self._restart(over)
        return {**final, "_final_info": among.copy(), **self._infos(ids)}

    def _restart(self, ids: Ids) -> None:
        self._count_episodes(ids)
        self._begin(ids, self._draw_tasks(ids))

    def _is_over(self, ids: Ids) -> npt.NDArray[np.bool_]:
        plays = self._plays if ids is self._every else self._plays[ids]
        over: npt.NDArray[np.bool_] = (plays["terminated"] | plays["truncated"]).astype(np.bool_)
        return over

    def _ends(self, ids: Ids) -> Ends:
        """Rewards, terminations and truncations."""
        plays = self._plays if ids is self._every else self._plays[ids]
        return (
            plays["reward"].astype(np.float64),
            plays["terminated"].astype(np.bool_),
            plays["truncated"].astype(np.bool_),
        )

    def _run(self, function: Any, ids: Ids, values: Any) -> None:  # noqa: ANN401
        """Run a function over lanes, in parts where there are several threads."""
        ready = self._ready(function)
        if self._threads is None or len(ids) < 2 * self._workers:
            ready(self._arrays[0], ids, values)
            return
        parts = zip(
            self._arrays,
            np.array_split(ids, self._workers),
            np.array_split(values, self._workers),
            strict=True,
        )
        for each in [self._threads.submit(ready, *part) for part in parts]:
            each.result()

    def _ready(self, function: Any) -> Callable[..., None]:  # noqa: ANN401
        """A function of the domain, compiled: of the first call it is said when that takes long."""
        if function not in self._compiled:
            with saying_when_slow(
                f"tool_envs: compiling {function.__module__}.{function.__name__}, once ..."
            ):
                none = np.zeros(0, np.int64)
                values = none if self._by_choices else np.zeros((0, len(self._sizes)), np.int64)
                compiled(function)(self._arrays[0], none, values)
            self._compiled[function] = compiled(function)
        return self._compiled[function]

    # --- What is given back

    def _write_to(self, given: Records) -> Records:
        """Where observations are written to as well, until this is called again."""
        if self._arrays[0].given is not given:
            self._arrays = [arrays._replace(given=given) for arrays in self._arrays]
        return given

    def _observe(self, seen: Records) -> Observation:
        if not self._has_features:
            names = (*self.reference.observations.boxes, "action_mask")
            return {name: seen[name] for name in names}
        features = np.empty((len(seen), self._reals + self._smalls), np.float32)
        compiled(spread_all)(self._segments, *self._raw(seen), features)
        mask = seen["action_mask"]
        return {FEATURES: features, "action_mask": mask.copy() if self.copy else mask}

    def _raw(self, seen: Records) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """The int8 tables and the float32 tables of observations, each in a row."""
        size = seen.dtype.itemsize
        numbers = seen.view(np.uint8).reshape(len(seen), size)
        reals = numbers[:, : 4 * self._reals].view(np.float32)
        return numbers[:, 4 * self._reals : 4 * self._reals + self._smalls].view(np.int8), reals

    def _one_by_one(self, ids: Ids) -> list[Observation]:
        observations = self._observe(self._seen[ids])
        return [{name: table[k].copy() for name, table in observations.items()} for k in range(len(ids))]

    def _infos(self, ids: Ids) -> Infos:
        among = self._among(ids)
        values = {
            "steps": self._plays["steps"].astype(np.int64),
            "choices": self._plays["choices"].astype(np.int64),
            "success": self._plays["reward"].astype(np.float64),
            "task_index": self._tasks.copy(),
        }
        infos: Infos = {}
        for name, value in values.items():
            if len(ids) < self.num_envs:
                value[~among] = 0
            infos[name], infos[f"_{name}"] = value, among.copy()
        return infos

    def _among(self, ids: Ids) -> npt.NDArray[np.bool_]:
        among = np.zeros(self.num_envs, np.bool_)
        among[ids] = True
        return among

    # --- What is refused

    def _checked(self, ids: Ids, actions: Any, ended: npt.NDArray[np.bool_]) -> Ids:  # noqa: ANN401
        """The actions of the lanes that run."""
        shape = (len(ids),) if self._by_choices else (len(ids), len(self._sizes))
        given = _as_array(actions)
        if given.shape != shape or given.dtype.kind not in "iu":
            raise UsageError(
                f"Actions are integers of shape {shape}, not {given.dtype} of shape {given.shape}."
            )
        given = given[~ended] if ended.any() else given
        limits = self._sizes[0] if self._by_choices else self._sizes
        wrong = (given < 0) | (given >= limits)
        if wrong.any():
            bad = given[wrong if self._by_choices else wrong.any(axis=1)][0].tolist()
            most = (limits - 1).tolist()
            raise UsageError(f"An action is an integer from 0 to {most}, each in its dimension, not {bad}.")
        # Each kind of array would be compiled for itself.
        return np.require(given, np.int64, ("C", "W"))

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
        if (self._numbers[ids] < 0).any():
            raise EpisodeEndedError("There is no episode yet. Call `reset` before `step`.")

    def _require_none_over(self, ids: Ids, over: npt.NDArray[np.bool_]) -> None:
        if over.any():
            raise EpisodeEndedError(
                f"The episodes of the lanes {ids[over].tolist()} are over. Start new ones with "
                '`reset(options={"reset_mask": ...})`.'
            )

    def _require_open(self) -> None:
        if self.closed:
            raise UsageError("This vector environment is closed. Make another one.")


def draws_below(n: int, keys: npt.NDArray[np.uint64], episodes: Ids, k: int) -> Ids:
    """`tool_envs.randomness.draw_below(n, key, episode, 0, k)` for many keys and episodes.

    Args:
        n: At most 2**32.
        keys: Of any shape.
        episodes: Of one that goes with it.
        k: Number of the draw.
    """
    state: Any = np.uint64(0)
    for part in (keys, episodes.astype(np.uint64), np.uint64(0), np.uint64(k)):
        state = state + np.uint64(0x9E3779B97F4A7C15) + part
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    # (state * n) >> 64, in halves.
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    carried = (state & low) * np.uint64(n) >> half
    drawn: Ids = (((state >> half) * np.uint64(n) + carried) >> half).astype(np.int64)
    return drawn


def _as_array(given: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - whatever the caller gave
    """It as an array; what cannot be one, since its parts differ in length, as one of an object."""
    try:
        return np.asarray(given)
    except ValueError:
        return np.array(None)


def _require_arguments(env_id: str, options: Iterable[str]) -> None:
    """Require that a JSON view knows its arguments."""
    entry = gymnasium.spec(env_id).entry_point
    creator: Any = load_env_creator(entry) if isinstance(entry, str) else entry
    known = list(inspect.signature(creator).parameters)
    if "pool_size" not in known:
        raise UsageError(_NO_STEPPER.format(env_id))
    for name in options:
        if name not in known:
            raise UnknownNameError(f"argument of {env_id}", name, known)


def _require_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"`{name}` is a number of at least 1, not {value!r}.")
