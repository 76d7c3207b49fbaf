"""The store's array view: choices to calls and sentences, what comes of them to rows and tables."""

from collections.abc import Sequence

import numpy as np

from tool_envs.array_view import Layout, Level, Mask, Slot, Table, Told, Verb, call_arguments
from tool_envs.episode import Episode
from tool_envs.messages import CONTENT, RESPOND, Json, Message, ToolCall
from tool_envs.retail.codes import base_of
from tool_envs.retail.data import RetailBase
from tool_envs.retail.desk import RETAIL_DESK
from tool_envs.retail.rows import MAX_ITEMS
from tool_envs.retail.scene.choices import ROLES, choose, mask_choices, mask_reachable, mask_verbs
from tool_envs.retail.scene.masks import ASK, CALL, FIND_BY_EMAIL, OTHERS, PROPOSE
from tool_envs.retail.scene.memory import Memory
from tool_envs.retail.scene.sight import NONE, SLOTS, WRITE_TOOLS, Draft, open_draft
from tool_envs.retail.scene.speech import Speaker
from tool_envs.retail.scene.tables import (
    FIELDS,
    SHAPES,
    fill_conversation,
    fill_lines,
    fill_methods,
    fill_orders,
    fill_products,
    fill_variants,
)
from tool_envs.retail.scene.text import describe
from tool_envs.retail.scene.words import Reader
from tool_envs.schema import load_arrays

_DOCUMENT = 1  # number of the arrays document


class RetailArrays:
    """The array view of a store, under any schema version.

    Args:
        base: The store.
    """

    shapes = SHAPES
    fields = FIELDS

    def __init__(self, base: RetailBase) -> None:
        self._reader = Reader(base.catalog, base.ids)

    @property
    def document(self) -> Json:
        """As of `ArrayView`."""
        return load_arrays("retail", _DOCUMENT)

    def scene(self, episode: Episode, layout: Layout) -> "RetailScene":
        """As of `ArrayView`."""
        return RetailScene(Memory(base_of(episode.database), self._reader), layout)


