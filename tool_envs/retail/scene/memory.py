"""What an episode has shown: rows for kernels, and beside them the texts that calls pass on."""

from collections.abc import Sequence

import orjson

from tool_envs.generated import padded
from tool_envs.messages import CONTENT, RESPOND, Json, Message, ToolCall
from tool_envs.people import Address
from tool_envs.retail.data import RetailBase
from tool_envs.retail.desk import RETAIL_DESK
from tool_envs.retail.rows import CANCEL_REASONS
from tool_envs.retail.scene.rows import NO_PROFILE, Profile, read_order, read_profile
from tool_envs.retail.scene.seen import (
    hear,
    see_catalog,
    see_found,
    see_item,
    see_order,
    see_product,
    see_profile,
    see_proposed,
    see_refused,
    see_written,
)
from tool_envs.retail.scene.sight import (
    CANCEL,
    EXCHANGE,
    ITEMS,
    MAX_CHANGED,
    NONE,
    OPEN,
    WRITE_TOOLS,
    Draft,
    nothing_shown,
    open_draft,
)
from tool_envs.retail.scene.words import Reader, order_code, shelves_of
from tool_envs.simulators.mentions import Id, ids_in
from tool_envs.simulators.retail_language import RETAIL
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES
from tool_envs.simulators.understanding import read


class Memory:
    """What was shown: a function of the messages that it was given, and of nothing else of an episode.

    Args:
        base: The store; of its data what everybody knows is used.
        reader: Reads what its customers say.

    Attributes:
        sight: The rows.
        profile: The customer's, as shown last.
        user_id: The customer who was found; empty: nobody yet.
        texts: What the customer told of themselves: `email`, `name`, `zip`.
        address: The address that they told last for the wish at hand.
        written: The write that was made last, as under the first schema version.
    """

    def __init__(self, base: RetailBase, reader: Reader) -> None:
        self._base, self._reader = base, reader
        self.catalog, self.shelves = base.catalog, shelves_of(base.catalog)
        self.sight = nothing_shown()
        self.profile: Profile = NO_PROFILE
        self.user_id = ""
        self.texts: dict[str, str] = {}
        self.address: Address | None = None
        self.written: ToolCall | None = None

    def saw(self, action: Json, messages: Sequence[Message]) -> None:
        """As `SceneView.saw`."""
        self.sight.scene.refused = 0
        if action is None:
            self._hear(messages[-1])
            return
        if action["name"] == RESPOND:
            self._say(action["arguments"][CONTENT])
            self._hear(messages[-1])
            return
        call = RETAIL_DESK.renames.first_call(ToolCall(action["name"], action["arguments"]))
        if messages[-1].code is not None:
            see_refused(self.sight, call.name in WRITE_TOOLS)
        else:
            self._see(call, orjson.loads(messages[-1].content))

    # --- What tools show

    def _see(self, call: ToolCall, shown: Json) -> None:
        match call.name:
            case "find_user_id_by_email" | "find_user_id_by_name_zip":
                self.user_id = shown["user_id"]
                see_found(self.sight)
            case "get_user_details":
                self._see_profile(shown)
            case "get_order_details":
                self._see_order(shown)
            case "list_all_product_types":
                see_catalog(self.sight)
            case "get_product_details":
                see_product(self.sight, self.catalog.product_codes[shown["product_id"]])
            case "get_item_details":
                self._see_item(self.catalog.variant_codes[shown["item_id"]])
            case name if name in WRITE_TOOLS:
                self._see_written(call, shown)

    def _see_profile(self, shown: Json) -> None:
        self.profile = profile = read_profile(shown)
        self.sight.customer = profile.customer
        for place, order_id in enumerate(profile.order_ids):
            self.sight.scene.order_code[place] = order_code(self._base.ids, order_id)
        for method, card in enumerate(profile.cards):
            self.sight.scene.digits[method] = int(card[1]) if card else -1
        see_profile(self.sight)

    def _see_order(self, shown: Json) -> int:
        place = self.profile.order_ids.index(shown["order_id"])
        self.sight.orders[place] = read_order(shown, self.catalog, self.profile.method_ids)
        see_order(self.sight, self.shelves, place)
        return place

    def _see_item(self, variant: int) -> None:
        """It is seen wherever the customer has it."""
        for place, order in enumerate(self.sight.orders):
            for line, item in enumerate(order.items):
                if item == variant:
                    see_item(self.sight, place, line)

    def _see_written(self, call: ToolCall, shown: Json) -> None:
        self.written = call
        place = -1
        if "order_id" in shown:
            place = self._see_order(shown)
        else:
            self._see_profile(shown)
        see_written(self.sight, WRITE_TOOLS.index(call.name), place)

    # --- What is said

    def _hear(self, turn: Message) -> None:
        words = self._reader.read(turn, self.sight.scene.things)
        self.texts |= words.texts
        if words.said.wish >= 0:
            self.address = None
        self.address = words.address or self.address
        hear(self.sight, words.said)

    def _say(self, text: str) -> None:
        """The agent's own words: a proposal names all that it is about, and that is remembered."""
        reading = read(self._without_address(text), RETAIL, {})
        if reading.asks_confirmation and reading.tool in WRITE_TOOLS:
            draft = open_draft(WRITE_TOOLS.index(reading.tool))
            self._fill(draft, list(ids_in(text.lower(), RETAIL)))
            if draft.tool == CANCEL:
                draft.reason = CANCEL_REASONS.index(reading.mentions["reason"][0])
            see_proposed(self.sight, draft)

    def _without_address(self, text: str) -> str:
        """States such as `OR` are words, too."""
        if self.address is None:
            return text
        return text.replace(RETAIL_PHRASES.fields(self.address._asdict(), {})["address"], "")

    def _fill(self, draft: Draft, ids: Sequence[Id]) -> None:
        """The entities that ids name; of a swap each old item stands before its new one."""
        for one in ids:
            if one.kind == "order":
                draft.order = self.profile.order_ids.index(one.value)
            elif one.kind == "payment":
                draft.method = self.profile.method_ids.index(one.value)
        items = [self.catalog.variant_codes[one.value] for one in ids if one.kind == "item"]
        swaps = draft.tool in (ITEMS, EXCHANGE)
        for place, item in enumerate(items[:: 1 + swaps]):
            draft.items[place] = self._line(draft, item)
        if items:
            draft.items = [NONE if line == OPEN else line for line in draft.items]
            draft.news = padded(items[1::2] if swaps else [], MAX_CHANGED, NONE)

    def _line(self, draft: Draft, item: int) -> int:
        """Which item of the order it is: the first of its kind that is not taken yet."""
        order = self.sight.orders[draft.order]
        lines = [line for line in range(order.item_count) if order.items[line] == item]
        return next(line for line in lines if line not in draft.items)
