"""Wishes for flights: what customers say decides what is right, by brute force over what searches answer."""

import itertools
import json
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_envs.booking.data import booking_base
from tool_envs.booking.rows import CABINS, CERTIFICATE, GIFT_CARD
from tool_envs.booking.toolkit import booking_toolkit
from tool_envs.booking.wishes.bookings import book_one_stop, book_one_way, book_round_trip
from tool_envs.booking.wishes.criteria import ANY, BEST, Criterion, choose, draw_shape, find_criterion
from tool_envs.booking.wishes.flight_changes import change_flights
from tool_envs.booking.wishes.payments import draw_payment
from tool_envs.booking.wishes.traveller import Traveller, segments
from tool_envs.booking.wishes.ways import Way, options, routes, search_of, take_ways
from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.randomness import Draws

WORLDS = ((20, 100, 3), (20, 140, 0), (20, 300, 1))
BOOKERS = (book_one_way, book_round_trip, book_one_stop)
BAG, INSURANCE = 50, 30
"""Dollars for a bag that is not free, and for the insurance of a passenger."""
FREE_BAGS = {
    "regular": {"basic_economy": 0, "economy": 1, "business": 2},
    "silver": {"basic_economy": 1, "economy": 2, "business": 3},
    "gold": {"basic_economy": 2, "economy": 3, "business": 4},
}
MAKERS = (*BOOKERS, change_flights)
WANTED = re.compile(
    r"(any|the (?P<best>[a-z-]+)) (?:direct flight|connection with one stop)(?: there)?"
    r"(?: on (?:July \d+(?:st|nd|rd|th)?(?:, 2025)?|\d+ July|2025-07-\d\d))?"
    r"(?: that leaves after (?P<after>noon|\d+ [AP]M))?"
    r"(?: and)?(?: that arrives before (?P<before>noon|\d+ [AP]M) on the same day)?"
    r"(?: and)?(?: whose fares cost at most \$(?P<most>[\d,]+) in all)?"
    r"(?:, for each way on its own|, with the way back as it is)?"
)

seeds = st.integers(0, 2**32)
bases = st.sampled_from(WORLDS).map(lambda world: booking_base(*world))


@st.composite
def travellers(draw):
    base = draw(bases)
    customer = draw(st.integers(0, base.customers - 1))
    return Traveller(base, customer, Draws(draw(seeds), 7, customer), draw(st.booleans()))


def wish_by(maker, traveller):
    """A wish by a maker, of this traveller or else of the next ones with other draws."""
    for seed in range(200):
        planned = maker(traveller)
        if planned is not None:
            return planned, traveller
        customer = (traveller.customer + 1) % traveller.base.customers
        traveller = Traveller(traveller.base, customer, Draws(seed, 8, customer), traveller.forgetful)
    raise AssertionError(f"no customer can have such a wish by {maker}")


def answer(database, call):
    result = booking_toolkit("1.0.0").call(database, call)
    assert result.code is None, (call, result.content)
    return json.loads(result.content)


# --- Brute force: over what a search answers, with the words of the customer


def found(database, search):
    """What a search shows: itineraries, each a list of flights."""
    shown = answer(database, search)
    return shown["connections"] if "connections" in shown else [[flight] for flight in shown["flights"]]


def minutes(time):
    """From the midnight of its own day."""
    clock, _, days = time.partition("+")
    hours, rest, _ = clock.split(":")
    return int(days or 0) * 1440 + int(hours) * 60 + int(rest)


def facts(itinerary, cabin):
    """Departure, arrival (minutes from midnight of the first day) and the fare of one passenger."""
    first, last = itinerary[0], itinerary[-1]
    month_ends = {"06": 0, "07": 30}
    days = [month_ends[leg["date"][5:7]] + int(leg["date"][8:]) for leg in (first, last)]
    arrival = (days[1] - days[0]) * 1440 + minutes(last["scheduled_arrival_time_est"])
    fare = sum(leg["prices"][cabin] for leg in itinerary)
    return minutes(first["scheduled_departure_time_est"]), arrival, fare


def hour(words):
    if words is None or words == "noon":
        return words and 12 * 60
    number, half = words.split()
    return (int(number) % 12 + 12 * (half == "PM")) * 60


def dollars(words):
    return words and int(words.replace(",", ""))