class RetailScene:
    """The scene of one episode.

    Args:
        memory: What was shown so far.
        layout: The verbs.
    """

    def __init__(self, memory: Memory, layout: Layout) -> None:
        self.memory, self._layout = memory, layout
        self._verbs = [verb_code(verb) for verb in layout.verbs]
        self._tools = [verb_tool(verb) for verb in layout.verbs]

    def saw(self, action: Json, messages: Sequence[Message]) -> None:
        """As of `SceneView`."""
        self.memory.saw(action, messages)

    # --- Masks

    def allowed(self, level: Level, verb: int, chosen: tuple[int, ...]) -> Mask:
        """As of `SceneView`."""
        sight, shelves, policy = self.memory.sight, self.memory.shelves, level == "policy"
        if verb < 0:
            out = [0] * len(self._verbs)
            mask_verbs(sight, shelves, policy, self._verbs, open_draft(), out)
            return np.array(out, np.bool_)
        slot = self._layout.verbs[verb].slots[len(chosen)]
        out = [0] * slot.choices
        draft = self._draft(verb, chosen)
        mask_choices(sight, shelves, policy, self._verbs[verb], draft, *slot_role(slot), slot.width, out)
        return np.array(out, np.bool_)

    def possible(self, level: Level, verb: int) -> tuple[Mask, ...]:
        """As of `SceneView`."""
        return tuple(self._reachable(level, verb, slot) for slot in self._layout.verbs[verb].slots)

    def _reachable(self, level: Level, verb: int, slot: Slot) -> Mask:
        out, room = [0] * slot.choices, [0] * slot.choices
        mask_reachable(
            self.memory.sight,
            self.memory.shelves,
            level == "policy",
            self._verbs[verb],
            open_draft(self._tools[verb]),
            *slot_role(slot),
            slot.width,
            room,
            out,
        )
        return np.array(out, np.bool_)

    def _draft(self, verb: int, chosen: tuple[int, ...]) -> Draft:
        draft = open_draft(self._tools[verb])
        for slot, choice in zip(self._layout.verbs[verb].slots, chosen, strict=False):
            row = NONE if slot.ends(choice) else choice
            choose(self.memory.sight, self.memory.shelves, draft, *slot_role(slot), row)
        return draft

    # --- What choices stand for

    def value(self, verb: int, chosen: tuple[int, ...]) -> Json:
        """As of `SceneView`."""
        slot = self._layout.verbs[verb].slots[len(chosen) - 1]
        return slot.values[chosen[-1]] if slot.values else self._value(self._draft(verb, chosen), slot)

    def _value(self, draft: Draft, slot: Slot) -> str:
        """The id of the entity that a draft has in a slot."""
        sight, profile, catalog = self.memory.sight, self.memory.profile, self.memory.catalog
        role, place = slot_role(slot)
        match ROLES[role]:
            case "order_id":
                return profile.order_ids[draft.order]
            case "payment_method_id":
                return profile.method_ids[draft.method]
            case "product_id":
                return catalog.products[draft.product].product_id
            case "new_item_ids":
                return catalog.variants[draft.news[place]].item_id
            case "item_ids":
                return catalog.variants[sight.orders[draft.order].items[draft.items[place]]].item_id
            case _:
                order, line = divmod(draft.line, MAX_ITEMS)
                return catalog.variants[sight.orders[order].items[line]].item_id

    def action(self, verb: int, chosen: tuple[int, ...]) -> Json:
        """As of `SceneView`."""
        form = self._layout.verbs[verb]
        if form.kind == "call":
            return {"name": form.tool, "arguments": self._arguments(verb, chosen)}
        return {"name": RESPOND, "arguments": {CONTENT: self._text(verb, chosen)}}

    def _text(self, verb: int, chosen: tuple[int, ...]) -> str:
        form, speaker = self._layout.verbs[verb], Speaker(self.memory)
        if form.kind == "ask":
            return speaker.ask(form.asked)
        if form.kind == "propose":
            call = ToolCall(form.tool, self._arguments(verb, chosen))
            return speaker.propose(RETAIL_DESK.renames.first_call(call))
        return speaker.say(form.name, self._draft(verb, chosen))

    def _arguments(self, verb: int, chosen: tuple[int, ...]) -> dict[str, Json]:
        form, draft = self._layout.verbs[verb], self._draft(verb, chosen)
        told = self._told_address if form.tool in WRITE_TOOLS else self._told
        return call_arguments(form, chosen, lambda slot, _: self._value(draft, slot), told)

    def _told(self, told: Told) -> str:
        """What fills a parameter of a call that finds or shows the customer."""
        if told.name == "user_id":
            return self.memory.user_id
        if told.slot == "name":
            return self.memory.texts["name"].split(" ", 1)[told.name == "last_name"]
        return self.memory.texts[told.slot]

    def _told_address(self, told: Told) -> str:
        """What fills a parameter of a write."""
        if told.name == "user_id":
            return self.memory.user_id
        return str(getattr(self.memory.address, told.name))

    # --- What is shown

    def tables(self) -> dict[str, Table]:
        """As of `SceneView`."""
        sight, shelves = self.memory.sight, self.memory.shelves
        tables: dict[str, Table] = {name: np.zeros(*form) for name, form in SHAPES.items()}
        fill_conversation(sight, tables["conversation"])
        fill_orders(sight, shelves, tables["orders"], tables["order_amounts"])
        fill_lines(sight, shelves, tables["lines"])
        fill_variants(sight, shelves, tables["variants"], tables["prices"])
        fill_methods(sight, shelves, tables["methods"], tables["balances"])
        fill_products(sight, tables["products"])
        return tables

    def describe(self) -> str:
        """As of `SceneView`."""
        return describe(self.memory)


def verb_code(verb: Verb) -> int:
    """What kernels know a verb by."""
    if verb.tool in WRITE_TOOLS:
        return (CALL if verb.kind == "call" else PROPOSE) + WRITE_TOOLS.index(verb.tool)
    return ASK + SLOTS.index(verb.asked) if verb.asked else FIND_BY_EMAIL + OTHERS.index(verb.name)


def verb_tool(verb: Verb) -> int:
    """The write that a verb calls or proposes, or -1."""
    return WRITE_TOOLS.index(verb.tool) if verb.tool in WRITE_TOOLS else -1


def slot_role(slot: Slot) -> tuple[int, int]:
    """What kernels know a slot by: role and place."""
    return ROLES.index(slot.name.split("[")[0]), max(slot.place, 0)
