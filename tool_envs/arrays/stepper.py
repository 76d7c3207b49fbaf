"""The rows of many lanes and what runs them: the compiled part of the vectorized array view."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tool_envs.array_rows import OUTCOME, Lanes, Play, Rules
from tool_envs.arrays.compiled import compiled, is_compiling, saying_when_slow
from tool_envs.arrays.env import ArrayEnv
from tool_envs.arrays.forms import SequentialForm
from tool_envs.arrays.lanes import begin_all, draw_each, pick_each, spread_all
from tool_envs.arrays.observations import ACTION_MASK, FEATURES, FeatureObservations, Observation
from tool_envs.arrays.pool import Pool, Records, Words
from tool_envs.arrays.tables import layout_table, observation_dtype, record_dtype, segments_of
from tool_envs.errors import UsageError
from tool_envs.rows import Row

Ids = npt.NDArray[np.int64]
"""Numbers of lanes."""
SPARE = 3
"""Most arrays of observations that are kept to be given again."""
_PROBE = [object()]
_UNHELD = sys.getrefcount(_PROBE[0])
"""References that are counted to what a list alone holds."""
NO_STEPPER = '{} has no compiled stepper; run single ones by `vectorization_mode="sync"`.'


class Stepper:
    """Many lanes of an array view. It checks nothing that it is given.

    Args:
        reference: One environment of the kind.
        lanes: How many.
        pool_size: How many tasks are made once; None: a task is made when it is needed.
        words: As of `Pool`.
        threads: How many share the lanes.
        restarts: Whether `take` starts the next episode of a lane whose episode is over.

    Attributes:
        every: Numbers of all lanes.
        seen: Observations as records.
        sizes: How many choices each dimension of an action has.

    Raises:
        UsageError: The domain has no compiled stepper.
    """

    def __init__(
        self,
        reference: ArrayEnv,
        lanes: int,
        pool_size: int | None,
        words: Words,
        threads: int,
        restarts: bool,
    ) -> None:
        form, domain = reference.form, reference.json_env.domain
        if domain.rows is None:
            raise UsageError(NO_STEPPER.format(f"The domain {domain.toolkit.schema.domain}"))
        rows, as_rows = domain.rows, not is_compiling()

        def record(dtype: Any) -> np.dtype[Any]:  # noqa: ANN401 - what `numpy.dtype` takes
            return record_dtype(dtype, as_rows)

        def as_records(array: Records) -> Records:
            return array.view(record(array.dtype))

        self.every = np.arange(lanes)
        self._rows, self._is_endless = rows, pool_size is None
        self._restarts = restarts
        self._pool = Pool(domain, rows, lanes if pool_size is None else pool_size, words, record)
        if not self._is_endless:
            self._pool.fill()
        boxes, layout = reference.observations.boxes, form.layout
        seen = record(observation_dtype(boxes, len(form.names)))
        self._plays: Records = np.zeros(lanes, record(Play.numpy_dtype()))
        self._plays["number"] = -1
        self._outcome = record(np.dtype([*OUTCOME], align=True))
        self._lanes: Records = np.zeros(lanes, record(rows.lane.numpy_dtype()))
        self.seen: Records = np.zeros(lanes, seen)
        self._given: list[Records] = []
        self._firsts: Records = np.zeros(len(self._pool.errands), seen)
        self._names = (*boxes, ACTION_MASK)
        self._has_features = isinstance(reference.observations, FeatureObservations)
        self._segments, self._reals, self._smalls = segments_of(boxes)
        self._by_choices = isinstance(form, SequentialForm)
        sizes = [len(layout.verbs), *(slot.choices for slot in layout.slots)]
        self.sizes = np.array([len(form.names)] if self._by_choices else sizes, np.uint64)
        rules = Rules(
            policy=int(form.level == "policy"),
            max_steps=reference.json_env.max_steps,
            max_choices=reference.max_choices,
            tasks=len(domain.tasks),
            restarts=int(restarts and not self._is_endless),
        )
        store, table = as_records(rows.store), as_records(layout_table(form, rows))
        self._arrays = [self._lanes_of_thread(rules, store, table, as_records) for _ in range(threads)]
        self._threads = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._ready: dict[Any, Callable[..., None]] = {}
        if not self._is_endless:
            self._show_firsts(np.arange(len(self._pool.errands)))

    def _lanes_of_thread(
        self, rules: Rules, store: Records, table: Records, as_records: Callable[[Records], Records]
    ) -> Lanes:
        """All lanes, with room to work in for one thread alone."""

        def one(row: Row) -> Records:
            return as_records(np.array([row.values()], np.dtype(cast("Any", row.numpy_dtype()))))

        return Lanes(
            plays=self._plays,
            given=self.seen,
            outcomes=np.zeros(len(self.every), self._outcome),
            play=np.zeros(1, self._plays.dtype),
            lanes=self._lanes,
            seen=self.seen,
            work=one(self._rows.work),
            errands=self._pool.errands,
            starts=self._pool.starts,
            firsts=self._firsts,
            store=store,
            rules=one(rules),
            table=table.copy(),
        )

    @property
    def lane_bytes(self) -> int:
        """What one lane takes: its state and the rows that it was shown, without observations and pool."""
        return self._plays.dtype.itemsize + self._lanes.dtype.itemsize

    @property
    def plays(self) -> Records:
        """`tool_envs.array_rows.Play`, one for each lane."""
        return self._plays

    def records(self) -> tuple[Records, ...]:
        """All rows of the lanes: what a snapshot copies."""
        own = (self._plays, self._lanes, self.seen)
        return (*own, self._pool.errands, self._pool.starts) if self._is_endless else own

    def moved(self, ids: Ids) -> None:
        """Take note that the rows of lanes came from others."""
        if self._is_endless:
            self._plays["slot"][ids] = ids

    def close(self) -> None:
        """Let the threads go."""
        if self._threads is not None:
            self._threads.shutdown()

    # --- Episodes

    def seed(self, lane: int, key: int) -> None:
        """Give a lane another key; its episodes are counted from 0."""
        self._plays["key"][lane], self._plays["number"][lane] = key, -1

    def have_begun(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Whether each of some lanes has had an episode."""
        numbers = self._plays["number"]
        begun: npt.NDArray[np.bool_] = (numbers if ids is self.every else numbers[ids]) >= 0
        return begun

    def is_over(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Whether the episodes of some lanes have ended."""
        plays = self._plays if ids is self.every else self._plays[ids]
        over: npt.NDArray[np.bool_] = (plays["terminated"] | plays["truncated"]).astype(np.bool_)
        return over

    def begin(self, ids: Ids, tasks: Ids | None = None) -> None:
        """Start the next episode in some lanes: with the task that is drawn for it, or with the one given."""
        compiled(draw_each)(self._arrays[0], ids)
        if tasks is not None:
            self._plays["task"][ids] = tasks
        places = self._plays["task"][ids]
        if self._is_endless:
            self._pool.put(ids.tolist(), places.tolist())
            places = ids
            self._firsts[ids] = np.zeros((), self._firsts.dtype)
            self._show_firsts(ids)
        compiled(begin_all)(self._arrays[0], ids, places)

    def take(self, ids: Ids, actions: npt.NDArray[np.int64]) -> None:
        """A step of some lanes; in parts where there are threads."""
        if self._restarts and self._is_endless:
            over = self.is_over(ids)
            if over.any():
                self.begin(ids[over])
                ids, actions = ids[~over], actions[~over]
        run = self._rows.run_choices if self._by_choices else self._rows.run_actions
        ready = self._compiled(run, ids[:0], actions[:0])
        if self._threads is None or len(ids) < 2 * len(self._arrays):
            ready(self._arrays[0], ids, actions)
            return
        count = len(self._arrays)
        own, *others = zip(
            self._arrays, np.array_split(ids, count), np.array_split(actions, count), strict=True
        )
        running = [self._threads.submit(ready, *part) for part in others]
        ready(*own)
        for each in running:
            each.result()

    def sample(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """An action for each lane that its mask allows, each choice with equal chances."""
        chances = rng.random((len(self.every), len(self.sizes)))
        actions = np.zeros(chances.shape, np.int64)
        compiled(pick_each)(self.seen[ACTION_MASK], self.sizes, chances, actions)
        return actions[:, 0] if self._by_choices else actions

    def _show_firsts(self, places: Ids) -> None:
        show = self._rows.show_firsts
        self._compiled(show, places[:0], self._by_choices)(self._arrays[0], places, self._by_choices)

    def _compiled(self, function: Any, *nothing: Any) -> Callable[..., None]:  # noqa: ANN401
        """A function of the domain, compiled by a call with nothing to do, which says so when it is slow."""
        if function not in self._ready:
            name = f"{function.__module__}.{function.__name__}"
            with saying_when_slow(f"tool_envs: compiling {name}, once ..."):
                compiled(function)(self._arrays[0], *nothing)
            self._ready[function] = _entry_point(compiled(function), (self._arrays[0], *nothing))
        return self._ready[function]

    # --- Observations

    def write_to(self, given: Records, all_steps: bool = False) -> tuple[Records, Records]:
        """Where observations are written to as well, and outcomes, until this is called again.

        Outcomes are 0 at first, but for `all_steps`: then all lanes are about to take a step.
        """
        filled = all_steps and not self._is_endless
        outcomes = (np.empty if filled else np.zeros)(len(self.every), self._outcome)
        self._arrays = [arrays._replace(given=given, outcomes=outcomes) for arrays in self._arrays]
        return given, outcomes

    def fresh(self) -> Records:
        """Room for observations that are given away; where features are made of them, none is needed.

        What was given before and nobody holds any more, nor a view of it, is given again: the system gives
        fresh memory page by page, which takes longer than to fill it.
        """
        if self._has_features:
            return self.seen
        for number in range(len(self._given)):
            if sys.getrefcount(self._given[number]) == _UNHELD:
                return self._given[number]
        self._given = [*self._given, np.empty_like(self.seen)][-SPARE:]
        return self._given[-1]

    def observe(self, seen: Records, copy: bool) -> Observation:
        """Observations of records.

        Args:
            seen: The records.
            copy: Whether nothing of what is given may be changed by a later call, where `seen` may be.
        """
        if not self._has_features:
            return {name: seen[name] for name in self._names}
        features = np.empty((len(seen), self._reals + self._smalls), np.float32)
        compiled(spread_all)(self._segments, *self._raw(seen), features)
        mask = seen[ACTION_MASK]
        return {FEATURES: features, ACTION_MASK: mask.copy() if copy else mask}

    def _raw(self, seen: Records) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """The int8 tables and the float32 tables of observations, each in a row."""
        size = seen.dtype.itemsize
        numbers = seen.view(np.uint8).reshape(len(seen), size)
        reals = numbers[:, : 4 * self._reals].view(np.float32)
        return numbers[:, 4 * self._reals : 4 * self._reals + self._smalls].view(np.int8), reals


def _entry_point(function: Any, arguments: tuple[Any, ...]) -> Callable[..., None]:  # noqa: ANN401 - numba's
    """What a compiled function comes to for such arguments, whose types are not looked at each time."""
    if not is_compiling():
        return cast("Callable[..., None]", function)
    types = tuple(function.typeof_pyval(each) for each in arguments)
    entry: Callable[..., None] = function.overloads[types].entry_point
    return entry
