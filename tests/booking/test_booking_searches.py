"""Searches: exactly what can be booked, in order, with the seats and prices of the right day."""

import functools
import json
from collections import defaultdict
from datetime import date, datetime, timedelta

import pytest
from booking_calls import BASE, answer, booking, call, free_seats, offers
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.booking.data import booking_base
from tool_envs.booking.rows import AVAILABLE, STATUSES
from tool_envs.database import Database

SMALL = booking_base(customers=5, flights=60)
CODES = range(20)
SEARCHES = [(o, d, day) for o in CODES for d in CODES for day in range(30) if o != d]


@functools.cache
def open_world():
    """A small world in which every flight can be booked on every day, at a price that tells the day."""
    database = Database(SMALL)
    for flight, day in SMALL.departure_places():
        departure = SMALL.departure(flight, day).copy()
        departure.status, departure.seats = AVAILABLE, [1 + day, 2, 3]
        departure.price = [100_00 + day * 100, 200_00 + day * 100, 300_00 + flight * 100]
        database.put("departures", SMALL.departure_key(flight, day), departure)
    return database


WORLDS = {"as it is": Database(SMALL), "open": open_world()}


@functools.cache
def departures(world):
    """All flights that can be booked, as `(leaves, arrives, flight code, day)` by origin."""
    found = defaultdict(list)
    for key, row in WORLDS[world].items("departures"):
        if row.status == AVAILABLE:
            midnight = datetime.fromisoformat(key.partition(" ")[2])
            leaves, arrives = (
                midnight + timedelta(minutes=times[row.flight])
                for times in (SMALL.flights.departure, SMALL.flights.arrival)
            )
            found[SMALL.flights.origin[row.flight]].append((leaves, arrives, row.flight, row.day))
    return {origin: sorted(flights, key=lambda each: (each[0], each[2])) for origin, flights in found.items()}


@functools.cache
def connections(world):
    """By origin, destination and day: the pairs of flights with a stop of 45 minutes to 8 hours, in order."""
    found = defaultdict(list)
    to = SMALL.flights.destination
    for origin, firsts in departures(world).items():
        for leaves, arrives, first, day in firsts:
            for onward, _, second, second_day in departures(world).get(to[first], []):
                stop = onward - arrives
                if to[second] != origin and timedelta(minutes=45) <= stop <= timedelta(hours=8):
                    pair = (first, day), (second, second_day)
                    found[origin, to[second], day].append(((leaves, onward, first, second), pair))
    return {place: [pair for _, pair in sorted(pairs)] for place, pairs in found.items()}


def search(world, name, origin, destination, day):
    asked = {"origin": SMALL.airports[origin].iata, "destination": SMALL.airports[destination].iata}
    return answer(WORLDS[world], name, **asked, date=SMALL.date(day))


def place(flight):
    return SMALL.find_flight(flight["flight_number"]), SMALL.find_date(flight["date"])


@pytest.mark.parametrize("world", WORLDS)
def test_one_stop_searches_find_just_the_connections_that_there_are(world):
    found, expected = {}, connections(world)
    for origin, destination, day in SEARCHES:
        pairs = search(world, "search_onestop_flight", origin, destination, day)["connections"]
        if pairs:
            found[origin, destination, day] = [(place(first), place(second)) for first, second in pairs]

    assert found == expected
    assert sum(map(len, found.values())) > 500


@pytest.mark.parametrize("world", WORLDS)
def test_direct_searches_find_just_the_flights_that_there_are(world):
    found = {}
    for origin, destination, day in SEARCHES:
        for flight in search(world, "search_direct_flight", origin, destination, day)["flights"]:
            found.setdefault((origin, destination, day), []).append(place(flight))
    expected = defaultdict(list)
    for origin, flights in departures(world).items():
        for _, _, flight, day in flights:
            expected[origin, SMALL.flights.destination[flight], day].append((flight, day))

    assert found == expected


def test_the_second_flight_has_the_date_seats_and_price_of_its_own_day():
    """Also over midnight, and from June to July."""
    nights, months = 0, 0
    for origin, destination, day in connections("open"):
        pairs = search("open", "search_onestop_flight", origin, destination, day)["connections"]
        for pair in pairs:
            for flight in pair:
                code, its_day = place(flight)
                assert flight["prices"] == {
                    "basic_economy": 100 + its_day,
                    "economy": 200 + its_day,
                    "business": 300 + code,
                }
                assert flight["available_seats"] == {
                    "basic_economy": 1 + its_day,
                    "economy": 2,
                    "business": 3,
                }
            first, second = (date.fromisoformat(flight["date"]) for flight in pair)
            assert (second - first).days in (0, 1)
            nights += second > first
            months += second.month > first.month

    assert nights > 10
    assert months > 0