def best_of(itineraries, wanted, cabin, party):
    """The itineraries that nothing speaks against, and than which there is no better one."""
    best, after, before, most = wanted
    fitting = []
    for itinerary in itineraries:
        leaves, arrives, fare = facts(itinerary, cabin)
        has_seats = all(leg["available_seats"][cabin] >= party for leg in itinerary)
        late = before is not None and not arrives < before
        dear = most is not None and not fare * party <= most
        early = after is not None and not leaves > after
        if has_seats and not (late or dear or early):
            key = {
                "cheapest": fare,
                "earliest-departing": leaves,
                "earliest-arriving": arrives,
                "latest-departing": -leaves,
            }
            fitting.append((key.get(best, 0), numbers(itinerary)))
    return {flights for key, flights in fitting if not any(other < key for other, _ in fitting)}


def numbers(legs):
    return tuple((leg["flight_number"], leg["date"]) for leg in legs)


def wanted_by(wish):
    """What the words of a wish say: what is best, leaves after, arrives before, dollars at most."""
    said = WANTED.fullmatch(wish.words["flights"])
    assert said, wish.words["flights"]
    best, *limits = said["best"], hour(said["after"]), hour(said["before"]), dollars(said["most"])
    return best, *limits


def searches_of(planned):
    return [call for call in planned.reads if call.name.startswith("search")]


def party_of(database, planned):
    """How many fly: by the booking, or by the reservation that is changed."""
    arguments = planned.writes[0].arguments
    if "passengers" not in arguments:
        arguments = answer(database, planned.reads[0])
    return len(arguments["passengers"])


def right_flights(database, planned, wish):
    """All lists of flights that are right by the words of a wish and what its searches answer."""
    cabin, party = wish.words["cabin"].replace(" ", "_"), party_of(database, planned)
    searches = searches_of(planned)
    ways = [best_of(found(database, search), wanted_by(wish), cabin, party) for search in searches]
    return {tuple(itertools.chain(*legs)) for legs in itertools.product(*ways)}


# --- Criteria


@st.composite
def markets(draw):
    """A base, a way with options, a cabin and a party."""
    base, stops = draw(bases), draw(st.integers(0, 1))
    origin, destination = draw(st.sampled_from(routes(base, stops)))
    way = Way(origin, destination, draw(st.integers(14, 29)), stops)
    return base, way, draw(st.integers(0, 2)), draw(st.integers(1, 5))


@st.composite
def criteria(draw, base, way, cabin, party):
    """Criteria with up to two limits, each of which some offer just does not keep, or just keeps."""
    known = [facts(each, CABINS[cabin]) for each in found(Database(base), search_of(base, way))]
    which = draw(st.sets(st.integers(0, 2), max_size=2))
    after, before, fare = (
        draw(st.sampled_from(sorted({each[place] for each in known} or {600}))) if place in which else None
        for place in range(3)
    )
    return Criterion(draw(st.sampled_from((ANY, *BEST))), after, before, fare and fare * party * 100)


@given(markets(), st.data())
def test_a_criterion_leaves_what_brute_force_leaves(market, data):
    base, way, cabin, party = market
    criterion = data.draw(criteria(*market))

    chosen = choose(criterion, options(base, way, cabin, party), party)

    best, after, before, most = criterion
    wanted = best, after, before, most and most // 100
    legs = {
        tuple((base.flight_number(flight), base.date(day)) for flight, day in each.legs) for each in chosen
    }
    assert legs == best_of(found(Database(base), search_of(base, way)), wanted, CABINS[cabin], party)


@given(markets(), seeds)
def test_a_criterion_that_is_found_leaves_few_and_every_part_of_it_matters(market, seed):
    base, way, cabin, party = market
    offered = options(base, way, cabin, party)
    draws = Draws(seed, 0, 0)

    criterion = find_criterion(draws, draw_shape(draws), [offered], party)

    if criterion is not None:
        chosen = choose(criterion, offered, party)
        weaker = [
            criterion._replace(**{name: nothing})
            for name, nothing in Criterion()._asdict().items()
            if getattr(criterion, name) != nothing
        ]
        assert 1 <= len(chosen) <= 6
        assert len(offered) - len(chosen) >= 2
        assert weaker
        assert all(choose(each, offered, party) != chosen for each in weaker)


# --- Bookings


@pytest.mark.parametrize("maker", BOOKERS)
@given(travellers())
def test_what_they_say_decides_which_flights_are_right(maker, traveller):
    planned, traveller = wish_by(maker, traveller)
    wish = planned.wish.otherwise or planned.wish

    accepted = [numbers(arguments["flights"]) for arguments in wish.accepted]
    right = right_flights(Database(traveller.base), planned, wish)
    assert len(accepted) == len(set(accepted))
    assert set(accepted) == right


