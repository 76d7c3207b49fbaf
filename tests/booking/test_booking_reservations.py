"""The reservations that customers have at first: consistent in themselves, and of all kinds."""

import itertools
from collections import Counter

import pytest
from booking_rows import arrival_time, departure_time, legs_of, reservations_of, statuses_of

from tool_envs.booking.data import booking_base
from tool_envs.booking.dates import DAYS, NOW
from tool_envs.booking.departures import Departures
from tool_envs.booking.flights import LONGEST_STOP, SHORTEST_STOP
from tool_envs.booking.itineraries import guard_itinerary
from tool_envs.booking.rows import (
    AVAILABLE,
    BAG_PRICE,
    CALLED_OFF,
    CERTIFICATE,
    CREDIT_CARD,
    DAY,
    DELAYED,
    FLYING,
    FREE_BAGS,
    GIFT_CARD,
    INSURANCE_PRICE,
    LANDED,
    MAX_BAGS,
    MOST_CERTIFICATES,
    MOST_CREDIT_CARDS,
    MOST_GIFT_CARDS,
)


def test_flights_of_a_reservation_make_a_trip(base):
    flights = base.flights
    for reservation in reservations_of(base):
        legs = legs_of(reservation)
        assert 1 <= len(legs) <= 4
        assert all(0 <= flight < base.flight_count and 0 <= day < DAYS for flight, day in legs)
        for first, second in itertools.pairwise(legs):
            assert flights.destination[first[0]] == flights.origin[second[0]]
            assert departure_time(base, *second) - arrival_time(base, *first) >= SHORTEST_STOP
        assert guard_itinerary(reservation, flights) == 0


def test_a_stop_on_one_way_is_short_and_a_stay_is_not(base):
    flights = base.flights
    for reservation in reservations_of(base):
        legs = legs_of(reservation)
        for first, second in itertools.pairwise(legs):
            stop = departure_time(base, *second) - arrival_time(base, *first)
            turns = reservation.round_trip and flights.destination[first[0]] == reservation.destination
            if turns:
                assert 1 <= second[1] - legs[0][1] <= 8
            else:
                assert stop <= LONGEST_STOP


def test_flights_that_the_airline_cancelled_are_still_ahead(base):
    for reservation in reservations_of(base):
        for leg in legs_of(reservation):
            assert base.departure(*leg).status != CALLED_OFF or departure_time(base, *leg) > NOW


def test_a_trip_goes_from_origin_to_destination(base):
    flights = base.flights
    for reservation in reservations_of(base):
        legs = legs_of(reservation)
        ends = flights.origin[legs[0][0]], flights.destination[legs[-1][0]]
        back = reservation.origin if reservation.round_trip else reservation.destination
        assert ends == (reservation.origin, back)
        assert reservation.destination in {flights.destination[flight] for flight, _ in legs}
        assert reservation.origin != reservation.destination
        assert len(legs) <= 2 + 2 * reservation.round_trip


def test_a_reservation_is_made_before_the_trip(base):
    for reservation in reservations_of(base):
        assert -20 * DAY <= reservation.created <= NOW - 10
        assert reservation.created < departure_time(base, *legs_of(reservation)[0])


def test_nobody_needs_to_ask_by_minutes_whether_24_hours_have_passed(base):
    assert not any(abs(NOW - DAY - each.created) < 60 for each in reservations_of(base))


def test_passengers_are_the_customer_and_those_whom_they_saved(base):
    for reservation in reservations_of(base):
        own = reservation.customer * 8
        people = reservation.passenger[: reservation.passengers]
        assert 1 <= len(people) == len(set(people)) <= 5
        assert set(people) <= {
            own + code for code in range(1 + len(base.saved_passengers(reservation.customer)))
        }
        assert own not in people[1:]


def test_bags_beyond_the_free_ones_are_paid_for(base):
    for reservation in reservations_of(base):
        membership = base.customer(reservation.customer).membership
        free = FREE_BAGS[membership][reservation.cabin] * reservation.passengers
        assert reservation.nonfree_bags == max(0, reservation.total_bags - free)
        assert 0 <= reservation.total_bags <= MAX_BAGS


