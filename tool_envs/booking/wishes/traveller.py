"""A customer of the airline while a task is made for them."""

from collections.abc import Callable, Iterable, Sequence

from tool_envs.booking.data import BookingBase
from tool_envs.booking.rows import (
    AVAILABLE,
    CALLED_OFF,
    CREDIT_CARD,
    DELAYED,
    FLYING,
    GIFT_CARD,
    LANDED,
    MAX_PASSENGERS,
    Passenger,
    Reservation,
)
from tool_envs.messages import ToolCall
from tool_envs.randomness import Draws
from tool_envs.service.wishes import card_forms
from tool_envs.simulators.dates import DATE_STYLES, say_date


class Traveller:
    """A customer of the airline while a task is made for them.

    Wishes of one task keep out of each other's way: each has a reservation of its own, no two take seats on
    one departure, one at most moves money on a gift card or uses a certificate, and no new trip starts from
    where another one goes, so that the airports in what is said are one or the other.

    Args:
        base: The airline.
        customer: Index of the customer.
        draws: The choices.
        forgetful: They do not know the ids of their reservations.
    """

    def __init__(self, base: BookingBase, customer: int, draws: Draws, forgetful: bool) -> None:
        self.base, self.customer, self.draws, self.forgetful = base, customer, draws, forgetful
        self.row = base.customer(customer)
        self.user_id = base.user_id(customer)
        self.method_ids = base.method_ids(customer)
        self.reservations = [base.reservation(customer, number) for number in range(self.row.reservations)]
        self._date_style = draws.pick(DATE_STYLES)
        self._taken_reservations: set[int] = set()
        self._taken_departures: set[tuple[int, int]] = set()
        self._books = False
        self._counts_reservations = False
        self._balance_taken = False

    # --- Reservations

    def take_reservation(self, fits: Callable[[Reservation], bool]) -> Reservation | None:
        """One of the reservations that fit, is not cancelled and has no wish; None when there is none."""
        fitting = [
            trip
            for trip in self.reservations
            if not trip.cancelled and trip.number not in self._taken_reservations and fits(trip)
        ]
        if not fitting:
            return None
        trip = self.draws.pick(fitting)
        self._taken_reservations.add(trip.number)
        return trip

    def take_all_reservations(self) -> bool:
        """Take note that a wish is about all reservations; False when another one has one of them."""
        if self._taken_reservations or self._books or not self.reservations:
            return False
        self._taken_reservations.update(trip.number for trip in self.reservations)
        self._counts_reservations = True
        return True

    def take_new_trip(self) -> bool:
        """Take note that a trip is to be booked; False when another wish counts the reservations."""
        self._books = True
        return not self._counts_reservations

    def reservation_id(self, trip: Reservation) -> str:
        """The id of one of their reservations."""
        return self.base.reservation_id(self.customer, trip.number)

    def read(self, trip: Reservation) -> ToolCall:
        """The look-up of a reservation."""
        return ToolCall("get_reservation_details", {"reservation_id": self.reservation_id(trip)})

    def trip_words(self, trip: Reservation) -> str:
        """How they speak of a reservation."""
        if not self.forgetful or not self._is_told_by_route(trip):
            return f"reservation {self.reservation_id(trip)}"
        origin, destination = self.place(trip.origin), self.place(trip.destination)
        return f"my trip from {origin} to {destination}"

    def _is_told_by_route(self, trip: Reservation) -> bool:
        """No other reservation of theirs goes the same way."""
        routes = [(other.origin, other.destination) for other in self.reservations]
        return routes.count((trip.origin, trip.destination)) == 1

    def place(self, airport: int) -> str:
        """How they speak of an airport."""
        found = self.base.airports[airport]
        return f"{found.city} ({found.iata})"

    def day_words(self, day: int) -> str:
        """How they say a date: each customer in their own way."""
        return say_date(self.base.date(day), self._date_style)

    def statuses(self, trip: Reservation) -> list[int]:
        """The statuses of the departures of a reservation."""
        return [self.base.departure(*segment).status for segment in segments(trip)]

    def is_ahead(self, trip: Reservation) -> bool:
        """All flights of a reservation can be flown, and booked, still."""
        return all(status == AVAILABLE for status in self.statuses(trip))

    def has_left(self, trip: Reservation) -> bool:
        """Some flight of a reservation left."""
        return any(status in (FLYING, LANDED) for status in self.statuses(trip))

    def is_called_off(self, trip: Reservation) -> bool:
        """The airline cancelled a flight of it."""
        return CALLED_OFF in self.statuses(trip)

    def is_delayed(self, trip: Reservation) -> bool:
        """A flight of it is delayed and none is cancelled."""
        return DELAYED in self.statuses(trip) and not self.is_called_off(trip)

    def take_departures(self, departures: Iterable[tuple[int, int]]) -> bool:
        """Take note that a wish may take seats on departures; False when another one may."""
        wanted = set(departures)
        if wanted & self._taken_departures:
            return False
        self._taken_departures |= wanted
        return True

    # --- Passengers

    def party(self, size: int = MAX_PASSENGERS) -> list[Passenger]:
        """The customer and people whom they saved, so many; fewer when they saved too few."""
        return [self.themselves, *self.base.saved_passengers(self.customer)[: size - 1]]

    @property
    def themselves(self) -> Passenger:
        """The customer as a passenger."""
        return Passenger(*self.base.name(self.customer), self.base.dob(self.customer))

    # --- Payment methods

    def numbers(self, kind: int) -> list[int]:
        """Which of their methods are of a kind and can pay something."""
        return [
            number
            for number in range(self.row.methods)
            if self.row.method_kind[number] == kind and (kind == CREDIT_CARD or self.row.balance[number])
        ]

    def take_method(self, price: int) -> int | None:
        """A credit or gift card that can pay a price in cents (below 0: a refund); None: there is none."""
        fitting = [*self.numbers(CREDIT_CARD)]
        if not self._balance_taken:
            fitting += [number for number in self.numbers(GIFT_CARD) if self.row.balance[number] >= price]
        if not fitting:
            return None
        number = self.draws.pick(fitting)
        self._balance_taken |= self.row.method_kind[number] == GIFT_CARD
        return number

    def touch_balances(self, numbers: Iterable[int]) -> bool:
        """Take note that a wish moves money on methods; False when another one moves a balance, too."""
        if all(self.row.method_kind[number] == CREDIT_CARD for number in numbers):
            return True
        return self.take_balances()

    def take_balances(self) -> bool:
        """Take note that a wish changes what cards and certificates there are; False when another does."""
        free, self._balance_taken = not self._balance_taken, True
        return free

    def method_words(self, number: int) -> str:
        """How they speak of a payment method."""
        return f"my {self.method_forms(number)[0]}"

    def method_forms(self, number: int) -> tuple[str, ...]:
        """What means a payment method of theirs, in lower case."""
        kind = self.row.method_kind[number]
        alone = len(self.numbers(kind)) == 1
        if kind == CREDIT_CARD:
            return card_forms(*self.base.card(self.customer, number), alone)
        noun = "gift card" if kind == GIFT_CARD else "certificate"
        worth = self.row.balance[number] // 100
        known = (f"{noun} with ${worth}", f"${worth} {noun}")
        same = [other for other in self.numbers(kind) if self.row.balance[other] == self.row.balance[number]]
        if alone:
            return (noun, *known)
        return known if len(same) == 1 else (self.method_ids[number],)


def segments(trip: Reservation) -> list[tuple[int, int]]:
    """Flight and day of each segment of a reservation."""
    return list(zip(trip.flight[: trip.segments], trip.day[: trip.segments], strict=True))


def passenger_words(passengers: Sequence[Passenger]) -> str:
    """People as customers name them."""
    return " and ".join(f"{each.first_name} {each.last_name}, born {each.dob}" for each in passengers)