@pytest.mark.parametrize("maker", MAKERS)
@given(travellers())
def test_on_every_way_two_flights_with_seats_are_wrong(maker, traveller):
    planned, traveller = wish_by(maker, traveller)
    wish, database = planned.wish.otherwise or planned.wish, Database(traveller.base)
    cabin, party = wish.accepted[0]["cabin"], party_of(database, planned)

    for search in searches_of(planned):
        offered = found(database, search)
        any_seats = best_of(offered, (ANY, None, None, None), cabin, party)
        assert len(any_seats - best_of(offered, wanted_by(wish), cabin, party)) >= 2


@given(travellers())
def test_business_is_refused_exactly_when_no_flight_keeps_to_the_budget(traveller):
    planned, traveller = wish_by(book_one_way, traveller)
    wish, database = planned.wish, Database(traveller.base)

    assert wish.forbidden == (not right_flights(database, planned, wish))
    if wish.forbidden:
        assert (wish.words["cabin"], wish.otherwise.accepted[0]["cabin"]) == ("business", "economy")
        assert not wish.tool
        assert not wish.otherwise.forbidden


def test_some_are_too_poor_for_business_and_as_many_who_say_the_same_are_not():
    base = booking_base(20, 300, 1)
    said = [
        planned.wish
        for seed in range(400)
        if (planned := book_one_way(Traveller(base, seed % 20, Draws(seed, 9, 0), False)))
        and planned.wish.words["cabin"] == "business"
        and re.fullmatch(r"any direct flight whose fares .*", planned.wish.words["flights"])
    ]

    assert 0.3 < sum(wish.forbidden for wish in said) / len(said) < 0.7


@pytest.mark.parametrize("maker", BOOKERS)
@given(travellers())
def test_every_right_booking_succeeds_and_costs_what_is_paid(maker, traveller):
    planned, traveller = wish_by(maker, traveller)
    wish = planned.wish.otherwise or planned.wish

    for arguments in wish.accepted:
        made = answer(Database(traveller.base), ToolCall(wish.tool, arguments))
        people = len(arguments["passengers"])
        fares = sum(flight["price"] for flight in made["flights"]) * people
        extras = BAG * made["nonfree_baggages"] + INSURANCE * people * (made["insurance"] == "yes")
        assert sum(payment["amount"] for payment in arguments["payment_methods"]) == fares + extras
        assert numbers(made["flights"]) == numbers(arguments["flights"])
    assert planned.writes == (ToolCall(wish.tool, wish.accepted[0]),)


@pytest.mark.parametrize("maker", BOOKERS)
@given(travellers())
def test_each_method_pays_what_it_holds_in_the_order_they_say(maker, traveller):
    planned, traveller = wish_by(maker, traveller)
    wish = planned.wish.otherwise or planned.wish
    profile = ToolCall("get_user_details", {"user_id": traveller.user_id})
    methods = answer(Database(traveller.base), profile)["payment_methods"]

    for arguments in wish.accepted:
        *first, last = arguments["payment_methods"]
        kinds = [methods[payment["payment_id"]]["source"] for payment in first]
        assert kinds == sorted(kinds)  # a certificate, then gift cards
        assert kinds.count("certificate") <= 1
        assert [each["amount"] for each in first] == [methods[each["payment_id"]]["amount"] for each in first]
        assert methods[last["payment_id"]]["source"] == "credit_card"
        assert last["amount"] > 0
        assert payment_forms(arguments["payment_methods"], methods) == wish.words["payment_method"]


def payment_forms(payments, methods):
    """How the payments are said when each method is named by what its profile shows."""
    sources = [method["source"] for method in methods.values()]

    def name(payment):
        method = methods[payment["payment_id"]]
        if method["source"] == "credit_card":
            return f"my {method['brand']} card ending in {method['last_four']}"
        noun = method["source"].replace("_", " ")
        alone = sources.count(method["source"]) == 1
        return f"my {noun}" if alone else f"my {noun} with ${method['amount']}"

    *first, last = map(name, payments)
    said = [f"{name} first" if place == 0 else f"then {name}" for place, name in enumerate(first)]
    return ", ".join([*said, f"and {last} for the rest"]) if said else last


