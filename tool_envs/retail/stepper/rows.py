"""The rows of an episode that is played without texts: the task, the lane, and room to work in.

What the agent was shown is a `Sight`, as in the array view. An order stands once: a lane's own orders are
those of its sight, at which nobody looks before they were shown.
"""

from typing import Annotated, Final

from tool_envs.retail.rows import MAX_METHODS, MAX_ORDERS, Customer, Order
from tool_envs.retail.scene.sight import IDENTITY, MAX_CHANGED, Draft, Said, Sight
from tool_envs.rows import Row, Small, Tiny
from tool_envs.service.wishes import MAX_ACCEPTED
from tool_envs.simulators.agenda_core import MAX_STEPS, MAX_TURNS, Facts, Heard, State, Step

MAX_WISHES: Final = 4
"""Most wishes of one task."""
MAX_SWAPPED: Final = MAX_WISHES * MAX_CHANGED
"""Most products of which a task wants other variants."""

FACTS: Final = ("", "amount", "status", "count")
"""Types of what a customer asks for; the first: nothing."""
NO_FACT, AMOUNT, STATUS, COUNT = range(4)

IN_ORDER, IN_ITEM, IN_NEW_ITEM, IN_METHOD, IN_REASON, IN_ADDRESS = range(6)
"""The parts of a call that a customer can speak of, as bits and places; the slots of these names."""
PARTS: Final = ("order_id", "item", "new_item", "payment_method", "reason", "address")


class Call(Row):
    """A write with its arguments, or a yes to one. Its pairs of items stand in the order of their codes.

    Attributes:
        tool: The write.
        order: Place among the customer's orders; -1 when it changes none.
        items: Variant codes; -1 behind the last.
        news: What takes their place; -1 where nothing does.
        method: Number of the payment method, or -1.
        reason: Index of `CANCEL_REASONS`, or -1.
        address: Number of an address of the task (see `Wanted`), or 0.
        any_news: 1 in a yes that leaves the new items open.
    """

    tool: Tiny
    order: Tiny
    items: Annotated[list[int], MAX_CHANGED, "int16"]
    news: Annotated[list[int], MAX_CHANGED, "int16"]
    method: Tiny
    reason: Tiny
    address: Tiny
    any_news: Tiny


def no_call() -> Call:
    """What stands behind the last call."""
    return Call(
        tool=-1,
        order=-1,
        items=[-1] * MAX_CHANGED,
        news=[-1] * MAX_CHANGED,
        method=-1,
        reason=-1,
        address=0,
        any_news=0,
    )


class Wanted(Row):
    """One step of the customer's agenda.

    Attributes:
        number: Number of the wish that it belongs to.
        tool: The write that fulfils it; -1: none does.
        fact: What is asked for, of `FACTS`.
        address: Number of the address that is wanted, from 1; 0: none is.
        told_address: Number of the address that their words tell: the same, or 0 when the words are another
            customer's.
        address_counts: Bit n: that address, as it is said, holds the number n.
        opening: What bringing it up says.
        calls: The accepted calls; `tool` is -1 behind the last.
        words: For each of `PARTS` what the customer's words for it say.
        worded: Bits of the parts for which they have words.
        new_words: For each accepted call, what naming its new items says.
    """

    number: Tiny
    tool: Tiny
    fact: Tiny
    address: Tiny
    told_address: Tiny
    address_counts: int
    opening: Said
    calls: Annotated[list[Call], MAX_ACCEPTED]
    words: Annotated[list[Said], len(PARTS)]
    worded: Tiny
    new_words: Annotated[list[Said], MAX_ACCEPTED]


class Due(Row):
    """What must be true of one wish at the end.

    Attributes:
        step: The step of the agenda whose write must have been made; -1: none.
        forbidden: 1 when the customer must have taken a no.
        fact: What must have been told, of `FACTS`.
        value: Cents, a status, or a count.
        orders: Bits of the orders that must have been looked up for a fact or a no.
        products: Codes of the products, likewise; -1 behind the last.
        profile: 1 when the profile must.
    """

    step: Tiny
    forbidden: Tiny
    fact: Tiny
    value: int
    orders: Tiny
    products: Annotated[list[int], MAX_CHANGED, "int8"]
    profile: Tiny


