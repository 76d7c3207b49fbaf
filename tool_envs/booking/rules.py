"""The domain policy: rules that are a sentence and a check in one.

Calls are seen with the parameter names of schema 1.0.0. The text for the agent is made from them in `policy`.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from tool_envs.booking.dates import NOW, instant_text
from tool_envs.booking.rows import DAY
from tool_envs.booking.seen import PROFILE, Seen, Trip, flights_of, look
from tool_envs.facts import FactReader, IdKind
from tool_envs.messages import CONTENT, RESPOND, ToolCall
from tool_envs.rules import Called, Event, Heard, Names, Rule, Said, fold, succeeded
from tool_envs.service.rules import (
    Ownership,
    enforced,
    explicit_yes,
    identify_first,
    no_made_up_facts,
    one_customer,
    reasons_given,
    text_argument,
    transfer_last,
)

BOOK = "book_reservation"
CANCEL = "cancel_reservation"
RESERVATION = "get_reservation_details"
CERTIFICATE = "send_certificate"
TRANSFER = "transfer_to_human_agents"
UPDATE_BAGS = "update_reservation_baggages"
UPDATE_FLIGHTS = "update_reservation_flights"
UPDATE_PASSENGERS = "update_reservation_passengers"
WRITES = Names((BOOK, CANCEL, CERTIFICATE, UPDATE_BAGS, UPDATE_FLIGHTS, UPDATE_PASSENGERS))
CUSTOMERS_OWN = frozenset({PROFILE, RESERVATION, *WRITES})
"""Tools that show or change what is a customer's."""
COVERED_REASONS = Names(("health", "weather"))
"""Reasons for a cancellation that travel insurance covers."""
HOURS = 24
"""How long after it was made a reservation can be cancelled for any reason."""
FOR_CANCELLED, FOR_DELAYED = 100, 50
"""Dollars of compensation for each passenger."""
COMPENSATION = "compensation"
"""The kind of a wish for a certificate."""
OUT_OF_SCOPE = "out_of_scope"
"""The kind of a wish that no tool can fulfil."""

FACTS = FactReader(
    IdKind("reservation", "[A-Z][0-9][A-Z]{2}[0-9][A-Z]", capitals=True),
    IdKind("flight", "HAT[0-9]{3}", capitals=True),
    IdKind("payment", "(?:credit_card|gift_card|certificate)_[0-9]{7}"),
    IdKind("user", "[a-z]+_[a-z]+_[0-9]{4}"),
)
"""Finds facts in what was said at an airline."""


def found_user(event: Called) -> str:
    """The user whose profile a successful call showed; empty when it was another call."""
    return text_argument(event.call, "user_id") if event.call.name == PROFILE else ""


_IDENTIFY_FIRST = identify_first(
    "identify_first",
    (
        "Find out who the customer is before you look up or change anything that is a customer's, and before "
        "a transfer: ask for their user id and call `{profile}` with it. As long as nobody was found, ask "
        "again."
    ),
    found_user,
    CUSTOMERS_OWN - {PROFILE} | {TRANSFER},
    profile=PROFILE,
)
_ONE_CUSTOMER = one_customer(
    (
        "A conversation is with one customer, the first one that you found. Do not look up or change anybody "
        "else's data, whoever asks for it. A reservation that is not in the customer's profile (`{profile}`) "
        "is somebody else's: say no without looking it up."
    ),
    Ownership(found_user, PROFILE, "reservations", "reservation_id", CUSTOMERS_OWN),
    profile=PROFILE,
)
_EXPLICIT_YES = explicit_yes(
    (
        "Before each call that changes something ({writes:`}), tell the customer exactly what you are about "
        "to do, with the reservation, the flights and dates, the cabin, the passengers, the bags, the "
        "insurance and what is paid with what, as far as the call has them, and get their explicit yes to "
        "it. A yes counts once, for one call with what was put to them and what they added; if anything of "
        "it changes, ask for a new yes. A no takes back every yes that was not used yet, and a correction "
        "those that it contradicts."
    ),
    WRITES,
)
_NO_MADE_UP_FACTS = no_made_up_facts(
    (
        "Tell the customer only what they or a tool told you. In particular do not write a {kinds} that has "
        "not come up before."
    ),
    FACTS,
    own_words={"calculate", "think", TRANSFER},
    examples={"gift_card_1234567", "credit_card_1234567", "certificate_1234567", "jane_roe_1234"},
    kinds=Names(("reservation id", "flight number", "payment method id", "user id", "e-mail address")),
)