@given(st.data())
def test_every_offer_with_free_seats_is_accepted(data):
    origin, destination = data.draw(st.permutations(CODES))[:2]
    day = data.draw(st.integers(14, 29))
    for offer in offers(Database(BASE), origin, destination, day):
        for cabin in ("basic_economy", "economy", "business"):
            passengers = min(5, free_seats(offer, cabin))
            if passengers:
                arguments = booking(7, offer, cabin=cabin, passengers=passengers, bags=1)
                shown = answer(Database(BASE), "book_reservation", **arguments)
                assert [flight["price"] for flight in shown["flights"]] == [
                    flight["prices"][cabin] for flight in offer
                ]


@given(st.data())
def test_a_search_shows_the_seats_that_are_left(data):
    database = Database(BASE)
    origin, destination = data.draw(
        st.sampled_from([(o, d) for o in CODES for d in CODES if len(BASE.routes(o, d)) > 2])
    )
    day = data.draw(st.integers(16, 29))
    before = offers(database, origin, destination, day)
    offer = data.draw(st.sampled_from([o for o in before if free_seats(o, "economy")] or [None]))
    if offer is None:
        return
    passengers = data.draw(st.integers(1, min(5, free_seats(offer, "economy"))))
    answer(database, "book_reservation", **booking(3, offer, passengers=passengers))

    taken = {(flight["flight_number"], flight["date"]) for flight in offer}
    for old, new in zip(before, offers(database, origin, destination, day), strict=True):
        for one, other in zip(old, new, strict=True):
            gone = passengers if (one["flight_number"], one["date"]) in taken else 0
            seats = one["available_seats"] | {"economy": one["available_seats"]["economy"] - gone}
            assert other == {**one, "available_seats": seats}


def test_a_flight_that_is_called_off_is_not_offered_any_more():
    database = Database(BASE)
    offer = next(o for o in offers(database, *first_route(), 20) if len(o) == 1)
    key = f"{offer[0]['flight_number']} {offer[0]['date']}"
    departure = database.get("departures", key).copy()
    departure.status = STATUSES.index("cancelled")
    database.put("departures", key, departure)

    assert offer not in offers(database, *first_route(), 20)
    assert offer in offers(Database(BASE), *first_route(), 20)


def first_route():
    return next((o, d) for o in CODES for d in CODES if len(BASE.routes(o, d)) > 2)


def test_nothing_found_is_an_empty_list():
    origin, destination = next(
        (o, d) for o in CODES for d in CODES if o != d and not BASE.routes(o, d) and BASE.connections(o, d)
    )
    asked = {"origin": BASE.airports[origin].iata, "destination": BASE.airports[destination].iata}
    day_of_now = {**asked, "date": "2025-06-30"}

    assert answer(Database(BASE), "search_direct_flight", **asked, date=BASE.date(20)) == {"flights": []}
    assert answer(Database(BASE), "search_onestop_flight", **day_of_now) == {"connections": []}


@pytest.mark.parametrize("name", ["search_direct_flight", "search_onestop_flight"])
@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"origin": "QQQ"}, "airport_not_found"),
        ({"destination": "QQQ"}, "airport_not_found"),
        ({"destination": "SFO"}, "same_airport"),
        ({"date": "2025-06-15"}, "date_out_of_range"),
        ({"date": "2025-07-16"}, "date_out_of_range"),
        ({"date": "2025-06-31"}, "date_out_of_range"),
    ],
)
def test_what_does_not_exist_is_refused(name, wrong, code):
    asked = {"origin": "SFO", "destination": "JFK", "date": "2025-07-01", **wrong}

    assert call(Database(BASE), name, **asked).code == code


def test_all_airports_are_listed_with_their_cities():
    airports = answer(Database(BASE), "list_all_airports")["airports"]

    assert airports == {airport.iata: airport.city for airport in BASE.airports}
    assert (airports["ORD"], airports["LGA"], len(airports)) == ("Chicago", "LaGuardia", 20)


def test_the_status_of_a_flight_is_shown_whatever_it_is():
    database, seen = Database(BASE), set()
    for flight, day in BASE.departure_places():
        named = {"flight_number": BASE.flight_number(flight), "date": BASE.date(day)}
        result = call(database, "get_flight_status", **named)
        shown = json.loads(result.content)
        assert shown["status"] == STATUSES[BASE.departure(flight, day).status]
        assert named.items() <= shown.items()
        seen.add(shown["status"])

    assert seen == set(STATUSES)


@pytest.mark.parametrize(
    ("flight_number", "day", "code"),
    [("HAT301", "2025-07-01", "flight_not_found"), ("HAT001", "2025-08-01", "date_out_of_range")],
)
def test_the_status_of_no_flight_is_refused(flight_number, day, code):
    result = call(Database(BASE), "get_flight_status", flight_number=flight_number, date=day)

    assert result.code == code
