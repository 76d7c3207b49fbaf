"""The timetable, and what becomes of its flights day by day."""

import datetime
import itertools
from collections import Counter

import pytest
from booking_rows import (
    SIZES,
    arrival_time,
    departure_time,
    departures_of,
)
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.booking.airports import AIRPORTS, distance
from tool_envs.booking.data import booking_base
from tool_envs.booking.dates import DATES, DAYS, FIRST_DAY, NOW, clock_text, find_date, instant_text
from tool_envs.booking.departures import MOST_SEATS, Departures
from tool_envs.booking.flights import LONGEST_STOP, SHORTEST_STOP, connecting_day, duration
from tool_envs.booking.rows import (
    AVAILABLE,
    CALLED_OFF,
    DAY,
    DELAYED,
    FLYING,
    LANDED,
    ON_TIME,
)

AIRPORT_PAIRS = list(itertools.permutations(range(len(AIRPORTS)), 2))


# --- Days and times


def test_the_window_crosses_the_end_of_a_month():
    assert (DATES[0], DATES[-1], len(DATES)) == ("2025-06-16", "2025-07-15", DAYS)
    assert [find_date(text) for text in DATES] == list(range(DAYS))
    assert instant_text(NOW) == "2025-06-30T15:00:00"


@given(st.integers(-20 * DAY, DAYS * DAY))
def test_an_instant_is_read_back(minutes):
    start = datetime.datetime.combine(FIRST_DAY, datetime.time())

    assert datetime.datetime.fromisoformat(instant_text(minutes)) - start == datetime.timedelta(
        minutes=minutes
    )


def test_a_clock_shows_the_next_day():
    assert [clock_text(minutes) for minutes in (0, 5 * 60 + 5, DAY - 1, DAY, DAY + 61)] == [
        "00:00:00",
        "05:05:00",
        "23:59:00",
        "00:00:00+1",
        "01:01:00+1",
    ]


# --- Flights


def test_flights_come_in_pairs_there_and_back(base):
    flights = base.flights

    assert {len(values) for values in flights} == {base.flight_count}
    for there in range(0, base.flight_count, 2):
        assert flights.origin[there] == flights.destination[there + 1]
        assert flights.destination[there] == flights.origin[there + 1]
    for flight in range(base.flight_count):
        minutes = flights.arrival[flight] - flights.departure[flight]
        assert minutes == duration(distance(flights.origin[flight], flights.destination[flight]))
        assert 0 <= flights.departure[flight] < DAY


def test_a_coast_to_coast_flight_takes_about_six_hours():
    codes = booking_base().airport_codes

    assert distance(codes["JFK"], codes["LAX"]) == pytest.approx(3975, abs=20)
    assert duration(distance(codes["JFK"], codes["LAX"])) == pytest.approx(340, abs=10)


def test_routes_are_the_flights_between_two_airports_in_order(base):
    flights = base.flights
    found = [flight for pair in AIRPORT_PAIRS for flight in base.routes(*pair)]
    assert sorted(found) == list(range(base.flight_count))

    for origin, destination in AIRPORT_PAIRS:
        routes = base.routes(origin, destination)
        assert {(flights.origin[each], flights.destination[each]) for each in routes} <= {
            (origin, destination)
        }
        assert list(routes) == sorted(routes, key=lambda flight: (flights.departure[flight], flight))


@pytest.mark.parametrize("size", [SIZES["default"], SIZES["tiny"]])
def test_connections_are_all_pairs_by_way_of_a_third_airport(size):
    base = booking_base(*size)
    flights = base.flights
    pairs = {pair: set() for pair in AIRPORT_PAIRS}
    for first, second in itertools.product(range(base.flight_count), repeat=2):
        ends = (flights.origin[first], flights.destination[second])
        if flights.destination[first] == flights.origin[second] and ends[0] != ends[1]:
            pairs[ends].add((first, second))

    for pair in AIRPORT_PAIRS:
        connections = base.connections(*pair)
        assert len(connections) == len(set(connections))
        assert set(connections) == pairs[pair]
        assert list(connections) == sorted(
            connections, key=lambda legs: [(flights.departure[flight], flight) for flight in legs]
        )
    assert base.connections(3, 3) == base.routes(3, 3) == ()


