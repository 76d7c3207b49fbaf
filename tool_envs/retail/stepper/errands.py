"""Tasks as rows: all that an episode needs, read off texts and ids once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from tool_envs.generated import padded
from tool_envs.messages import Json, Message
from tool_envs.retail.data import RetailBase
from tool_envs.retail.desk import RETAIL_DESK
from tool_envs.retail.rows import CANCEL_REASONS, CREDIT_CARD, MAX_METHODS, MAX_ORDERS, STATUSES, Order
from tool_envs.retail.scene.seen import hear
from tool_envs.retail.scene.sight import (
    DEMANDS,
    IDENTITY,
    MAX_CHANGED,
    MAX_VARIANTS,
    SLOTS,
    WRITE_TOOLS,
    Said,
    blank_customer,
    blank_order,
    nothing_said,
    nothing_shown,
    open_draft,
)
from tool_envs.retail.scene.words import Reader, order_code
from tool_envs.retail.stepper.answering import bring_up, mute
from tool_envs.retail.stepper.calls import sort_pairs
from tool_envs.retail.stepper.rows import (
    FACTS,
    IN_NEW_ITEM,
    MAX_SWAPPED,
    MAX_WISHES,
    PARTS,
    Call,
    Due,
    Errand,
    Known,
    Lane,
    Room,
    Wanted,
    no_call,
)
from tool_envs.retail.stepper.turns import learn_wish
from tool_envs.row_lists import as_bits, filled
from tool_envs.service.desk import goal_of
from tool_envs.service.grading import attainable
from tool_envs.service.wishes import MAX_ACCEPTED
from tool_envs.simulators.agenda_core import MAX_STEPS, MAX_TURNS, Facts, Heard, State, Step, WishFacts, start
from tool_envs.simulators.agenda_plan import Node, plan
from tool_envs.simulators.comparing import said_as
from tool_envs.simulators.goal import UserGoal, Wish
from tool_envs.simulators.speech import opening_of
from tool_envs.task import Task

R = TypeVar("R")

_ADDRESS = ("address1", "address2", "city", "state", "zip", "country")
_NO_DUE = -2
_NO_STEP = WishFacts(0, 0, 0, -1, -1)


class Begun(NamedTuple):
    """A task, and the lane of its episode when the customer has said their first words."""

    errand: Errand
    lane: Lane


class ErrandMaker:
    """Makes rows of the tasks of a store.

    Args:
        base: Its data.
    """

    def __init__(self, base: RetailBase) -> None:
        self._base, self._catalog = base, base.catalog
        self._reader = Reader(base.catalog, base.ids)

    def make(self, task: Task, words: Task | None) -> Begun:
        """A task as rows.

        Args:
            task: The task.
            words: The one whose customer's words are heard; for controls another one, or None for no words.

        Raises:
            ValueError: The task has something that rows have no place for.
        """
        errand = _Maker(self._base, self._reader, goal_of(task)).errand()
        errand.mute = int(words is None)
        if words not in (task, None):
            _speak_like(errand, _Maker(self._base, self._reader, goal_of(words)).errand())
        return Begun(errand, self._lane(errand, goal_of(task)))

    def _lane(self, errand: Errand, goal: UserGoal) -> Lane:
        """The episode after the opening."""
        lane = Lane(
            sight=nothing_shown(),
            customer=errand.customer.copy(),
            state=State(),
            draft=open_draft(),
            yeses=[no_call() for _ in range(MAX_TURNS)],
            asked=0,
            told=0,
            taken=0,
            read=0,
            read_profile=0,
            reasons=0,
            written=-1,
            broken=0,
            reward=0,
        )
        lane.sight.orders = [order.copy() for order in errand.orders]
        start(lane.state, errand.facts)
        learn_wish(lane, errand.wanted[0])
        opening = nothing_said()
        bring_up(opening, errand.wanted[0])
        opening.told = errand.wanted[0].opening.told
        opening.demands = as_bits(k for k, demand in enumerate(DEMANDS) if goal.conditions.get(demand))
        if errand.mute:
            mute(opening)
        hear(lane.sight, opening)
        return lane


class _Maker:
    """Makes the rows of one task."""

    def __init__(self, base: RetailBase, reader: Reader, goal: UserGoal) -> None:
        self._base, self._reader, self._goal = base, reader, goal
        self._catalog, self._phrases = base.catalog, RETAIL_DESK.phrases
        self._nodes, self._facts = plan(goal, self._phrases)
        self._customer = self._find_customer()
        self._order_ids = [
            base.order_id(self._customer, number) for number in range(base.customer(self._customer).orders)
        ]
        self._method_ids = base.method_ids(self._customer)
        addresses = (self._address(node.wish) for node in self._nodes)
        self._addresses = [address for address in dict.fromkeys(addresses) if address]

    def errand(self) -> Errand:
        base, index = self._base, self._customer
        customer = base.customer(index).copy()
        customer.address = 0
        orders = [self._order(number) for number in range(customer.orders)]
        return Errand(
            customer=customer,
            orders=filled(orders, MAX_ORDERS, blank_order),
            order_code=padded([order_code(base.ids, one) for one in self._order_ids], MAX_ORDERS, -1),
            digits=padded([self._digits(method) for method in range(customer.methods)], MAX_METHODS, -1),
            moved_zip=sum(
                1 << number
                for number, address in enumerate(self._addresses, 1)
                if address[_ADDRESS.index("zip")] != self._goal.knows.get("zip")
            ),
            known=[int(bool(self._goal.knows.get(slot))) for slot in SLOTS[:IDENTITY]],
            facts=self._agenda(),
            wanted=filled([self._wanted(node) for node in self._nodes], MAX_STEPS, _nothing_wanted),
            dues=filled([self._due(wish) for wish in self._goal.wishes], MAX_WISHES, _nothing_due),
            swapped=padded(self._swapped(), MAX_SWAPPED, -1),
            mute=0,
        )

    def _find_customer(self) -> int:
        """Whom the tools find by what this customer tells of themselves."""
        base, knows = self._base, self._goal.knows
        first, last = knows["name"].split(" ", 1)
        found = base.find_name_zip(first, last, knows["zip"])
        by_email = base.find_email(knows["email"]) if "email" in knows else found
        if found is None or by_email != found:
            raise ValueError(f"the customer {knows} is not found by all that they know")
        return found

    def _order(self, number: int) -> Order:
        order = self._base.order(self._customer, number).copy()
        order.address = 0
        return order

    def _digits(self, method: int) -> int:
        if self._base.customer(self._customer).method_kind[method] != CREDIT_CARD:
            return -1
        return int(self._base.card(self._customer, method)[1])

    def _agenda(self) -> Facts:
        agenda = self._facts
        return Facts(
            wishes=filled(agenda.wishes, MAX_STEPS, _NO_STEP.copy),
            identity=agenda.identity,
            insists=int(agenda.insists),
            reluctant=int(agenda.reluctant),
            changes_mind=int(agenda.changes_mind),
        )

    # --- One step of the agenda

    def _wanted(self, node: Node) -> Wanted:
        wish = node.wish
        calls = [self._call(wish.tool, arguments) for arguments in wish.accepted]
        _require_alike(calls)
        opening = self._said(node.opening, *opening_of(node, self._goal, self._phrases)[0])
        words = [said_as(node, part, (1 << len(calls)) - 1, self._goal, self._phrases) for part in PARTS]
        news = [
            said_as(node, PARTS[IN_NEW_ITEM], 1 << number, self._goal, self._phrases)
            for number in range(len(calls))
        ]
        return Wanted(
            number=node.number,
            tool=WRITE_TOOLS.index(wish.tool) if wish.tool else -1,
            fact=FACTS.index(wish.fact.type if wish.fact else ""),
            address=self._address_number(self._address(wish)),
            told_address=self._address_number(self._address(wish)),
            address_counts=self._address_counts(wish),
            calls=filled(calls, MAX_ACCEPTED, no_call),
            opening=opening,
            words=[self._part_said(part, text, opening) for part, text in zip(PARTS, words, strict=True)],
            worded=as_bits(part for part, text in enumerate(words) if text),
            new_words=filled(
                [self._said(text, things=opening.things) for text in news], MAX_ACCEPTED, nothing_said
            ),
        )

    def _said(self, text: str, *acts: Json, things: Sequence[int] = ()) -> Said:
        """What a customer says with a text."""
        return self._reader.read(Message(role="user", content=text, acts=acts), things).said

    def _part_said(self, part: str, text: str, opening: Said) -> Said:
        acts = ({"act": "inform", "slot": "reason", "value": text},) if part == "reason" and text else ()
        return self._said(text, *acts, things=opening.things)

    def _call(self, tool: str, arguments: Mapping[str, Json]) -> Call:
        codes = self._catalog.variant_codes
        call = no_call()
        call.tool = WRITE_TOOLS.index(tool)
        call.order = self._order_ids.index(arguments["order_id"]) if "order_id" in arguments else -1
        call.items = padded([codes[item] for item in arguments.get("item_ids", ())], MAX_CHANGED, -1)
        call.news = padded([codes[item] for item in arguments.get("new_item_ids", ())], MAX_CHANGED, -1)
        if "payment_method_id" in arguments:
            call.method = self._method_ids.index(arguments["payment_method_id"])
        if "reason" in arguments:
            call.reason = CANCEL_REASONS.index(arguments["reason"])
        call.address = self._address_number(_address(arguments))
        sort_pairs(call)
        return call

    def _address(self, wish: Wish) -> tuple[str, ...]:
        """The address that is wanted, be it that nobody may write it; empty where none is."""
        if wish.accepted:
            return _address(wish.accepted[0])
        message = Message(role="user", content=wish.words.get("address", ""))
        told = self._reader.read(message, ()).address
        return tuple(getattr(told, part) for part in _ADDRESS) if told else ()

    def _address_number(self, address: tuple[str, ...]) -> int:
        return 1 + self._addresses.index(address) if address else 0

    def _address_counts(self, wish: Wish) -> int:
        """Bits of the counts that stand in the address that is wanted, as it is said."""
        address = self._address(wish)
        if not address:
            return 0
        text = self._phrases.fields(dict(zip(_ADDRESS, address, strict=True)), {})["address"]
        counts = map(int, RETAIL_DESK.facts.values_in(text, "count"))
        return as_bits(count for count in counts if count <= MAX_VARIANTS)

    def _swapped(self) -> list[int]:
        """Products of which the customer wants other variants."""
        items = (
            item
            for node in self._nodes
            for arguments in node.wish.accepted
            if "new_item_ids" in arguments
            for item in arguments["item_ids"]
        )
        variants = self._catalog.variants
        return list(dict.fromkeys(variants[self._catalog.variant_codes[item]].product for item in items))

    # --- What must be true at the end

    def _due(self, wish: Wish) -> Due:
        possible = attainable(wish)
        steps = [node.wish for node in self._nodes]
        fact = FACTS.index(wish.fact.type if wish.fact else "")
        due = Due(
            step=steps.index(possible) if possible is not None and possible.tool else -1,
            forbidden=int(wish.forbidden),
            fact=fact,
            value=_value(wish),
            orders=0,
            products=[-1] * MAX_CHANGED,
            profile=0,
        )
        products = []
        for record in wish.evidence:
            if record in self._order_ids:
                due.orders |= 1 << self._order_ids.index(record)
            elif record in self._catalog.product_codes:
                products.append(self._catalog.product_codes[record])
            elif record == self._base.user_id(self._customer):
                due.profile = 1
            else:
                raise ValueError(f"{record} is no record of the customer or the store")
        due.products = padded(products, MAX_CHANGED, -1)
        return due


def new_room() -> Room:
    """Room to work in."""
    scene = nothing_shown().scene
    known = {name: getattr(scene, name) for name in Known.__struct_fields__}
    return Room(
        known=Known(**known),
        heard=Heard(),
        step=Step(),
        said=nothing_said(),
        proposed=open_draft(),
        call=no_call(),
        wrong=0,
        added=0,
        customer=blank_customer(),
        order=blank_order(),
    )


def _speak_like(errand: Errand, other: Errand) -> None:
    """Let a customer say the words of another one for their own wishes."""
    steps = [wanted for wanted in other.wanted if wanted.number >= 0]
    for number, wanted in enumerate(errand.wanted):
        spoken = steps[min(number, len(steps) - 1)]
        wanted.opening, wanted.words, wanted.new_words = spoken.opening, spoken.words, spoken.new_words
        wanted.told_address = 0


def _address(arguments: Mapping[str, Json]) -> tuple[str, ...]:
    return tuple(arguments[part] for part in _ADDRESS) if "address1" in arguments else ()


def _value(wish: Wish) -> int:
    """The answer to a question: cents, a status, a count."""
    if wish.fact is None:
        return 0
    return STATUSES.index(wish.fact.value) if wish.fact.type == "status" else abs(int(wish.fact.value))


def _require_alike(calls: Sequence[Call]) -> None:
    """Accepted calls differ in their new items only: the words of customers are made for that."""
    for call in calls:
        other = call.copy()
        other.news = calls[0].news
        if other != calls[0]:
            raise ValueError(f"accepted calls differ in more than their new items: {calls}")


def _nothing_wanted() -> Wanted:
    return Wanted(
        number=-1,
        tool=-1,
        fact=0,
        address=0,
        told_address=0,
        address_counts=0,
        calls=[no_call() for _ in range(MAX_ACCEPTED)],
        opening=nothing_said(),
        words=[nothing_said() for _ in PARTS],
        worded=0,
        new_words=[nothing_said() for _ in range(MAX_ACCEPTED)],
    )


def _nothing_due() -> Due:
    return Due(step=_NO_DUE, forbidden=0, fact=0, value=0, orders=0, products=[-1] * MAX_CHANGED, profile=0)
