"""The two forms of actions: one choice at a time, or all choices at once."""

import abc
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete, MultiDiscrete, Space

from tool_envs.array_view import SKIPPED, Layout, Level, Mask, SceneView, Verb, skip
from tool_envs.errors import UsageError
from tool_envs.json_values import shown

A = TypeVar("A", int, tuple[int, ...])


class Partial(NamedTuple):
    """The choices of an action so far.

    Attributes:
        verb: Number of the verb; -1: none was chosen yet.
        chosen: For each of its slots so far the index chosen, or `SKIPPED`.
    """

    verb: int = -1
    chosen: tuple[int, ...] = ()


NOTHING = Partial()


class Form(abc.ABC, Generic[A]):
    """How actions are arrays. It holds nothing of an episode.

    Attributes:
        space: The action space.
        names: What each index of a mask stands for.
        partial_names: What each field of `partial` stands for; empty: no action is ever half made.
    """

    space: Space[Any]
    names: tuple[str, ...]
    partial_names: tuple[str, ...]

    def __init__(self, layout: Layout, level: Level) -> None:
        self.layout, self.level = layout, level

    @abc.abstractmethod
    def read(self, action: object) -> A:
        """The action as plain integers.

        Raises:
            UsageError: It has another type, shape or range than the space; the message says which.
        """

    @abc.abstractmethod
    def mask(self, scene: SceneView, partial: Partial) -> Mask:
        """What can be chosen now: a fresh array of shape (number of `names`,)."""

    @abc.abstractmethod
    def take(self, scene: SceneView, partial: Partial, mask: Mask, action: A) -> Partial | None:
        """The choices after an action; None when it cannot be taken.

        Args:
            scene: Now.
            partial: The choices before.
            mask: What `mask` gives for these.
            action: What `read` gave.
        """

    @abc.abstractmethod
    def partial(self, partial: Partial) -> npt.NDArray[np.int8]:
        """The choices so far as 0 and 1, of shape (number of `partial_names`,)."""

    @abc.abstractmethod
    def name(self, action: A) -> str:
        """What an action is called, whether it can be taken or not."""

    @abc.abstractmethod
    def sample_mask(self, mask: Mask) -> Any:  # noqa: ANN401 - each space has its own form of it
        """A mask as the method `sample` of the space takes it."""

    def verb(self, partial: Partial) -> Verb:
        """The verb of an action that was begun."""
        return self.layout.verbs[partial.verb]

    def is_whole(self, partial: Partial) -> bool:
        """Whether all choices of an action are made."""
        return partial.verb >= 0 and len(partial.chosen) == len(self.verb(partial).slots)

    def _allowed(self, scene: SceneView, partial: Partial) -> Mask:
        """The domain's mask of the next choice."""
        allowed = scene.allowed(self.level, *partial)
        if not allowed.any():
            raise UsageError(
                f"The scene allows nothing after {partial}; a scene must always allow something."
            )
        return allowed


