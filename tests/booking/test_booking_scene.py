"""What is read from words and from answers of tools: laws over generated tasks."""

import msgspec
import numpy as np
import pytest
from booking_array_play import new_play, plays, plays_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_envs.booking.codes import customer_row, departure_row, passenger_now, reservation_row
from tool_envs.booking.data import booking_base
from tool_envs.booking.desk import BOOKING_DESK
from tool_envs.booking.ids import Ids
from tool_envs.booking.oracle import BookingClerk
from tool_envs.booking.rows import CABINS, METHOD_KINDS
from tool_envs.booking.scene.blank import (
    nothing_said,
    nothing_wanted,
)
from tool_envs.booking.scene.payments import is_method_meant
from tool_envs.booking.scene.reasons import REASONS, may_be_refused, reason_against, was_looked_up
from tool_envs.booking.scene.rows import flight_code, name_code
from tool_envs.booking.scene.sight import (
    CABIN_COUNT,
    DEMANDS,
    MAX_TRIPS,
    MOVES,
    ONE_STOP,
    QUESTIONS,
    REASONS_TOLD,
    SLOTS,
    UNKNOWN,
    WISHES,
)
from tool_envs.booking.scene.ways import is_wanted, seen_at_hand, side_of, trip_at_hand
from tool_envs.booking.scene.words import Reader, trip_code
from tool_envs.booking.tasks import booking_tasks
from tool_envs.booking.wishes import FAMILIES
from tool_envs.messages import Message
from tool_envs.service.desk import goal_of
from tool_envs.service.progress import alternatives, follow
from tool_envs.simulators import AgendaUser
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.booking_openings import OPENINGS
from tool_envs.simulators.booking_phrases import BOOKING_PHRASES
from tool_envs.simulators.phrasing import sentence
from tool_envs.simulators.user_voice import shared_pools

BASE = booking_base()
IDS = Ids(BASE.seed)
READER = Reader(IDS)
BOOKINGS = ("book_one_way", "book_round_trip", "book_one_stop")

indexes = st.integers(0, 5000)
difficulties = st.integers(1, 5)
keys = st.integers(0, 2**64 - 1)


@st.composite
def wishes(draw):
    """A goal with one wish, as it may be brought up in the course of a task."""
    goal = goal_of(booking_tasks(BASE, "train", draw(difficulties))[draw(indexes)])
    wish = draw(st.sampled_from([each for wish in goal.wishes for each in alternatives(wish)]))
    return msgspec.structs.replace(goal, wishes=(wish,))


def message_of(turn):
    return Message(role="user", name="user", content=turn.text, acts=turn.acts)


def opening(goal, key):
    return READER.read(message_of(AgendaUser(BOOKING_PHRASES).reset(goal, key)))


def filled(codes, row):
    """The codes, and -1 up to the length of a row."""
    return [*codes, *[-1] * (len(row) - len(codes))]


def day_of(leg):
    return BASE.find_date(leg["date"])


# --- Words


def test_all_kinds_of_wishes_are_known():
    assert set(WISHES) == set(OPENINGS)


@given(wishes(), keys)
def test_the_opening_of_a_wish_says_its_kind_and_its_reason(goal, key):
    words, wish = opening(goal, key), goal.wishes[0]

    assert words.said.wish == (WISHES.index(wish.kind) if wish.kind in WISHES else -1)
    assert words.wanted.reason == (REASONS_TOLD.index(wish.means["reason"]) if "reason" in wish.words else -1)
    assert not words.user_id


@given(wishes(), keys)
def test_the_opening_of_a_wish_says_which_reservation_is_meant(goal, key):
    wanted, words = opening(goal, key).wanted, goal.wishes[0].words.get("reservation_id", "")

    is_id = words.startswith("reservation ")
    assert wanted.trip == (trip_code(IDS, words.removeprefix("reservation ")) if is_id else -1)
    route = [BASE.airport_codes[code[:3]] for code in words.split("(")[1:]] or [-1, -1]
    assert [wanted.trip_from, wanted.trip_to] == route


