"""The airline's data: made from a seed, record by record, when somebody asks for it.

Customer `i` and their reservation `k` are pure functions of (seed, flights, i) and (seed, flights, i, k): an
airline with 100,000 customers loads as fast as one with 500, and its first 500 customers are the same.

```python
base = booking_base(customers=500, flights=300, seed=0)    # one for all episodes
customer = base.customer(7)                      # a row: membership, methods, balance, reservations
base.user_id(7), base.email(7), base.name(7), base.dob(7), base.address(7)
base.method_ids(7)                               # ("credit_card_1234567", ...), by method number
base.passenger(7 * 8), base.saved_passengers(7)  # the customer as a passenger, and whom they saved
reservation = base.reservation(7, 0)             # a row: flights, prices, passengers, payments, ...
base.reservation_id(7, 0)                        # "K4TR7B"
departure = base.departure(4, 20)                # a row: status, free seats and prices by cabin
base.flight_number(4), base.date(20)             # "HAT005", "2025-07-06"
base.departure_key(4, 20)                        # "HAT005 2025-07-06"
base.routes(3, 9), base.connections(3, 9)        # flight codes, and pairs of them, by airport codes
base.find_user("jane_roe_1234"), base.find_reservation("K4TR7B")  # 7, (7, 0); None when there is none
base.find_flight("HAT005"), base.find_date("2025-07-06"), base.airport_codes["BOS"]    # 4, 20, 9
```

The rows are shared: nobody changes them. How they look as JSON stands in `codes`, what time it is in `dates`.
"""

import functools
from collections.abc import Iterator

import msgspec

from tool_envs import names
from tool_envs.booking import dates, ids
from tool_envs.booking.airports import AIRPORT_CODES, AIRPORTS
from tool_envs.booking.customers import PASSENGER_CODES, customer_row, own_birthday, saved_passengers
from tool_envs.booking.departures import Departures
from tool_envs.booking.flights import MAX_FLIGHTS, MIN_FLIGHTS, timetable
from tool_envs.booking.ids import MAX_CUSTOMERS, Ids
from tool_envs.booking.reservations import Reservations
from tool_envs.booking.routes import Routes
from tool_envs.booking.rows import Customer, Departure, Passenger, Reservation
from tool_envs.booking.streams import ADDRESSES, CARDS
from tool_envs.booking.trips import Trips
from tool_envs.canonical import digest
from tool_envs.database import BaseData
from tool_envs.errors import UsageError
from tool_envs.generated import Kept, Table
from tool_envs.messages import Json
from tool_envs.people import Address, Identity, People, address_of, card_of
from tool_envs.randomness import splitmix64

GENERATOR = "booking/1"
"""Version of all that is made here; part of the data's digest."""


