"""The reservations that customers have at first: their trips, when they were booked, for whom, what paid."""

from tool_envs.booking.customers import PASSENGER_CODES
from tool_envs.booking.dates import NOW
from tool_envs.booking.departures import MOST_SEATS, Departures
from tool_envs.booking.rows import (
    BAG_PRICE,
    BASIC_ECONOMY,
    BUSINESS,
    CABINS,
    CERTIFICATE,
    CREDIT_CARD,
    DAY,
    ECONOMY,
    FREE_BAGS,
    GIFT_CARD,
    INSURANCE_PRICE,
    MAX_BAGS,
    MAX_PASSENGERS,
    MAX_PAYMENTS,
    MAX_RESERVATIONS,
    MAX_SEGMENTS,
    Customer,
    Reservation,
)
from tool_envs.booking.streams import CERTIFICATES, RESERVATIONS
from tool_envs.booking.trips import AHEAD, CALLED, FLOWN, LATE, SOON, UNDER_WAY, Trip, Trips
from tool_envs.generated import padded
from tool_envs.randomness import Draws, draw_below

_KINDS = (
    *((AHEAD, False),) * 57,
    *((AHEAD, True),) * 4,
    *((FLOWN, False),) * 9,
    *((FLOWN, True),) * 2,
    *((CALLED, False),) * 10,
    *((LATE, False),) * 8,
    *((UNDER_WAY, False),) * 6,
    *((SOON, False),) * 4,
)  # of the trip, and whether it was cancelled
_CABINS = (BASIC_ECONOMY,) * 28 + (ECONOMY,) * 46 + (BUSINESS,) * 26
_PASSENGERS = (1,) * 45 + (2,) * 27 + (3,) * 15 + (4,) * 9 + (5,) * 4
_PER_CENT_FOR_OTHERS = 12
_PER_CENT_INSURED = 35
_PER_CENT_MORE_BAGS = 22
_PER_CENT_JUST_BOOKED = 15
_PER_CENT_ALL_BY_GIFT_CARD, _PER_CENT_GIFT_CARD = 10, 30
_DEAREST_GIFT = 40_000  # most that a gift card paid

_EARLIEST = -20 * DAY
_JUST_BOOKED = (NOW - 23 * 60, NOW - 10)  # nobody asks whether 24 hours have passed by a minute
_BOOKED_BEFORE = NOW - 25 * 60
_LATEST = 60  # minutes before the trip begins


class Reservations:
    """Makes them. Each is a function of the seed, the customer and its number.

    Args:
        seed: Of the data.
        departures: What becomes of each flight on each day.
        trips: Trips over them.
    """

    def __init__(self, seed: int, departures: Departures, trips: Trips) -> None:
        self._seed, self._departures, self._trips = seed, departures, trips

    def reservation(self, customer: Customer, number: int, saved: int) -> Reservation:
        """A new row.

        Args:
            customer: Their row.
            number: Which of their reservations.
            saved: How many passengers they saved.
        """
        draws = Draws(self._seed, RESERVATIONS, customer.index * MAX_RESERVATIONS + number)
        kind, cancelled = draws.pick(_KINDS)
        trip = self._trips.trip(kind, draws)
        created = _created(self._trips.departure(trip.legs[0]), draws)
        cabin = draws.pick(_CABINS)
        prices = self._prices(trip, cabin, created, draws)
        passengers = _passengers(customer.index, saved, draws)
        insured = draws.below(100) < _PER_CENT_INSURED
        free_bags = FREE_BAGS[customer.membership][cabin] * len(passengers)
        bags = _bags(free_bags, len(passengers), draws)
        nonfree = max(0, bags - free_bags)
        each = sum(prices) + INSURANCE_PRICE * insured
        certificate = -1 if cancelled else self._certificate(customer, number)
        payments = _payments(customer, certificate, each * len(passengers) + BAG_PRICE * nonfree, draws)
        if cancelled:
            payments += [(method, -amount) for method, amount in payments]
        return Reservation(
            customer=customer.index,
            number=number,
            origin=trip.origin,
            destination=trip.destination,
            round_trip=int(trip.round_trip),
            cabin=cabin,
            segments=len(trip.legs),
            flight=padded([flight for flight, _ in trip.legs], MAX_SEGMENTS, -1),
            day=padded([day for _, day in trip.legs], MAX_SEGMENTS, -1),
            price=padded(prices, MAX_SEGMENTS, 0),
            passengers=len(passengers),
            passenger=padded(passengers, MAX_PASSENGERS, 0),
            payments=len(payments),
            payment_method=padded([method for method, _ in payments], MAX_PAYMENTS, 0),
            payment_amount=padded([amount for _, amount in payments], MAX_PAYMENTS, 0),
            created=created,
            total_bags=bags,
            nonfree_bags=nonfree,
            insurance=int(insured),
            cancelled=int(cancelled),
        )

    def _prices(self, trip: Trip, cabin: int, created: int, draws: Draws) -> list[int]:
        """What the flights cost when they were booked, when other seats were free."""
        prices = []
        for flight, day in trip.legs:
            free = draws.below(len(CABINS) * MOST_SEATS + 1)
            prices.append(self._departures.fares(flight, day, free, day - created // DAY)[cabin])
        return prices

    def _certificate(self, customer: Customer, number: int) -> int:
        """The certificate that this reservation used up, or -1."""
        last = customer.methods - 1
        spent = customer.method_kind[last] == CERTIFICATE and not customer.balance[last]
        paid = draw_below(customer.reservations, self._seed, CERTIFICATES, customer.index, 0)
        return last if spent and number == paid else -1


def _created(departure: int, draws: Draws) -> int:
    if departure - _LATEST > _JUST_BOOKED[0] and draws.below(100) < _PER_CENT_JUST_BOOKED:
        first, last = _JUST_BOOKED
    else:
        first, last = _EARLIEST, _BOOKED_BEFORE
    return first + draws.below(min(last, departure - _LATEST) - first + 1)


def _passengers(customer: int, saved: int, draws: Draws) -> list[int]:
    """Codes: the customer and some of those whom they saved, or some of these only."""
    first = 1 if draws.below(100) < _PER_CENT_FOR_OTHERS else 0
    count = min(draws.pick(_PASSENGERS), saved + 1 - first)
    return [customer * PASSENGER_CODES + first + number for number in range(count)]


def _bags(free: int, passengers: int, draws: Draws) -> int:
    if draws.below(100) < _PER_CENT_MORE_BAGS:
        return min(MAX_BAGS, free + 1 + draws.below(2))
    return draws.below(min(free, 2 * passengers) + 1)


def _payments(customer: Customer, certificate: int, price: int, draws: Draws) -> list[tuple[int, int]]:
    """Methods and amounts, by method: at most one certificate and one gift card, the rest by credit card."""
    payments = []
    if certificate >= 0:
        payments.append((certificate, min(price, (1 + draws.below(10)) * 5_000)))
        price -= payments[-1][1]
    gift_cards, cards = _methods(customer, GIFT_CARD), _methods(customer, CREDIT_CARD)
    share = draws.below(100)
    if gift_cards and price and share < _PER_CENT_GIFT_CARD:
        part = min(price, _DEAREST_GIFT)
        if share >= _PER_CENT_ALL_BY_GIFT_CARD:
            part = (1 + draws.below(part // 100)) * 100
        payments.append((draws.pick(gift_cards), part))
        price -= part
    if price:
        payments.append((draws.pick(cards), price))
    return sorted(payments)


def _methods(customer: Customer, kind: int) -> list[int]:
    return [method for method in range(customer.methods) if customer.method_kind[method] == kind]