@pytest.mark.parametrize("maker", BOOKERS)
@given(travellers())
def test_the_rest_of_a_booking_is_as_they_say(maker, traveller):
    planned, traveller = wish_by(maker, traveller)
    wish = planned.wish.otherwise or planned.wish
    words, arguments = wish.words, wish.accepted[0]
    people, airports = arguments["passengers"], {each.iata: each.city for each in traveller.base.airports}
    profile = ToolCall("get_user_details", {"user_id": traveller.user_id})
    membership = answer(Database(traveller.base), profile)["membership"]
    free = FREE_BAGS[membership][arguments["cabin"]] * len(people)

    place = arguments["origin"], arguments["destination"]
    assert (words["origin"], words["destination"]) == tuple(f"{airports[each]} ({each})" for each in place)
    assert all(
        f"{each['first_name']} {each['last_name']}, born {each['dob']}" in words["passengers"]
        for each in people
    )
    assert words["passengers"].count("born") == len(people)
    assert words["baggage"].split()[0] == str(arguments["total_baggages"] or "no")
    assert arguments["nonfree_baggages"] == max(0, arguments["total_baggages"] - free)
    assert words["insurance"] == f"with{'' if arguments['insurance'] == 'yes' else 'out'} travel insurance"
    assert (
        words["trip_type"] == {"one_way": "one way", "round_trip": "a round trip"}[arguments["flight_type"]]
    )
    ways = zip(*map(said_dates, days_of(planned)), strict=True)
    assert words["date"] in map(" and back on ".join, ways)


def test_dates_are_said_in_every_way():
    ways = [0] * 5
    for customer in range(100):
        planned, _ = wish_by(book_one_way, Traveller(booking_base(), customer, Draws(1, 7, customer), False))
        ways[said_dates(days_of(planned)[0]).index(planned.wish.words["date"])] += 1

    assert min(ways) > 5


def days_of(planned):
    return [call.arguments["date"] for call in planned.reads if "date" in call.arguments]


def said_dates(date):
    """A date in each of the ways in which customers say it."""
    month, day = {"06": "June", "07": "July"}[date[5:7]], int(date[8:])
    ending = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return [f"{month} {day}", f"{month} {day}{ending}", f"{day} {month}", f"{month} {day}, 2025", date]


# --- Changes


@given(travellers())
def test_what_they_say_decides_which_flights_are_changed_to(traveller):
    planned, traveller = wish_by(change_flights, traveller)
    wish, database = planned.wish, Database(traveller.base)
    now = answer(database, planned.reads[0])
    there = 1 + [flight["destination"] for flight in now["flights"]].index(now["destination"])
    kept = numbers(now["flights"][there:])

    right = right_flights(database, planned, wish)
    assert {numbers(arguments["flights"]) for arguments in wish.accepted} == {legs + kept for legs in right}
    assert numbers(now["flights"]) not in {numbers(arguments["flights"]) for arguments in wish.accepted}
    assert wish.words["date"] in said_dates(planned.reads[1].arguments["date"])
    assert wish.words["date"] in wish.words["flights"]
    assert ("way back" in wish.words["flights"]) == bool(kept) == (now["flight_type"] == "round_trip")


@given(travellers())
def test_every_right_change_succeeds(traveller):
    planned, traveller = wish_by(change_flights, traveller)
    wish, base = planned.wish, traveller.base
    now = answer(Database(base), planned.reads[0])

    assert now["cabin"] != "basic_economy"
    for arguments in wish.accepted:
        made = answer(Database(base), ToolCall(wish.tool, arguments))
        assert made["cabin"] == now["cabin"]
        assert all(flight["status"] == "available" for flight in made["flights"])
    assert planned.writes == (ToolCall(wish.tool, wish.accepted[0]),)


@given(travellers())
def test_flights_that_they_have_are_no_choice_by_fare_and_have_seats(traveller):
    planned, traveller = wish_by(change_flights, traveller)
    database, party = Database(traveller.base), party_of(Database(traveller.base), planned)
    now = answer(database, planned.reads[0])
    best, _, _, most = wanted_by(planned.wish)

    for leg in itertools.chain.from_iterable(found(database, planned.reads[1])):
        if numbers([leg])[0] in numbers(now["flights"]):
            assert best != "cheapest"
            assert most is None
            assert leg["available_seats"][now["cabin"]] >= party


def differences(base, planned):
    """What each right change costs, in dollars; a refund is below 0."""
    histories = [(answer(Database(base), planned.reads[0])["payment_history"])]
    made = [answer(Database(base), ToolCall(planned.wish.tool, each)) for each in planned.wish.accepted]
    histories += [each["payment_history"] for each in made]
    before, *after = (sum(payment["amount"] for payment in history) for history in histories)
    return [paid - before for paid in after]