@given(wishes(), keys)
def test_the_opening_of_a_booking_says_where_when_and_in_which_cabin(goal, key):
    wanted, wish = opening(goal, key).wanted, goal.wishes[0]

    for arguments in wish.accepted if wish.kind in BOOKINGS else ():
        assert wanted.origin == BASE.airport_codes[arguments["origin"]]
        assert wanted.destination == BASE.airport_codes[arguments["destination"]]
        assert wanted.cabin == CABINS.index(arguments["cabin"])
        assert wanted.bags == wanted.more_bags == -1
        assert wanted.stops == (wish.kind == "book_one_stop")
        back = [day_of(arguments["flights"][-1])] if wish.kind == "book_round_trip" else [-1]
        assert wanted.days == [day_of(arguments["flights"][0]), *back]


@pytest.mark.parametrize("budget", ["$9", "$90", "$920", "$1,020", "$12,009"])
def test_a_budget_is_no_number_of_bags(budget):
    text = f"I want any direct flight whose fares cost at most {budget} in all."

    wanted = READER.read(Message(role="user", content=text)).wanted
    assert wanted.bags == -1
    assert wanted.at_most == 100 * int(budget[1:].replace(",", ""))


@given(wishes(), keys)
def test_other_wishes_say_no_route_and_the_numbers_that_they_have(goal, key):
    wanted, wish = opening(goal, key).wanted, goal.wishes[0]

    if wish.kind in BOOKINGS:
        return
    assert wanted.origin == wanted.destination == -1
    bags = {each["total_baggages"] for each in wish.accepted if "total_baggages" in each} or {-1}
    assert {wanted.bags} == bags
    more = wish.words.get("baggage", "") or wish.opening.partition(" more checked bag")[0]
    digits = [int(word) for word in more.split() if word.isdigit()]
    is_more = "more checked bag" in wish.opening
    assert wanted.more_bags == (digits[-1 if "baggage" not in wish.words else 0] if is_more else -1)


@given(wishes(), keys)
def test_the_opening_says_what_pays_in_order(goal, key):
    wanted, wish = opening(goal, key).wanted, goal.wishes[0]

    for arguments in wish.accepted:
        paid = [each["payment_id"] for each in arguments.get("payment_methods", ())]
        paid += [arguments["payment_id"]] if "payment_id" in arguments else []
        assert wanted.methods == len(paid)
        assert wanted.method_kind[: len(paid)] == [METHOD_KINDS.index(each[:-8]) for each in paid]


@given(wishes(), keys)
def test_the_opening_says_who_flies_instead_of_whom(goal, key):
    wanted, wish = opening(goal, key).wanted, goal.wishes[0]

    if wish.kind == "change_passengers":
        (arguments,) = wish.accepted
        new = [name_code(each["first_name"], each["last_name"]) for each in arguments["passengers"]]
        assert wanted.people[0] in new
        assert wanted.people[1:] == [-1] * 4
        assert wanted.instead >= 0
        assert wanted.instead not in new
    elif wish.kind == "add_passenger":
        assert wanted.people == filled([name_code(*wish.words["passengers"].split(" "))], wanted.people)
    else:
        assert wanted.people == filled([], wanted.people)


@given(wishes(), keys)
def test_a_question_is_told_by_its_words(goal, key):
    said, fact = opening(goal, key).said, goal.wishes[0].fact

    of_type = {"amount": QUESTIONS[:5], "count": QUESTIONS[5:7], "status": QUESTIONS[7:]}
    assert (said.question >= 0) == (fact is not None)
    assert fact is None or QUESTIONS[said.question] in of_type[fact.type]


@given(wishes(), keys)
def test_demands_are_read(goal, key):
    demands = sum(1 << k for k, demand in enumerate(DEMANDS) if demand in goal.conditions)
    assert opening(goal, key).said.demands == demands


@pytest.mark.parametrize("demand", DEMANDS)
def test_each_way_to_demand_something_says_that_and_no_more(demand):
    for form in BOOKING_PHRASES.conditions[demand]:
        text = sentence(form.format(words="English" if demand == "language" else "600"))

        words = READER.read(Message(role="user", content=text))
        demands = 1 << DEMANDS.index(demand)
        assert words.said == msgspec.structs.replace(nothing_said(), demands=demands)
        assert words.wanted == nothing_wanted()


@given(wishes(), keys, keys, st.sampled_from([(), ("terse",), ("talkative",)]))
def test_what_is_said_does_not_depend_on_how(goal, key, other, traits):
    assert opening(goal, key) == opening(msgspec.structs.replace(goal, traits=traits), other)


