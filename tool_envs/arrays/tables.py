"""Layouts and observations as structured arrays: what the compiled stepper reads and writes."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box

from tool_envs.array_rows import MAX_SLOTS, RowView, SlotForm, VerbForm
from tool_envs.array_view import Slot, Verb
from tool_envs.arrays.forms import Form, MultidiscreteForm, SequentialForm
from tool_envs.errors import UsageError


def layout_table(form: Form[Any], rows: RowView) -> npt.NDArray[np.void]:
    """A layout as an array of one `tool_envs.array_rows.Table`.

    Raises:
        UsageError: A verb has too many slots.
    """
    verbs = [_verb_form(verb, form, rows) for verb in form.layout.verbs]
    slots = [_slot_form(slot, (), form, rows) for slot in form.layout.slots]
    widest = max([1, *(slot.choices for slot in slots)])
    dtype: Any = {
        "names": ["codes", "tools", "verbs", "slots", "one", "some"],
        "formats": [
            ("int16", len(verbs)),
            ("int16", len(verbs)),
            (VerbForm.numpy_dtype(), len(verbs)),
            (SlotForm.numpy_dtype(), len(slots)),
            ("int8", widest),
            ("int8", widest),
        ],
        "aligned": True,
    }
    room = [0] * widest
    row = (
        [verb.code for verb in verbs],
        [verb.tool for verb in verbs],
        [verb.values() for verb in verbs],
        [slot.values() for slot in slots],
        room,
        room,
    )
    table: npt.NDArray[np.void] = np.array([row], np.dtype(dtype))
    return table


def _verb_form(verb: Verb, form: Form[Any], rows: RowView) -> VerbForm:
    if len(verb.slots) > MAX_SLOTS:
        raise UsageError(f"{verb.name} has {len(verb.slots)} slots; at most {MAX_SLOTS} can be compiled.")
    code, tool = rows.verb(verb)
    slots = [_slot_form(slot, verb.slots, form, rows) for slot in verb.slots]
    behind = [SlotForm(0, 0, 0, 0, -1, 0, 0, 0)] * (MAX_SLOTS - len(slots))
    field = form.fields.get(verb.name, -1) if isinstance(form, SequentialForm) else -1
    return VerbForm(code, tool, field, len(slots), slots + behind)


def _slot_form(slot: Slot, before: tuple[Slot, ...], form: Form[Any], rows: RowView) -> SlotForm:
    role, place = rows.slot(slot)
    names = [each.name for each in before]
    return SlotForm(
        role=role,
        place=place,
        width=slot.width,
        choices=slot.choices,
        needs=names.index(slot.needs) if slot.needs and names else -1,
        source=form.sources[slot.source] if isinstance(form, SequentialForm) else -1,
        start=_start(slot, form),
        dimension=1 + form.layout.slots.index(slot),
    )


def _start(slot: Slot, form: Form[Any]) -> int:
    """Where the choices of a slot begin: in `partial`, or -1; in the form `multidiscrete` in the mask."""
    if isinstance(form, MultidiscreteForm):
        return form.starts[slot.name]
    return form.fields.get(slot.name, -1) if isinstance(form, SequentialForm) else -1


def observation_dtype(boxes: Mapping[str, Box], choices: int) -> np.dtype[Any]:
    """One observation as a record: float32 tables, int8 tables, then the mask, each in their order.

    Args:
        boxes: Name of a table -> its space.
        choices: Length of the mask.
    """
    real = [(name, box.dtype, box.shape) for name, box in boxes.items() if box.dtype == np.float32]
    small = [(name, box.dtype, box.shape) for name, box in boxes.items() if box.dtype == np.int8]
    return np.dtype([*real, *small, ("action_mask", np.int8, (choices,))], align=True)


def segments_of(boxes: Mapping[str, Box]) -> tuple[npt.NDArray[np.int64], int, int]:
    """Where each table stands in a record of `observation_dtype`, for `tool_envs.array_steps.spread`.

    Returns:
        The segments, of shape (tables, 3); how many float32 fields there are; how many int8 fields.
    """
    counts = {True: 0, False: 0}
    segments = []
    for box in boxes.values():
        is_real, length = box.dtype == np.float32, math.prod(box.shape)
        segments.append((int(is_real), counts[is_real], length))
        counts[is_real] += length
    return np.array(segments, np.int64).reshape(-1, 3), counts[True], counts[False]


def record_dtype(form: Any, attributes: bool) -> np.dtype[Any]:  # noqa: ANN401 - what `numpy.dtype` takes
    """A structured dtype; with `attributes`, one whose elements Python can read by attribute, as rows."""
    dtype: np.dtype[Any] = np.dtype(form)
    with_attributes: np.dtype[Any] = np.dtype(_with_attributes(dtype))
    return with_attributes if attributes else dtype


def _with_attributes(dtype: Any) -> Any:  # noqa: ANN401 - a dtype with fields, or a part of one
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        return _with_attributes(element), shape
    if dtype.names is None:
        return dtype
    fields = [dtype.fields[name] for name in dtype.names]
    form = {
        "names": list(dtype.names),
        "formats": [_with_attributes(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
        "aligned": dtype.isalignedstruct,
    }
    return np.dtype((np.record, form))