class BookingBase(BaseData):
    """The data that all episodes start from. `booking_base` makes it once for each size and seed.

    Tables: `customers` by user id, `reservations` by reservation id, `departures` by flight number and date,
    and `passengers`, which is empty: an episode keeps those that it writes there.

    Args:
        customers: How many, 1 to `MAX_CUSTOMERS`.
        flights: How many flights there are every day: an even number, 60 to 998.
        seed: 0 to 2**64 - 1.

    Attributes:
        customers: As given.
        flight_count: `flights` as given.
        seed: As given.
        flights: The timetable, by flight code.
        airports: By airport code.
        airport_codes: Airport code by the three letters.

    Raises:
        UsageError: There cannot be so many customers or flights, or that is no seed.
    """

    def __init__(self, customers: int = 500, flights: int = 300, seed: int = 0) -> None:
        _check_size(customers, flights, seed)
        self.customers, self.flight_count, self.seed = customers, flights, seed
        self.airports, self.airport_codes = AIRPORTS, AIRPORT_CODES
        self.flights = timetable(flights, seed)
        self._people, self._ids = People(seed), Ids(seed)
        self._routes = Routes(self.flights)
        self._departure_maker = Departures(self.flights, seed)
        self._reservation_maker = Reservations(
            seed, self._departure_maker, Trips(self._departure_maker, self._routes)
        )
        self._flight_numbers = tuple(map(ids.flight_number, range(flights)))
        self._customers: Kept[int, Customer] = Kept(lambda customer: customer_row(seed, customer))
        self._reservations: Kept[tuple[int, int], Reservation] = Kept(self._make_reservation)
        self._departures: Kept[tuple[int, int], Departure] = Kept(
            lambda place: self._departure_maker.departure(*place)
        )
        self._identities: Kept[int, Identity] = Kept(self._people.identity)
        self._user_ids: Kept[int, str] = Kept(lambda each: self._people.user_id(self._identities[each]))
        self._passengers: Kept[int, Passenger] = Kept(self._make_passenger)
        self._saved: Kept[int, tuple[Passenger, ...]] = Kept(self._make_saved)
        self._method_ids: Kept[int, tuple[str, ...]] = Kept(self._make_method_ids)
        self._reservation_ids: Kept[tuple[int, int], str] = Kept(
            lambda place: self._ids.reservation_id(*place)
        )
        super().__init__(
            {
                "customers": Table(
                    lambda: range(customers), self.user_id, self.find_user, self._customers.__getitem__
                ),
                "reservations": Table(
                    self.reservation_places,
                    self._reservation_ids.__getitem__,
                    self.find_reservation,
                    self._reservations.__getitem__,
                ),
                "departures": Table(
                    self.departure_places,
                    lambda place: self.departure_key(*place),
                    self.find_departure,
                    self._departures.__getitem__,
                ),
                "passengers": {},
            }
        )

    @property
    def digest(self) -> str:
        """Digest of what all records follow from, and of some of them, in hexadecimal."""
        if self._digest is None:
            made = {"generator": GENERATOR, "seed": str(self.seed), "customers": self.customers}
            flights = [list(each) for each in self.flights]
            airports = [[airport.iata, airport.city] for airport in self.airports]
            made_of = {"airports": airports, "flights": flights, "sample": self._sample()}
            self._digest = digest({**made, **made_of})
        return self._digest

    def customer(self, customer: int) -> Customer:
        """The customer with that index, 0 to `customers` - 1. Change a copy of it only."""
        return self._customers[customer]

    def reservation(self, customer: int, number: int) -> Reservation:
        """A reservation of a customer, by its number from 0. Change a copy of it only."""
        return self._reservations[(customer, number)]

    def departure(self, flight: int, day: int) -> Departure:
        """A flight on a day. Change a copy of it only."""
        return self._departures[(flight, day)]

    def reservation_places(self) -> Iterator[tuple[int, int]]:
        """Customer and number of every reservation."""
        for customer in range(self.customers):
            for number in range(self.customer(customer).reservations):
                yield customer, number

    def departure_places(self) -> Iterator[tuple[int, int]]:
        """Flight code and day of every departure."""
        for flight in range(self.flight_count):
            for day in range(dates.DAYS):
                yield flight, day

    def user_id(self, customer: int) -> str:
        """Such as `jane_roe_1234`."""
        return self._user_ids[customer]

    def find_user(self, user_id: str) -> int | None:
        """The customer with that user id."""
        customer = self._people.of_user_id(user_id)
        return customer if customer is not None and customer < self.customers else None

    def name(self, customer: int) -> tuple[str, str]:
        """First and last name."""
        identity = self._identities[customer]
        return names.FIRST_NAMES[identity.first], names.LAST_NAMES[identity.last]

    def email(self, customer: int) -> str:
        """Such as `jane.roe1234@example.com`."""
        return self._people.email(self._identities[customer])

    def dob(self, customer: int) -> str:
        """Date of birth, such as `1985-12-31`."""
        return own_birthday(self.seed, customer)

    def address(self, customer: int) -> Address:
        """Where a customer lives."""
        word = splitmix64(self.seed, ADDRESSES, customer, 0)
        return address_of(word, self._identities[customer].zip)

    def saved_passengers(self, customer: int) -> tuple[Passenger, ...]:
        """Whom a customer saved: 1 to 4 others, all of different names."""
        return self._saved[customer]

    def passenger(self, code: int) -> Passenger:
        """Who it is by a code that is not below 0: customer * 8, and behind it the saved ones from 1.

        Raises:
            IndexError: The customer saved fewer.
        """
        return self._passengers[code]

    def passenger_code(self, customer: int, passenger: Passenger) -> int:
        """The code of the customer themself or of one whom they saved; -1 for anybody else."""
        own = customer * PASSENGER_CODES
        for code in range(own, own + 1 + len(self.saved_passengers(customer))):
            if self.passenger(code) == passenger:
                return code
        return -1

    def reservation_id(self, customer: int, number: int) -> str:
        """Such as `K4TR7B`; of any number below `MAX_RESERVATIONS`, whether there is one or not."""
        return self._reservation_ids[(customer, number)]

    def reservation_ids(self, customer: int) -> list[str]:
        """The ids of a customer's reservations, by number."""
        count = self.customer(customer).reservations
        return [self.reservation_id(customer, number) for number in range(count)]

    def find_reservation(self, reservation_id: str) -> tuple[int, int] | None:
        """Customer and number of the reservation with that id."""
        place = self._ids.of_reservation_id(reservation_id)
        if place is None or place[0] >= self.customers:
            return None
        return place if place[1] < self.customer(place[0]).reservations else None

    def method_id(self, customer: int, method: int, kind: int) -> str:
        """Such as `gift_card_1234567`; of any number below `MAX_METHODS`."""
        return self._ids.method_id(customer, method, kind)

    def method_ids(self, customer: int) -> tuple[str, ...]:
        """The ids of the payment methods that a customer has at first, by number; also of what is used up."""
        return self._method_ids[customer]

    def card(self, customer: int, method: int) -> tuple[str, str]:
        """Brand and last four digits of a customer's credit card."""
        return card_of(splitmix64(self.seed, CARDS, customer, method))

    def flight_number(self, flight: int) -> str:
        """Such as `HAT001`, of code 0."""
        return self._flight_numbers[flight]

    def find_flight(self, number: str) -> int | None:
        """The code of the flight with that number."""
        flight = ids.of_flight_number(number)
        return flight if flight is not None and flight < self.flight_count else None

    def date(self, day: int) -> str:
        """Such as `2025-06-16`, of day 0."""
        return dates.DATES[day]

    def find_date(self, text: str) -> int | None:
        """The day with that date; None outside of the window."""
        return dates.find_date(text)

    def departure_key(self, flight: int, day: int) -> str:
        """Such as `HAT001 2025-06-16`."""
        return f"{self._flight_numbers[flight]} {dates.DATES[day]}"

    def find_departure(self, key: str) -> tuple[int, int] | None:
        """Flight code and day of a departure key."""
        number, _, date = key.partition(" ")
        flight, day = self.find_flight(number), self.find_date(date)
        return None if flight is None or day is None else (flight, day)

    def routes(self, origin: int, destination: int) -> tuple[int, ...]:
        """The flights from one airport to another, by departure time and then by code."""
        return self._routes.direct(origin, destination)

    def connections(self, origin: int, destination: int) -> tuple[tuple[int, int], ...]:
        """The pairs of flights from one airport to another by way of a third, whatever their times.

        They are sorted as `routes` are, by the first flight and then by the second.
        """
        return self._routes.connections(origin, destination)

    def _sample(self) -> Json:
        """Records that change when the way in which records are made does."""
        sample: list[Json] = []
        for customer in range(min(self.customers, 32)):
            row = self.customer(customer)
            reservations = [self.reservation(customer, number) for number in range(row.reservations)]
            rows = [msgspec.structs.astuple(each) for each in (row, *reservations)]
            texts = [
                self.user_id(customer),
                self.email(customer),
                self.dob(customer),
                *self.address(customer),
            ]
            known = [*self.saved_passengers(customer), self.method_ids(customer), self.card(customer, 0)]
            sample.append([rows, texts, known, self.reservation_ids(customer)])
        departures = [self.departure(flight, flight % dates.DAYS) for flight in range(self.flight_count)]
        return [sample, [msgspec.structs.astuple(each) for each in departures]]

    def _make_reservation(self, place: tuple[int, int]) -> Reservation:
        customer, number = place
        saved = len(self.saved_passengers(customer))
        return self._reservation_maker.reservation(self.customer(customer), number, saved)

    def _make_passenger(self, code: int) -> Passenger:
        customer, number = divmod(code, PASSENGER_CODES)
        if number:
            return self.saved_passengers(customer)[number - 1]
        return Passenger(*self.name(customer), self.dob(customer))

    def _make_saved(self, customer: int) -> tuple[Passenger, ...]:
        return saved_passengers(self.seed, customer, self.name(customer))

    def _make_method_ids(self, customer: int) -> tuple[str, ...]:
        row = self.customer(customer)
        return tuple(self.method_id(customer, each, row.method_kind[each]) for each in range(row.methods))


def booking_base(customers: int = 500, flights: int = 300, seed: int = 0) -> BookingBase:
    """The data of a size and seed, made once in a process; raises as `BookingBase` does."""
    return _made_base(customers, flights, seed)


@functools.lru_cache(maxsize=8)
def _made_base(customers: int, flights: int, seed: int) -> BookingBase:
    return BookingBase(customers, flights, seed)


def _check_size(customers: int, flights: int, seed: int) -> None:
    if type(customers) is not int or not 1 <= customers <= MAX_CUSTOMERS:
        raise UsageError(f"customers must be an integer from 1 to {MAX_CUSTOMERS}, got {customers!r:.80}.")
    if type(flights) is not int or not MIN_FLIGHTS <= flights <= MAX_FLIGHTS or flights % 2:
        raise UsageError(
            f"flights must be an even integer from {MIN_FLIGHTS} to {MAX_FLIGHTS}, got {flights!r:.80}."
        )
    if type(seed) is not int or not 0 <= seed < 2**64:
        raise UsageError(f"seed must be an integer from 0 to 2**64 - 1, got {seed!r:.80}.")
