"""Both domains with all that the tests of their users need."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import sample_bookings as airline
import sample_goals as store
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tool_envs.simulators.agenda import AgendaUser
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.booking_phrases import BOOKING_PHRASES
from tool_envs.simulators.goal import UserGoal, Value, Wish
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES

keys = st.integers(0, 2**64 - 1)
turns = st.integers(0, 30)


class Sample(NamedTuple):
    """A domain with a customer to test with.

    Attributes:
        phrases: Its sentences.
        lexicon: What its customer understands.
        words: What an agent calls the values of the lexicon.
        knows: What the customer knows of themselves.
        wishes: What they may want, by a name.
        goal: Makes a goal of wishes.
        messages: Messages of agents: `right` and `wrong` proposals and `refusals`.
        arguments: Write -> calls of it.
    """

    phrases: Phrases
    lexicon: Mapping[str, tuple[Value, ...]]
    words: Mapping[str, str]
    knows: Mapping[str, str]
    wishes: Mapping[str, Wish]
    goal: Callable[..., UserGoal]
    messages: Mapping[str, list]
    arguments: Mapping[str, SearchStrategy[dict]]

    def talk(self, wanted, *messages, key=1):
        """The user after these messages, and their last turn."""
        user = AgendaUser(self.phrases)
        turn = user.reset(wanted, key)
        for message in messages:
            turn = user.respond(message)
        return user, turn

    def __repr__(self):
        return self.phrases.language.domain

    def voices(self, brief=False):
        """Agents who speak properly."""
        return st.builds(AgentVoice, st.just(self.phrases), keys, turns, st.just(brief))

    def calls(self):
        """Writes with their arguments."""
        return st.sampled_from(sorted(self.arguments)).flatmap(
            lambda tool: st.tuples(st.just(tool), self.arguments[tool])
        )

    def served(self):
        """Wishes that a write fulfils."""
        return st.sampled_from([wish for wish in self.wishes.values() if wish.tool])


def _messages(name):
    return json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def _some(lexicon, leaf, least=1, most=1):
    values = [value.value for value in lexicon[leaf]]
    return st.lists(st.sampled_from(values), min_size=least, max_size=most, unique=True)


def _one(lexicon, leaf):
    return _some(lexicon, leaf).map(lambda values: values[0])


# -- retail -------------------------------------------------------------------------------------------------
def _retail_arguments():
    order = {"order_id": _one(store.LEXICON, "order_id")}
    payment = {"payment_method_id": _one(store.LEXICON, "payment_method_id")}
    # "OR" alone reads as a word: `hearing` writes it out before.
    address = {name: _one(store.LEXICON, name) for name in store.ADDRESS} | {"state": st.just("TX")}
    reason = st.sampled_from(["no longer needed", "ordered by mistake"])
    items = _some(store.LEXICON, "item_ids", 1, 3)
    return {
        "cancel_pending_order": st.fixed_dictionaries({**order, "reason": reason}),
        "return_delivered_order_items": st.fixed_dictionaries({**order, **payment, "item_ids": items}),
        "exchange_delivered_order_items": _swaps({**order, **payment}),
        "modify_pending_order_items": _swaps({**order, **payment}),
        "modify_pending_order_address": st.fixed_dictionaries({**order, **address}),
        "modify_pending_order_payment": st.fixed_dictionaries({**order, **payment}),
        "modify_user_address": st.fixed_dictionaries({"user_id": st.just("jane_roe_1234"), **address}),
    }


def _swaps(arguments):
    new = _some(store.LEXICON, "new_item_ids", 1, 3)
    return new.flatmap(
        lambda new: st.fixed_dictionaries(
            {
                **arguments,
                "item_ids": _some(store.LEXICON, "item_ids", len(new), len(new)),
                "new_item_ids": st.just(new),
            }
        )
    )


# -- booking ------------------------------------------------------------------------------------------------
def _booking_arguments():
    reservation = {"reservation_id": _one(airline.LEXICON, "reservation_id")}
    payment = {"payment_id": _one(airline.LEXICON, "payment_id")}
    cabin = {"cabin": st.sampled_from(["basic_economy", "economy", "business"])}
    people = {"passengers": st.lists(st.sampled_from(airline.PEOPLE), min_size=1, max_size=5, unique_by=str)}
    booked = {
        "user_id": st.just("jane_roe_1234"),
        "origin": _one(airline.LEXICON, "origin"),
        "destination": _one(airline.LEXICON, "destination"),
        "flight_type": st.sampled_from(["one_way", "round_trip"]),
        "insurance": st.sampled_from(["yes", "no"]),
        "payment_methods": _payments(),
    }
    flights = {**cabin, **_flights()}
    return {
        "book_reservation": _with_bags({**booked, **people, **flights}),
        "update_reservation_flights": st.fixed_dictionaries({**reservation, **flights, **payment}),
        "update_reservation_baggages": _with_bags({**reservation, **payment}),
        "update_reservation_passengers": st.fixed_dictionaries({**reservation, **people}),
        "cancel_reservation": st.fixed_dictionaries(reservation),
        "send_certificate": st.fixed_dictionaries(
            {"user_id": st.just("jane_roe_1234"), "amount": st.integers(1, 99_999)}
        ),
    }


def _flights():
    numbers = st.lists(st.integers(1, 999), min_size=1, max_size=4, unique=True)
    dates = _some(airline.LEXICON, "date", 1, 3).map(sorted)
    return {
        "flights": st.tuples(numbers, dates).map(
            lambda both: [
                {"flight_number": f"HAT{number:03}", "date": both[1][k * len(both[1]) // len(both[0])]}
                for k, number in enumerate(both[0])
            ]
        )
    }


def _payments():
    def paid_with(methods):
        amounts = st.lists(st.integers(1, 9999), min_size=len(methods), max_size=len(methods))
        return amounts.map(
            lambda amounts: [
                {"payment_id": method, "amount": amount}
                for method, amount in zip(methods, amounts, strict=True)
            ]
        )

    return _some(airline.LEXICON, "payment_id", 1, 5).flatmap(paid_with)


def _with_bags(arguments):
    """Bags, of which not more are paid for than there are."""
    return st.integers(0, 20).flatmap(
        lambda total: st.fixed_dictionaries(
            {**arguments, "total_baggages": st.just(total), "nonfree_baggages": st.integers(0, total)}
        )
    )


RETAIL = Sample(
    RETAIL_PHRASES,
    store.LEXICON,
    store.WORDS,
    store.KNOWS,
    store.WISHES,
    store.goal,
    _messages("agent_messages.json"),
    _retail_arguments(),
)
BOOKING = Sample(
    BOOKING_PHRASES,
    airline.LEXICON,
    airline.WORDS,
    airline.KNOWS,
    airline.WISHES,
    airline.goal,
    _messages("agent_messages_booking.json"),
    _booking_arguments(),
)
SAMPLES = {"retail": RETAIL, "booking": BOOKING}
