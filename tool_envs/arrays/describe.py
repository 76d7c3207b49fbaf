"""Arrays as text: what an action does, and what an observation shows."""

from collections.abc import Iterator, Mapping

import numpy as np

from tool_envs.array_view import SKIPPED, Mask, SceneView, Table
from tool_envs.arrays.forms import A, Form, Partial
from tool_envs.messages import CONTENT, RESPOND, Json


def describe_action(form: Form[A], scene: SceneView, partial: Partial, mask: Mask, action: A) -> str:
    """The tool call or sentence that an action leads to now, as far as it is known, with ids.

    Args:
        form: The form of actions.
        scene: Now.
        partial: The choices so far.
        mask: What can be chosen now.
        action: What is chosen.
    """
    after = form.take(scene, partial, mask, action)
    if after is None:
        return f"not possible now: {form.name(action)}"
    if form.is_whole(after):
        return _action_line(scene.action(*after))
    return describe_partial(form, scene, after)


def describe_partial(form: Form[A], scene: SceneView, partial: Partial) -> str:
    """The verb and the choices made so far, such as `cancel_order(order_id=#W1234567, ...`."""
    verb = form.verb(partial)
    made: list[str] = []
    for number, (slot, choice) in enumerate(zip(verb.slots, partial.chosen, strict=False), 1):
        if choice != SKIPPED:
            value = "no more" if slot.ends(choice) else scene.value(partial.verb, partial.chosen[:number])
            made.append(f"{slot.name}={value}")
    return f"{verb.name}({', '.join([*made, '...'])}"


def _action_line(action: Json) -> str:
    arguments = action["arguments"]
    if action["name"] == RESPOND:
        return f"say: {arguments[CONTENT]}"
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{action['name']}({given})"


def describe_tables(tables: Mapping[str, Table], fields: Mapping[str, tuple[str, ...]]) -> str:
    """One line for each row that is not all zero: `orders[2]: listed, pending, price 0.25`."""
    return "\n".join(line for name, table in tables.items() for line in _rows(name, table, fields[name]))


def _rows(name: str, table: Table, fields: tuple[str, ...]) -> Iterator[str]:
    for place in np.ndindex(table.shape[:-1]):
        row = table[place]
        shown = [
            fields[number] if row[number] == 1 else f"{fields[number]} {row[number]:.2f}"
            for number in np.flatnonzero(row)
        ]
        if shown:
            yield f"{name}{list(place) or ''}: {', '.join(shown)}"