class SequentialForm(Form[int]):
    """One choice a step, `Discrete(n)`: first the verb, then each of its slots.

    The verbs come first; then each table and each parameter with values has its own indexes, with a last one
    for "no more" where a slot of it has that. So an index means the same thing at all times.

    `partial` has fields for what can stand in an action that is half made: verbs that demand a choice, and
    the choices of slots that others follow.

    Attributes:
        sources: Name of a table, or of a parameter with values -> the index of its first choice.
        fields: Name of a verb or a slot -> its first field in `partial`.
    """

    def __init__(self, layout: Layout, level: Level) -> None:
        super().__init__(layout, level)
        names = [verb.name for verb in layout.verbs]
        widest = {slot.source: slot for slot in sorted(layout.slots, key=lambda slot: slot.choices)}
        self.sources: dict[str, int] = {}
        for source in dict.fromkeys(slot.source for slot in layout.slots):
            self.sources[source] = len(names)
            names += [f"{source} {label}" for label in widest[source].labels]
        self.names = tuple(names)
        self.partial_names, self.fields = _halves(layout)
        self.space = Discrete(len(names))

    def read(self, action: object) -> int:
        """As `Form.read`: a Python or numpy integer, or an array of one without dimensions."""
        value = action[()] if isinstance(action, np.ndarray) and action.shape == () else action
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise UsageError(f"An action is one integer, such as numpy.int64(3), not {_kind(action)}.")
        if not 0 <= value < len(self.names):
            largest = len(self.names) - 1
            raise UsageError(f"An action is an integer from 0 to {largest}, not {shown(int(value))}.")
        return int(value)

    def mask(self, scene: SceneView, partial: Partial) -> Mask:
        """As `Form.mask`; exact: what it allows can be completed to an allowed action."""
        mask = np.zeros(len(self.names), np.bool_)
        allowed, start = self._allowed(scene, partial), self._start(partial)
        mask[start : start + len(allowed)] = allowed
        return mask

    def take(self, scene: SceneView, partial: Partial, mask: Mask, action: int) -> Partial | None:  # noqa: ARG002
        """As `Form.take`; whatever the mask allows can be taken."""
        if not mask[action]:
            return None
        if partial.verb < 0:
            return Partial(action, skip(self.layout.verbs[action], ()))
        chosen = (*partial.chosen, action - self._start(partial))
        return Partial(partial.verb, skip(self.verb(partial), chosen))

    def partial(self, partial: Partial) -> npt.NDArray[np.int8]:
        """As `Form.partial`: one-hot of the verb, and of the choice for each slot."""
        fields = np.zeros(len(self.partial_names), np.int8)
        if partial.verb >= 0:
            fields[self.fields[self.verb(partial).name]] = 1
            for slot, choice in zip(self.verb(partial).slots, partial.chosen, strict=False):
                if choice != SKIPPED:
                    fields[self.fields[slot.name] + choice] = 1
        return fields

    def name(self, action: int) -> str:
        """As `Form.name`."""
        return self.names[action]

    def sample_mask(self, mask: Mask) -> npt.NDArray[np.int8]:
        """As `Form.sample_mask`: int8 of shape (n,)."""
        return mask.astype(np.int8)

    def _start(self, partial: Partial) -> int:
        """The first index of the next choice."""
        if partial.verb < 0:
            return 0
        return self.sources[self.verb(partial).slots[len(partial.chosen)].source]