# --- No advice: there is nothing to remember

_ADVICE = Names(
    (
        *("I recommend", "I would recommend", "I'd recommend", "I suggest", "I would suggest", "I'd suggest"),
        *("I advise", "in my opinion"),
    )
)


def _no_advice(template: str, advice: Names) -> Rule:
    phrases = (r"\s+".join(map(re.escape, phrase.split())) for phrase in advice)
    pattern = re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)

    def after(memory: None, event: Event) -> tuple[None, bool]:
        return memory, isinstance(event, Said) and pattern.search(event.text) is not None

    def permits(memory: None, call: ToolCall) -> bool:  # noqa: ARG001 - the interface of a rule
        return call.name != RESPOND or pattern.search(text_argument(call, CONTENT)) is None

    return Rule("no_advice", template, None, after, permits, {"advice": advice})


_NO_ADVICE = _no_advice(
    (
        "Give no advice and no opinion of your own: tell the customer what there is and what it costs, and "
        "let them choose. Never say {advice:`}."
    ),
    _ADVICE,
)


# --- Rules about reservations: the memory is what was shown of them


def _about_reservations(
    rule_id: str, template: str, permits: Callable[[Seen, ToolCall], bool], **parameters: object
) -> Rule:
    """A rule that a call breaks by what was shown of a reservation before it."""
    return Rule(rule_id, template, Seen(), fold(look, permits), permits, parameters)


def _keeps_basic_flights(seen: Seen, call: ToolCall) -> bool:
    if call.name != UPDATE_FLIGHTS:
        return True
    trip = seen.trip(text_argument(call, "reservation_id"))
    return trip is not None and (
        not trip.is_basic or flights_of(call.arguments.get("flights")) == trip.flights
    )


_BASIC_ECONOMY = _about_reservations(
    "basic_economy_flights",
    (
        "Look a reservation up before you change its flights or its cabin (`{tool}`). The flights of a "
        "reservation in basic economy cannot be changed; its cabin can, with the flights as they are. The "
        "tool does not check this."
    ),
    _keeps_basic_flights,
    tool=UPDATE_FLIGHTS,
)


# --- Cancellation: the memory is what was shown, and the reasons given for the wish at hand


class _Case(NamedTuple):
    """What was shown, the number of the wish at hand, and the reasons that were given for it."""

    seen: Seen = Seen()
    wish: int = -1
    reasons: frozenset[str] = frozenset()


def _hear_case(case: _Case, event: Event) -> _Case:
    if not isinstance(event, Heard):
        return case._replace(seen=look(case.seen, event))
    for act in event.acts:
        about = act.get("wish", case.wish)
        if act.get("act") == "wish" and about != case.wish:
            case = case._replace(wish=about, reasons=frozenset())
        given = frozenset(reasons_given(act, CANCEL)) if about == case.wish else frozenset()
        kept = frozenset() if given and act["act"] == "correct" else case.reasons
        case = case._replace(reasons=kept | given)
    return case