def test_small_talk_and_courtesies_say_nothing():
    pools = shared_pools()
    sentences = [text for name in ("plain", "short") for pool in pools[name].values() for text in pool]
    sentences += [text for pool in pools["talk"] for text in pool]

    for text in sentences:
        words = READER.read(Message(role="user", content=text.format(words="", noun="that", phrase="")))
        assert (words.said, words.wanted, words.user_id) == (nothing_said(), nothing_wanted(), "")


@given(wishes(), keys)
def test_who_is_asked_for_their_user_id_tells_it_and_nothing_else(goal, key):
    user = AgendaUser(BOOKING_PHRASES)
    user.reset(msgspec.structs.replace(goal, traits=()), key)
    words = READER.read(message_of(user.respond(AgentVoice(BOOKING_PHRASES, key, 1).ask(["user_id"]))))

    assert words.user_id == goal.knows["user_id"]
    assert words.wanted == nothing_wanted()


FIELDS_OF = {
    "reservation_id": ("trip", "trip_from", "trip_to"),
    "flights": ("best", "stops", "leaves_after", "arrives_before", "at_most", "days"),
    "cabin": ("cabin",),
    "passengers": ("people", "instead"),
    "payment_method": ("methods", "method_kind", "method_how", "method_mark"),
    "baggage": ("bags", "more_bags"),
    "insurance": ("insurance",),
    "reason": ("reason",),
}
"""Slot -> what an answer to a question for it says."""


SAID_BY_KIND = {("remove_bags", "baggage"), ("insurance", "insurance")}
"""Kinds of wishes and slots of which the words say nothing that the kind does not say."""


@settings(max_examples=200)
@given(wishes(), keys, st.sampled_from(sorted(FIELDS_OF)))
def test_an_answer_says_what_there_is_to_say_of_that_slot_alone(goal, key, slot):
    user, wish = AgendaUser(BOOKING_PHRASES), goal.wishes[0]
    first = READER.read(message_of(user.reset(goal, key))).wanted
    answer = READER.read(message_of(user.respond(AgentVoice(BOOKING_PHRASES, key, 1).ask([slot]))))

    known = slot in wish.words
    assert answer.said.unknown == (1 << SLOTS.index(slot) if slot in SLOTS and not known else 0)
    expected = nothing_wanted()
    for name in FIELDS_OF[slot] if known else ():
        setattr(expected, name, getattr(answer.wanted, name))
        said_before, said_now = getattr(first, name), getattr(answer.wanted, name)
        is_silent = said_before == getattr(nothing_wanted(), name) or name == "days"
        assert is_silent or said_now == said_before
    assert answer.wanted == expected
    assert is_told(answer.wanted, slot) == (known and (wish.kind, slot) not in SAID_BY_KIND)
    for arguments in wish.accepted if known else ():
        assert_says(answer.wanted, slot, arguments)


def is_told(wanted, slot):
    """Whether anything at all is said of a slot."""
    silence = nothing_wanted()
    return any(getattr(wanted, name) != getattr(silence, name) for name in FIELDS_OF[slot])


def assert_says(wanted, slot, arguments):
    """What is said of a slot is what a call is right with."""
    if slot == "insurance":
        assert wanted.insurance == (arguments["insurance"] == "yes")
    elif slot == "baggage":
        assert wanted.bags == arguments["total_baggages"]
    elif slot == "passengers" and "payment_methods" in arguments:
        people = [name_code(each["first_name"], each["last_name"]) for each in arguments["passengers"]]
        assert wanted.people == filled(people, wanted.people)
    elif slot == "cabin":
        assert wanted.cabin == CABINS.index(arguments["cabin"])


# --- What words mean on what was shown


def progress_of(play):
    return follow(BOOKING_DESK, goal_of(play.env.task), play.env.episode.history)


def is_looked_up(progress):
    return progress.user_id and progress.read.issuperset(progress.wish.evidence)


@settings(max_examples=150)
@given(plays_of([*BOOKINGS, "change_flights"]))
def test_what_is_wanted_is_what_would_be_accepted(play):
    for at, _ in play:
        progress, sight = progress_of(at), at.sight
        is_known = is_looked_up(progress) and was_looked_up(sight) and seen_enough(sight)
        if not is_known or progress.wish.forbidden or "flights" not in progress.wish.words:
            continue
        if progress.written:  # which may have taken the seats
            return
        assert wanted_at(sight) == accepted_at(sight, progress)