class MultidiscreteForm(Form[tuple[int, ...]]):
    """A whole action a step, `MultiDiscrete([verbs, choices of the first slot of the layout, ...])`.

    A verb reads the dimensions of its own slots alone. The mask has for each dimension what is possible there
    in some allowed action, or index 0 where that is nothing. What is possible by itself may not be possible
    together; it is carried out all the same when it can be expressed.

    Attributes:
        starts: Name of a slot -> where its choices begin among the names.
    """

    partial_names = ()

    def __init__(self, layout: Layout, level: Level) -> None:
        super().__init__(layout, level)
        self.names, self.starts = _all_choices(layout)
        self._dimensions = {slot.name: number for number, slot in enumerate(layout.slots, 1)}
        self._sizes = np.array([len(layout.verbs), *(slot.choices for slot in layout.slots)])
        self.space = MultiDiscrete(self._sizes)

    def read(self, action: object) -> tuple[int, ...]:
        """As `Form.read`: an array of integers, a list or a tuple."""
        sizes = self._sizes
        try:
            values = np.asarray(action if isinstance(action, np.ndarray | list | tuple) else None)
        except ValueError:  # ragged
            values = np.asarray(None)
        if values.shape != sizes.shape or values.dtype.kind not in "iu":
            raise UsageError(f"An action is an array of {len(sizes)} integers, not {_kind(action)}.")
        if (values < 0).any() or (values >= sizes).any():
            raise UsageError(
                f"An action has integers from 0 to below {sizes.tolist()}, each in its dimension, not "
                f"{values.tolist()}."
            )
        return tuple(values.tolist())

    def mask(self, scene: SceneView, partial: Partial) -> Mask:
        """As `Form.mask`: for each dimension what is possible there in some allowed action."""
        mask = np.zeros(len(self.names), np.bool_)
        allowed = self._allowed(scene, partial)
        mask[: len(allowed)] = allowed
        for number in np.flatnonzero(allowed).tolist():
            possible = scene.possible(self.level, number)
            for slot, choices in zip(self.layout.verbs[number].slots, possible, strict=True):
                start = self.starts[slot.name]
                mask[start : start + slot.choices] |= choices
        for slot in self.layout.slots:
            start = self.starts[slot.name]
            mask[start] |= not mask[start : start + slot.choices].any()
        return mask

    def take(
        self,
        scene: SceneView,
        partial: Partial,  # noqa: ARG002 - no action is ever half made
        mask: Mask,
        action: tuple[int, ...],
    ) -> Partial | None:
        """As `Form.take`: each choice must be in the mask, and all together must be expressible."""
        number = action[0]
        if not mask[number]:
            return None
        verb = self.layout.verbs[number]
        chosen = skip(verb, ())
        while len(chosen) < len(verb.slots):
            slot = verb.slots[len(chosen)]
            choice = action[self._dimensions[slot.name]]
            expressible = scene.allowed("schema", number, chosen)
            if not (mask[self.starts[slot.name] + choice] and expressible[choice]):
                return None
            chosen = skip(verb, (*chosen, choice))
        return Partial(number, chosen)

    def partial(self, partial: Partial) -> npt.NDArray[np.int8]:  # noqa: ARG002 - no action is ever half made
        """As `Form.partial`: empty."""
        return np.zeros(0, np.int8)

    def name(self, action: tuple[int, ...]) -> str:
        """As `Form.name`: the verb, and what stands in the dimensions of its slots."""
        verb = self.layout.verbs[action[0]]
        choices = [
            self.names[self.starts[slot.name] + action[self._dimensions[slot.name]]] for slot in verb.slots
        ]
        return ", ".join([verb.name, *choices])

    def sample_mask(self, mask: Mask) -> tuple[npt.NDArray[np.int8], ...]:
        """As `Form.sample_mask`: a tuple of int8 arrays, one for each dimension."""
        return tuple(np.split(mask.astype(np.int8), list(self.starts.values())))


FORMS: dict[str, type[SequentialForm] | type[MultidiscreteForm]] = {
    "sequential": SequentialForm,
    "multidiscrete": MultidiscreteForm,
}
"""By the name that `action_form=` takes."""


def _all_choices(layout: Layout) -> tuple[tuple[str, ...], dict[str, int]]:
    """The names of all verbs and of all choices of all slots; and where those of each slot begin."""
    names = [verb.name for verb in layout.verbs]
    starts = {}
    for slot in layout.slots:
        starts[slot.name] = len(names)
        names += [f"{slot.name} {label}" for label in slot.labels]
    return tuple(names), starts


def _halves(layout: Layout) -> tuple[tuple[str, ...], dict[str, int]]:
    """What can stand in an action that is half made: the names of the fields, and where each thing begins."""
    followed = dict.fromkeys(slot for verb in layout.verbs for slot in verb.slots[:-1])
    names: list[str] = []
    fields: dict[str, int] = {}
    for verb in layout.verbs:
        if verb.slots:
            fields[verb.name] = len(names)
            names.append(verb.name)
    for slot in followed:
        fields[slot.name] = len(names)
        names += [f"{slot.name} {label}" for label in slot.labels]
    return tuple(names), fields


def _kind(action: object) -> str:
    if isinstance(action, np.ndarray | np.generic):
        return f"{action.dtype} of shape {action.shape}"
    return shown(action)