def is_cancellable(trip: Trip, reasons: frozenset[str]) -> bool:
    """Whether a reservation can be cancelled for one of these reasons."""
    is_new = trip.created >= instant_text(NOW - HOURS * DAY // 24)
    is_covered = trip.insured and bool(reasons.intersection(COVERED_REASONS))
    return is_new or trip.is_called_off or trip.is_business or is_covered


def _may_cancel(case: _Case, call: ToolCall) -> bool:
    if call.name != CANCEL:
        return True
    trip = case.seen.trip(text_argument(call, "reservation_id"))
    return trip is not None and is_cancellable(trip, case.reasons)


_CANCELLATION = Rule(
    id="cancellation",
    template=(
        "Look a reservation up before you cancel it (`{tool}`), and ask for the reason. "
        "It can be cancelled when it was made within the last {hours} hours, when the airline cancelled one "
        "of its flights, when it is in business, or when it has travel insurance and the reason is one of "
        "these: {reasons}. The membership makes no difference, and the tool does not check this. When none "
        "of it holds, say no."
    ),
    parameters={"tool": CANCEL, "hours": HOURS, "reasons": COVERED_REASONS},
    start=_Case(),
    after=fold(_hear_case, _may_cancel),
    permits=_may_cancel,
)


# --- Compensation: the memory is what was shown, whether it was asked for, and what was sent


class _Claim(NamedTuple):
    """What was shown, whether compensation was asked for, and the ids of reservations that got it."""

    seen: Seen = Seen()
    asked: bool = False
    paid: frozenset[str] = frozenset()


def _hear_claim(claim: _Claim, event: Event) -> _Claim:
    if isinstance(event, Heard):
        kinds = [act.get("kind") for act in event.acts if act.get("act") == "wish"]
        return claim._replace(asked=claim.asked or COMPENSATION in kinds)
    if succeeded(event) and event.call.name == CERTIFICATE:
        return claim._replace(paid=claim.paid.union(_claims(claim, event.call)[:1]))
    return claim._replace(seen=look(claim.seen, event))


def _claims(claim: _Claim, call: ToolCall) -> list[str]:
    """The customer's reservations for which just this certificate is due still."""
    return [
        reservation
        for reservation, trip in claim.seen.trips
        if reservation not in claim.paid
        and trip.user == call.arguments.get("user_id")
        and compensation_for(trip, claim.seen.is_regular) == call.arguments.get("amount") != 0
    ]


def compensation_for(trip: Trip, is_regular: bool) -> int:
    """What is due for a reservation, in dollars.

    Args:
        trip: The reservation.
        is_regular: The customer is a regular member.
    """
    if is_regular and not trip.insured and not trip.is_business:
        return 0
    each = FOR_CANCELLED if trip.is_called_off else FOR_DELAYED if trip.is_delayed else 0
    return each * trip.passengers


def _may_compensate(claim: _Claim, call: ToolCall) -> bool:
    if call.name != CERTIFICATE:
        return True
    return claim.asked and bool(_claims(claim, call))


_COMPENSATION = Rule(
    id="compensation",
    template=(
        "Send a certificate (`{tool}`) only when the customer complains and asks for compensation; do not "
        "offer it. It is due when the airline cancelled a flight of their reservation, {cancelled} dollars "
        "for each passenger of it, or else when a flight of it is delayed, {delayed} dollars for each "
        "passenger; once for a reservation, and only to silver and gold members, for reservations with "
        "travel insurance, and for those in business. Look the reservation up first. The tool does not check "
        "this. Otherwise say no."
    ),
    parameters={"tool": CERTIFICATE, "cancelled": FOR_CANCELLED, "delayed": FOR_DELAYED},
    start=_Claim(),
    after=fold(_hear_claim, _may_compensate),
    permits=_may_compensate,
)


# --- Rules that the tools enforce

_CABIN_CHANGE = enforced(
    "cabin_change",
    "The cabin is the same on all flights of a reservation. It can be changed (`{tool}`), from basic "
    "economy, too, at today's prices and for all flights at once; but neither the cabin nor a flight can be "
    "changed once that flight has left.",
    ("already_flown",),
    (UPDATE_FLIGHTS,),
    tool=UPDATE_FLIGHTS,
)
_BAGS_ONLY_ADDED = enforced(
    "bags_only_added",
    "Checked bags can be added to a reservation (`{tool}`) and not taken away.",
    ("bags_only_added",),
    (UPDATE_BAGS,),
    tool=UPDATE_BAGS,
)
_PASSENGERS_FIXED = enforced(
    "passengers_fixed",
    "The passengers of a reservation can be changed (`{tool}`), and their number cannot.",
    ("passenger_count_fixed",),
    (UPDATE_PASSENGERS,),
    tool=UPDATE_PASSENGERS,
)
_PAYMENT_MIX = enforced(
    "payment_mix",
    "A booking (`{book}`) is paid with at most one certificate, three gift cards and one credit card. A "
    "change of flights, cabin or bags is settled with one gift card or credit card, never with a "
    "certificate.",
    ("too_many_certificates", "too_many_gift_cards", "too_many_credit_cards", "certificate_not_allowed"),
    (BOOK, UPDATE_FLIGHTS, UPDATE_BAGS),
    book=BOOK,
)
_TRANSFER_LAST = transfer_last(TRANSFER, OUT_OF_SCOPE)

RULES: tuple[Rule, ...] = (
    _IDENTIFY_FIRST,
    _ONE_CUSTOMER,
    _EXPLICIT_YES,
    _NO_MADE_UP_FACTS,
    _NO_ADVICE,
    _BASIC_ECONOMY,
    _CABIN_CHANGE,
    _CANCELLATION,
    _BAGS_ONLY_ADDED,
    _PASSENGERS_FIXED,
    _PAYMENT_MIX,
    _COMPENSATION,
    _TRANSFER_LAST,
)
"""All rules, in the order of the text."""