def test_a_reservation_is_paid_with_what_it_costs(base):
    for reservation in reservations_of(base):
        each = sum(reservation.price) + INSURANCE_PRICE * reservation.insurance
        cost = each * reservation.passengers + BAG_PRICE * reservation.nonfree_bags
        amounts = reservation.payment_amount[: reservation.payments]
        paid = [amount for amount in amounts if amount > 0]

        assert sum(paid) == cost
        assert all(amount % 100 == 0 for amount in amounts)
        assert amounts == (paid + [-amount for amount in paid] if reservation.cancelled else paid)
        assert all(price > 0 for price in reservation.price[: reservation.segments])


def test_payments_keep_to_the_limits(base):
    for reservation in reservations_of(base):
        customer = base.customer(reservation.customer)
        count = reservation.payments // (2 if reservation.cancelled else 1)
        methods = reservation.payment_method[:count]
        kinds = Counter(customer.method_kind[method] for method in methods)

        assert methods == sorted(set(methods))
        assert reservation.payment_method[count : reservation.payments] in ([], methods)
        assert all(0 <= method < customer.methods for method in methods)
        assert kinds[CERTIFICATE] <= MOST_CERTIFICATES
        assert kinds[GIFT_CARD] <= MOST_GIFT_CARDS
        assert kinds[CREDIT_CARD] <= MOST_CREDIT_CARDS


def test_a_certificate_pays_once_and_holds_nothing_then(base):
    used = Counter(
        (reservation.customer, method)
        for reservation in reservations_of(base)
        for method in reservation.payment_method[: reservation.payments]
        if base.customer(reservation.customer).method_kind[method] == CERTIFICATE
    )

    assert set(used.values()) <= {1}
    assert all(base.customer(customer).balance[method] == 0 for customer, method in used)


def test_flights_were_booked_at_fares_of_the_time():
    base = booking_base()
    maker = Departures(base.flights, base.seed)

    for reservation in reservations_of(base):
        for place, (flight, day) in enumerate(legs_of(reservation)):
            ahead = day - reservation.created // DAY
            least, most = (maker.fares(flight, day, free, ahead)[reservation.cabin] for free in (60, 0))
            assert least <= reservation.price[place] <= most


def test_there_are_reservations_of_all_kinds():
    base = booking_base()
    reservations = reservations_of(base)
    active = [each for each in reservations if not each.cancelled]
    statuses = [set(statuses_of(base, each)) for each in active]
    ahead = [each for each in active if set(statuses_of(base, each)) == {AVAILABLE}]

    def share(chosen):
        return sum(chosen) / len(reservations)

    assert share(each.created > NOW - DAY for each in reservations) == pytest.approx(0.12, abs=0.03)
    assert share(each.cancelled for each in reservations) == pytest.approx(0.06, abs=0.02)
    assert share(CALLED_OFF in each for each in statuses) == pytest.approx(0.10, abs=0.03)
    assert share(DELAYED in each for each in statuses) == pytest.approx(0.08, abs=0.03)
    assert len(ahead) / len(reservations) == pytest.approx(0.58, abs=0.05)
    assert share(each == {LANDED} for each in statuses) > 0.05
    assert share(LANDED in each and AVAILABLE in each for each in statuses) > 0.02
    assert {each.cabin for each in ahead} == {0, 1, 2}
    assert share(each.passenger[0] % 8 > 0 for each in reservations) == pytest.approx(0.12, abs=0.03)
    assert share(each.insurance for each in reservations) == pytest.approx(0.35, abs=0.05)
    assert share(each.round_trip for each in reservations) == pytest.approx(0.60, abs=0.08)
    assert {each.segments for each in ahead} == {1, 2, 3, 4}
    assert {each.passengers for each in ahead} == {1, 2, 3, 4, 5}
    assert {each.payments for each in active} == {1, 2, 3}


@pytest.mark.parametrize("cabin", range(3))
@pytest.mark.parametrize("membership", range(3))
def test_every_situation_has_some_reservations(cabin, membership):
    base = booking_base()
    reservations = [
        each
        for each in reservations_of(base)
        if each.cabin == cabin
        and base.customer(each.customer).membership == membership
        and not each.cancelled
    ]
    statuses = [set(statuses_of(base, each)) for each in reservations]
    ahead = [each for each, now in zip(reservations, statuses, strict=True) if not now & {LANDED, FLYING}]

    assert sum(CALLED_OFF in now for now in statuses) >= 5
    assert sum(DELAYED in now for now in statuses) >= 5
    assert sum(each.created > NOW - DAY for each in ahead) >= 5
    assert sum(each.insurance for each in ahead) >= 10
