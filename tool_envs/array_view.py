"""What a domain supplies for the array view: how choices stand for actions, and what is seen, as arrays.

An action is built of choices. The first says what is done, a *verb*: a call of a tool, the proposal of a
call, a question, another thing to say. Each *slot* of the verb demands one more: which order, which item.
`tool_envs.arrays` makes verbs and slots of a tool schema and an arrays document; a domain's `SceneView`
knows at each moment which choices are possible, what they stand for, and what was shown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tool_envs.episode import Episode
from tool_envs.messages import Json, Message

Level: TypeAlias = Literal["policy", "schema"]
"""What masks allow: what is of use under the rules as far as was shown, or whatever can be expressed."""

Kind: TypeAlias = Literal["call", "propose", "ask", "speech"]

Mask: TypeAlias = npt.NDArray[np.bool_]
"""Of shape (choices,)."""

Table: TypeAlias = npt.NDArray[np.int8] | npt.NDArray[np.float32]

SKIPPED = -1
"""Stands in `chosen` for a slot that there is nothing to choose for."""


class Slot(NamedTuple):
    """One choice that a verb demands.

    Attributes:
        name: Unique among the slots of a layout: `order_id`, `item_ids[1]`. Of a parameter with several
            names in the versions of a schema it is the first, so that it is the same for all of them.
        width: How many things can be chosen: rows of the table, or values.
        optional: There is one choice more, with the index `width`: "no more".
        parameter: The schema's parameter that is filled, by its name in this version.
        source: The table whose rows, or the parameter whose values are chosen from.
        values: The values, where they are values; else empty.
        place: Which of the values of an array parameter; -1: the parameter is no array.
        needs: Name of the slot before without which there is none; skipped when that one is, or said "no
            more". Empty: always there.
    """

    name: str
    width: int
    optional: bool = False
    parameter: str = ""
    source: str = ""
    values: tuple[Json, ...] = ()
    place: int = -1
    needs: str = ""

    @property
    def choices(self) -> int:
        """How many indexes can be chosen, "no more" among them."""
        return self.width + self.optional

    @property
    def labels(self) -> tuple[str, ...]:
        """What each choice is called: its row, its value, or "no more"."""
        return (*map(str, self.values or range(self.width)), *["no more"] * self.optional)

    def ends(self, choice: int) -> bool:
        """Whether a choice means that there is nothing here: skipped, or "no more"."""
        return choice == SKIPPED or choice == self.width


class Told(NamedTuple):
    """A parameter that is filled with what the user told.

    Attributes:
        parameter: Its name in this version of the schema.
        name: The first of its names in all versions.
        slot: What the user must have told.
    """

    parameter: str
    name: str
    slot: str


class Verb(NamedTuple):
    """What an action does.

    Attributes:
        name: Unique: the tool's name, `propose_<tool>`, `ask_<slot>`, or what the arrays document calls it.
        kind: Call a tool, propose a call of it, ask for a slot, or say another thing.
        tool: The tool called or proposed; else empty.
        slots: The choices that it demands, in order.
        asked: The slot asked for; else empty.
        told: Parameters of the tool that are filled with what the user told.
        fixed: Parameters of the tool that have one value.
    """

    name: str
    kind: Kind
    tool: str = ""
    slots: tuple[Slot, ...] = ()
    asked: str = ""
    told: tuple[Told, ...] = ()
    fixed: Mapping[str, Json] = {}


@dataclass(frozen=True)
class Layout:
    """All verbs of one schema version, in the order in which choices count them.

    Attributes:
        verbs: Calls in the schema's order, proposals, questions, other speech.
        slots: Their slots, each once.
    """

    verbs: tuple[Verb, ...]
    slots: tuple[Slot, ...]


class SceneView(Protocol):
    """One episode: what was shown, what can be chosen. A function of what `saw` was given, and no more."""

    def allowed(self, level: Level, verb: int, chosen: tuple[int, ...]) -> Mask:
        """What can be chosen next: verbs when `verb` is -1, else for the slot number `len(chosen)`.

        Exact: each True can be completed to an allowed action, and there is always one.

        Args:
            level: What counts as allowed. What `policy` allows, `schema` allows.
            verb: Number of the verb that was chosen, or -1.
            chosen: For each of its slots so far the index chosen, or `SKIPPED`; all of them allowed.
        """

    def possible(self, level: Level, verb: int) -> tuple[Mask, ...]:
        """For each slot of an allowed verb all choices that some allowed action has there.

        `reachable` finds them by trying everything.
        """

    def value(self, verb: int, chosen: tuple[int, ...]) -> Json:
        """What the last of `chosen` stands for, as an argument of a call: an id, a value."""

    def action(self, verb: int, chosen: tuple[int, ...]) -> Json:
        """The action of the JSON view that an action allowed at the level `schema` stands for.

        A call, or `respond` with words that the user's understanding reads back exactly.
        """

    def saw(self, action: Json, messages: Sequence[Message]) -> None:
        """Take in what came of an action: the new messages, the agent's own first.

        The first time `action` is None, and there is the user's opening alone. Acts of users may be used as
        far as their words say them.
        """

    def tables(self) -> dict[str, Table]:
        """What was shown, as fresh arrays: int8 of 0 and 1, or float32 from -1 to 1."""

    def describe(self) -> str:
        """What was shown, as text with ids."""


class ArrayView(Protocol):
    """One domain under one schema version."""

    @property
    def document(self) -> Json:
        """The arrays document (see `tool_envs.schema.load_arrays`)."""

    @property
    def shapes(self) -> Mapping[str, tuple[tuple[int, ...], Literal["int8", "float32"]]]:
        """Name of a table -> its shape and dtype. No table is called `items`."""

    @property
    def fields(self) -> Mapping[str, tuple[str, ...]]:
        """Name of a table -> what stands along its last axis."""

    def scene(self, episode: Episode, layout: Layout) -> SceneView:
        """The scene of an episode that is about to be shown; nothing was seen yet."""


def skip(verb: Verb, chosen: tuple[int, ...]) -> tuple[int, ...]:
    """`chosen`, and `SKIPPED` for the slots after it that there is nothing to choose for."""
    names = [slot.name for slot in verb.slots]
    for slot in verb.slots[len(chosen) :]:
        needed = names.index(slot.needs) if slot.needs else -1
        if needed < 0 or not verb.slots[needed].ends(chosen[needed]):
            break
        chosen = (*chosen, SKIPPED)
    return chosen


def completions(scene: SceneView, level: Level, verb: int, of: Verb) -> Iterator[tuple[int, ...]]:
    """All allowed actions of an allowed verb, by trying all choices.

    Args:
        scene: Now.
        level: What counts as allowed.
        verb: The verb's number.
        of: The verb.
    """
    begun = [skip(of, ())]
    while begun:
        chosen = begun.pop()
        if len(chosen) == len(of.slots):
            yield chosen
        else:
            choices = np.flatnonzero(scene.allowed(level, verb, chosen))
            begun += [skip(of, (*chosen, int(choice))) for choice in choices]


def reachable(scene: SceneView, level: Level, verb: int, of: Verb) -> tuple[Mask, ...]:
    """What `SceneView.possible` gives, by trying all choices; arguments as of `completions`."""
    masks = tuple(np.zeros(slot.choices, np.bool_) for slot in of.slots)
    for chosen in completions(scene, level, verb, of):
        for mask, choice in zip(masks, chosen, strict=True):
            if choice != SKIPPED:
                mask[choice] = True
    return masks


def call_arguments(
    verb: Verb,
    chosen: Sequence[int],
    value: Callable[[Slot, int], Json],
    told: Callable[[Told], Json],
) -> dict[str, Json]:
    """The arguments of the call that a completed verb makes or proposes.

    Args:
        verb: A call or a proposal.
        chosen: For each slot the index chosen, or `SKIPPED`.
        value: What a choice of a slot stands for; not asked where the schema has the values.
        told: What the user told of a parameter.
    """
    arguments = {**verb.fixed, **{each.parameter: told(each) for each in verb.told}}
    for slot, choice in zip(verb.slots, chosen, strict=True):
        if slot.ends(choice):
            continue
        worth = slot.values[choice] if slot.values else value(slot, choice)
        if slot.place < 0:
            arguments[slot.parameter] = worth
        else:
            arguments.setdefault(slot.parameter, []).append(worth)
    return arguments