class Errand(Row):
    """A task, and the records of its customer before anything happened.

    Attributes:
        customer: The customer.
        orders: Their orders.
        order_code: What the array view knows the orders by; -1 behind the last.
        digits: For each payment method the last four digits of a card, or -1.
        moved_zip: Bit n: the address with that number has another zip code than the customer tells.
        known: For each slot of identity: 1 when the customer can tell it.
        facts: The agenda.
        wanted: Its steps.
        dues: The wishes; `step` is -2 behind the last.
        swapped: Codes of the products of which other variants are wanted; -1 behind the last.
        mute: 1 when nothing that the customer says is heard but who they are (a control).
    """

    customer: Customer
    orders: Annotated[list[Order], MAX_ORDERS]
    order_code: Annotated[list[int], MAX_ORDERS]
    digits: Annotated[list[int], MAX_METHODS, "int16"]
    moved_zip: Small
    known: Annotated[list[int], IDENTITY, "int8"]
    facts: Facts
    wanted: Annotated[list[Wanted], MAX_STEPS]
    dues: Annotated[list[Due], MAX_WISHES]
    swapped: Annotated[list[int], MAX_SWAPPED, "int8"]
    mute: Tiny


class Lane(Row):
    """All that changes in an episode. What is looked at most stands together.

    Attributes:
        draft: The choices of the action in the making.
        state: Where the customer stands in their agenda.
        asked: Bits of the wishes whose question was asked.
        told: Bits of those that were answered.
        taken: Bits of the wishes of which the customer took a no.
        read: Bits of the orders that were looked up.
        read_profile: 1 when the profile was.
        reasons: Bits of `CANCEL_REASONS` that the customer gave.
        written: Place of the order that was changed last, or -1.
        broken: 1 when a rule was.
        reward: Of the episode; 0 before its end.
        sight: What was shown, and the orders as they are now.
        customer: The customer as they are now; an address is a number of the task's, or 0 as it was.
        yeses: Open yeses, the oldest first; `tool` is -1 behind the last.
    """

    draft: Draft
    state: State
    asked: Tiny
    told: Tiny
    taken: Tiny
    read: Tiny
    read_profile: Tiny
    reasons: Tiny
    written: Tiny
    broken: Tiny
    reward: Tiny
    sight: Sight
    customer: Customer
    yeses: Annotated[list[Call], MAX_TURNS]


class Known(Row):
    """What was known of the customer and their wish before a turn, as far as turns can change it.

    Attributes:
        told: As of `Scene`, and so all of them.
        unknown: See above.
        wish: See above.
        question: See above.
        orders: See above.
        sign: See above.
        things: See above.
        wants: See above.
        same: See above.
        variants: See above.
        method_kind: See above.
        method_digits: See above.
        reason: See above.
        address: See above.
        yes: See above.
        unreported: See above.
    """

    told: Tiny
    unknown: Small
    wish: Tiny
    question: Tiny
    orders: Annotated[list[int], MAX_CHANGED]
    sign: Tiny
    things: Annotated[list[int], MAX_CHANGED, "int8"]
    wants: Annotated[list[int], MAX_CHANGED, "int16"]
    same: Annotated[list[int], MAX_CHANGED, "int8"]
    variants: Annotated[list[int], MAX_CHANGED, "int16"]
    method_kind: Tiny
    method_digits: Small
    reason: Tiny
    address: Tiny
    yes: Tiny
    unreported: Tiny


class Room(Row):
    """Room to work in during one action; nothing of it is kept.

    Attributes:
        known: What was known before.
        heard: What the customer understood.
        step: What they do.
        said: What their words say.
        proposed: What was proposed, as it is remembered.
        call: The call that is made or proposed.
        wrong: Bits of `PARTS` in which a proposal is not what is wanted.
        added: Bits of those that a yes adds.
        customer: For trying a call.
        order: Likewise.
    """

    known: Known
    heard: Heard
    step: Step
    said: Said
    proposed: Draft
    call: Call
    wrong: Tiny
    added: Tiny
    customer: Customer
    order: Order