def wanted_at(sight):
    """Flights and days of the ways that the words want, among those that searches found."""
    return {tuple(legs_of(offer)) for row, offer in enumerate(sight.offers) if is_wanted(sight, row)}


def accepted_at(sight, progress):
    """Flights and days of the ways that the customer takes; the way back of a reservation is no such way."""
    looked_for = {tuple(legs_of(offer)) for row, offer in enumerate(sight.offers) if side_of(sight, row) >= 0}
    found = set()
    for arguments in accepted_now(progress):
        legs = [(flight_code(each["flight_number"]), day_of(each)) for each in arguments["flights"]]
        size = 1 + (sight.wanted.stops == ONE_STOP)
        assert tuple(legs[:size]) in looked_for
        found |= {tuple(legs[start : start + size]) for start in range(0, len(legs), size)} & looked_for
    return found


def test_flights_that_are_named_by_their_numbers_are_what_is_wanted_now():
    changed = 0
    for index in range(600):
        play = new_play(len(FAMILIES) * index + list(FAMILIES).index("book_one_way"), difficulty=2)
        goal = goal_of(play.env.task)
        if "changes_mind" not in goal.traits or len(goal.wishes[0].accepted) < 2:
            continue
        while play.sight.wanted.flights[0] < 0:
            play.take(*play.oracle_choices())
        changed += 1
        play.take(play.number("ask_passengers"), ())
        progress = progress_of(play)
        assert wanted_at(play.sight) == accepted_at(play.sight, progress)
        assert len(wanted_at(play.sight)) < len(progress.wish.accepted)
    assert changed


def seen_enough(sight):
    """Whether it was told how many fly, or shown, and in which cabin."""
    return sight.wanted.people[0] >= 0 or seen_at_hand(sight) >= 0


def legs_of(offer):
    return list(zip(offer.flight[: offer.legs], offer.day[: offer.legs], strict=True))


def accepted_now(progress):
    """The sets that the customer still takes, after what they corrected."""
    now, accepted = progress.corrections.get("flights"), progress.wish.accepted
    if not isinstance(now, list):  # in the words of the wish
        return accepted
    return [each for each in accepted if each["flights"] == now]


@settings(max_examples=80)
@given(plays)
def test_the_reservation_and_the_methods_at_hand_are_those_of_the_wish(play):
    for at, _ in play:
        progress, memory = progress_of(at), at.scene.memory
        for arguments in progress.wish.accepted if is_looked_up(progress) and not at.over else ():
            place = trip_at_hand(at.sight)
            if "reservation_id" in arguments:
                assert memory.profile.trip_ids[place] == arguments["reservation_id"]
            paid = [each["payment_id"] for each in arguments.get("payment_methods", ())]
            paid += [arguments["payment_id"]] if "payment_id" in arguments else []
            if not progress.written:  # by what methods held then
                assert meant_methods(at, len(paid)) == [{each} for each in paid]


def meant_methods(play, count):
    ids = play.scene.memory.profile.method_ids
    return [
        {ids[method] for method in range(len(ids)) if is_method_meant(play.sight, method, place)}
        for place in range(count)
    ]


@settings(max_examples=80)
@given(plays)
def test_the_reason_for_a_no_is_that_of_the_oracle(play):
    for at, _ in play:
        clerk = BookingClerk(at.env.episode)
        if is_looked_up(clerk.progress) and clerk.wish.forbidden and not at.over:
            assert REASONS[reason_against(at.sight)] == clerk.reason_against()
            is_counted = clerk.wish.kind not in BOOKINGS or at.sight.wanted.people[0] >= 0
            assert may_be_refused(at.sight) == bool(is_counted)


# --- Rows


@settings(max_examples=60)
@given(plays)
def test_rows_are_those_of_the_database_as_far_as_they_were_shown(play):
    for at, _ in play:
        memory, database = at.scene.memory, at.env.episode.database
        for place in range(MAX_TRIPS) if at.sight.scene.profile else ():
            if at.sight.scene.trip_seen[place]:
                row = reservation_row(database, *IDS.of_reservation_id(memory.profile.trip_ids[place]))
                assert shown(at.sight.trips[place], memory) == stored(row, database)
        if at.sight.scene.profile and not at.sight.scene.stale:
            assert_same_money(at)