def test_a_gift_card_settles_a_change_exactly_when_it_holds_the_dearest():
    base = booking_base(200, 300, 1)
    used = Counter()
    for customer, seed in itertools.product(range(200), range(8)):
        cards = Traveller(base, customer, Draws(seed, 3, 0), False).numbers(GIFT_CARD)
        planned = change_flights(Traveller(base, customer, Draws(seed, 3, customer), False))
        if len(cards) != 1 or planned is None or max(differences(base, planned)) <= 1:
            continue
        for missing in (0, 1):
            traveller = Traveller(base, customer, Draws(seed, 3, customer), False)
            traveller.row = traveller.row.copy()
            traveller.row.balance[cards[0]] = (max(differences(base, planned)) - missing) * 100
            payment = change_flights(traveller).wish.accepted[0]["payment_id"]
            used[missing] += payment == traveller.method_ids[cards[0]]

    assert used[0] > 10
    assert used[1] == 0


# --- All of them


@pytest.mark.parametrize("maker", MAKERS)
@given(travellers())
def test_words_name_no_ids_but_those_of_reservations(maker, traveller):
    planned, traveller = wish_by(maker, traveller)
    wishes = [planned.wish, *filter(None, [planned.wish.otherwise])]

    for text in itertools.chain.from_iterable((wish.opening, *wish.words.values()) for wish in wishes):
        assert not re.search(r"HAT\d|[a-z]_\d{4}|\{|\}", text), text
        assert "_" not in text


@pytest.mark.parametrize("maker", MAKERS)
@given(travellers())
def test_an_opening_says_what_is_wanted(maker, traveller):
    wish = wish_by(maker, traveller)[0].wish

    assert wish.words["flights"] in wish.opening
    assert wish.words["payment_method"].lower() in wish.opening.lower()


@settings(max_examples=40)
@given(travellers(), st.lists(st.sampled_from(MAKERS), min_size=2, max_size=4))
def test_nothing_else_that_they_do_changes_what_is_right(traveller, makers):
    planned = [each for each in (maker(traveller) for maker in makers) if each]
    changed = [each.writes[0].arguments.get("reservation_id") for each in planned]
    database = Database(traveller.base)
    for reservation_id in traveller.base.reservation_ids(traveller.customer):
        if reservation_id not in changed:
            booking_toolkit("1.0.0").call(
                database, ToolCall("cancel_reservation", {"reservation_id": reservation_id})
            )

    for each in planned:
        wish = each.wish.otherwise or each.wish
        before = right_flights(Database(traveller.base), each, wish)
        assert right_flights(database, each, wish) == before
        answer(database, each.writes[0])


def test_nobody_books_who_asks_about_all_reservations():
    base = booking_base(20, 300, 1)
    asking, booking = (Traveller(base, 3, Draws(2, 9, 0), False) for _ in range(2))

    assert asking.take_all_reservations()
    assert all(book_round_trip(asking) is None for _ in range(20))
    assert any(book_round_trip(booking) for _ in range(20))
    assert not booking.take_all_reservations()


def test_a_way_is_taken_once_and_not_where_another_reservation_of_theirs_flies():
    base = booking_base(20, 300, 1)
    taken = 0
    for customer in range(20):
        traveller = Traveller(base, customer, Draws(0, 9, 0), False)
        for trip in filter(traveller.is_ahead, traveller.reservations):
            (flight, day), *_ = segments(trip)
            way = Way(base.flights.origin[flight], base.flights.destination[flight], day, 0)

            assert not take_ways(traveller, [way])
            if take_ways(traveller, [way], but=trip):
                assert not take_ways(traveller, [way], but=trip)
                taken += 1

    assert taken > 10


def test_gift_cards_of_equal_balance_are_not_spoken_of():
    base = booking_base(100, 300, 1)
    paid = Counter()
    for customer in range(100):
        traveller = Traveller(base, customer, Draws(1, 9, customer), False)
        cards = traveller.numbers(GIFT_CARD)
        if len(cards) == 2:
            traveller.row = traveller.row.copy()
            traveller.row.balance[cards[0]] = traveller.row.balance[cards[1]]
            paid.update(traveller.row.method_kind[each] for each in draw_payment(traveller, [9_999_00]))

    assert paid[GIFT_CARD] == 0
    assert paid[CERTIFICATE] > 0


def test_the_same_draws_make_the_same_wish():
    base = booking_base(20, 300, 0)
    for maker in MAKERS:
        made = [
            [maker(Traveller(base, customer, Draws(5, 9, 0), False)) for customer in range(20)] for _ in "ab"
        ]

        assert made[0] == made[1]
        assert any(made[0])


@pytest.mark.parametrize("maker", MAKERS)
def test_an_airline_with_few_flights_leaves_nothing_to_choose(maker):
    base = booking_base(20, 60, 0)

    assert not routes(base, 0)
    assert all(maker(Traveller(base, customer, Draws(1, 9, 0), False)) is None for customer in range(20))