@given(st.integers(0, 299), st.integers(0, 299), st.integers(0, DAYS - 1))
def test_a_connection_is_made_on_the_only_day_with_a_stop_within_limits(first, second, day):
    base = booking_base()
    arrival = arrival_time(base, first, day)
    possible = [
        next_day
        for next_day in range(day - 1, day + 4)
        if SHORTEST_STOP <= departure_time(base, second, next_day) - arrival <= LONGEST_STOP
    ]

    assert connecting_day(base.flights, first, day, second) == (possible[0] if possible else -1)
    assert len(possible) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_there_is_much_to_search_for(seed):
    base = booking_base(5, 300, seed)
    counts = {pair: len(base.routes(*pair)) for pair in AIRPORT_PAIRS}
    apart = [pair for pair, count in counts.items() if not count]
    connected = [
        pair
        for pair in apart
        if any(
            connecting_day(base.flights, first, 0, second) >= 0 for first, second in base.connections(*pair)
        )
    ]

    assert sum(count >= 3 for count in counts.values()) >= 60
    assert max(counts.values()) <= 6
    assert len(connected) >= 100
    assert any(arrival >= DAY for arrival in base.flights.arrival)


def test_all_airports_have_flights(base):
    assert set(base.flights.origin) == set(base.flights.destination) == set(range(len(AIRPORTS)))


# --- Departures


def test_the_status_of_a_departure_fits_the_time(base):
    for departure in departures_of(base):
        place = (departure.flight, departure.day)
        leaves, arrives = departure_time(base, *place), arrival_time(base, *place)
        if leaves > NOW + DAY:
            expected = {AVAILABLE, CALLED_OFF}
        elif leaves > NOW:
            expected = {ON_TIME, DELAYED, CALLED_OFF}
        else:
            expected = {FLYING if arrives > NOW else LANDED, CALLED_OFF}
        assert departure.status in expected


def test_only_what_is_available_has_seats(base):
    for departure in departures_of(base):
        if departure.status == AVAILABLE:
            assert all(0 <= seats <= MOST_SEATS for seats in departure.seats)
        else:
            assert departure.seats == [0, 0, 0]


def test_a_better_cabin_is_dearer_and_prices_are_whole_dollars(base):
    for departure in departures_of(base):
        basic, economy, business = departure.price
        assert 0 < basic < economy < business
        assert basic % 100 == economy % 100 == business % 100 == 0


def test_a_departure_costs_what_its_free_seats_and_date_make_it():
    base = booking_base()
    maker = Departures(base.flights, base.seed)

    for departure in departures_of(base):
        if departure.status == AVAILABLE:
            ahead = departure.day - NOW // DAY
            fares = maker.fares(departure.flight, departure.day, sum(departure.seats), ahead)
            assert departure.price == fares


@given(st.data(), st.integers(0, 299), st.integers(0, DAYS - 1))
def test_fewer_free_seats_or_days_are_never_cheaper(data, flight, day):
    maker = Departures(booking_base().flights, 0)
    few, many = sorted(data.draw(st.tuples(*[st.integers(0, 3 * MOST_SEATS)] * 2)))
    late, early = sorted(data.draw(st.tuples(*[st.integers(0, 40)] * 2)))

    dear, cheap = maker.fares(flight, day, few, late), maker.fares(flight, day, many, early)
    assert all(more >= less for more, less in zip(dear, cheap, strict=True))
    if many - few >= 10:
        assert all(more > less for more, less in zip(dear, cheap, strict=True))


def test_the_shares_of_departures_are_those_of_an_airline():
    base = booking_base()
    departures = departures_of(base)
    soon = [each for each in departures if NOW < departure_time(base, each.flight, each.day) <= NOW + DAY]
    early = [each for each in departures if departure_time(base, each.flight, each.day) > NOW + DAY]
    seats = Counter(seats for each in departures if each.status == AVAILABLE for seats in each.seats)

    assert {each.status for each in departures} == {AVAILABLE, ON_TIME, DELAYED, FLYING, LANDED, CALLED_OFF}
    assert Counter(each.status for each in soon)[DELAYED] / len(soon) == pytest.approx(0.15, abs=0.05)
    assert Counter(each.status for each in early)[CALLED_OFF] / len(early) == pytest.approx(0.03, abs=0.01)
    assert set(seats) == set(range(MOST_SEATS + 1))