def shown(trip, memory):
    """A reservation as it was shown, with names and ids in place of places in the profile."""
    people = [memory.profile.people[number] for number in trip.passenger[: trip.passengers]]
    return facts_of(trip), people, trip.payment_amount


def stored(trip, database):
    people = [passenger_now(database, code) for code in trip.passenger[: trip.passengers]]
    return facts_of(trip), people, trip.payment_amount


def facts_of(trip):
    hidden = {"customer": -1, "number": -1, "passenger": [], "payment_method": [], "payment_amount": []}
    return msgspec.structs.replace(trip, **hidden)


def assert_same_money(play):
    """Methods, by their ids, hold what they hold in the database; those that are gone hold nothing."""
    memory, database = play.scene.memory, play.env.episode.database
    row = customer_row(database, BASE.find_user(memory.user_id))
    held = {
        BASE.method_id(row.index, number, row.method_kind[number]): row.balance[number]
        for number in range(row.methods)
    }
    for number, method_id in enumerate(memory.profile.method_ids):
        assert play.sight.customer.method_kind[number] == METHOD_KINDS.index(method_id[:-8])
        assert play.sight.customer.balance[number] == held[method_id]
    assert play.sight.customer.membership == row.membership
    assert play.sight.customer.reservations == row.reservations


@settings(max_examples=60)
@given(plays)
def test_prices_and_seats_are_those_of_the_database(play):
    for at, _ in play:
        database = at.env.episode.database
        for offer in [*at.sight.offers, *at.sight.ways]:
            for leg, (flight, day) in enumerate(legs_of(offer)):
                row, own = (
                    departure_row(database, flight, day),
                    slice(leg * CABIN_COUNT, (leg + 1) * CABIN_COUNT),
                )
                assert offer.status[leg] == row.status
                assert offer.price[own] in (row.price, [UNKNOWN] * CABIN_COUNT)
                assert offer.seats[own] in (row.seats, [UNKNOWN] * CABIN_COUNT)


# --- What is kept in mind


@pytest.mark.parametrize("family", BOOKINGS)
def test_what_was_told_of_a_wish_is_kept_when_they_only_say_the_wish_again(family):
    play = new_play(list(FAMILIES).index(family))
    for verb in ("ask_passengers", "ask_baggage", "ask_insurance"):
        play.take(play.number(verb), ())
    told = play.sight.wanted.copy()
    play.take(play.number("more"), ())

    assert play.sight.scene.moves == 1 << MOVES.index("wish")
    assert play.sight.wanted == told
    assert told.people[0] >= 0
    assert told.bags >= 0
    assert told.insurance >= 0


def test_what_was_told_of_a_wish_is_forgotten_when_another_one_is_brought_up():
    for index in range(len(FAMILIES)):
        play = new_play(index, difficulty=3)
        goal = goal_of(play.env.task)
        while WISHES[play.sight.scene.wish] != goal.wishes[1].kind and not play.over:
            play.take(*play.oracle_choices())
        if play.sight.scene.wish >= 0 and goal.wishes[0].kind != goal.wishes[1].kind:
            turn = play.env.episode.history[-1]
            expected = READER.read(turn).wanted
            assert named(play.sight.wanted) == named(expected)


def named(wanted):
    """What is said; what was said of methods before stays behind those that count."""
    rest = {name: [] for name in ("method_kind", "method_how", "method_mark")}
    return msgspec.structs.replace(wanted, **rest)


def test_searches_that_find_more_than_there_is_room_for_push_out_what_is_not_wanted():
    index = list(FAMILIES).index("book_round_trip")
    play = new_play(index)
    while not play.sight.scene.offers:
        play.take(*play.oracle_choices())
    wanted = [offer.copy() for offer in play.sight.offers[: play.sight.scene.offers]]
    number = play.number("search_onestop_flight")
    rng = np.random.default_rng(0)
    pushed_out = 0
    while pushed_out < 3:
        before = play.sight.scene.offers
        play.take(
            number, (*(int(code) for code in rng.choice(20, 2, replace=False)), int(rng.integers(16, 28)))
        )
        pushed_out += play.sight.scene.offers < before

        assert play.sight.offers[: len(wanted)] == wanted
