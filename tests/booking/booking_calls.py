"""An airline to test tools with: calls that are right, and what tests need to prepare and to read."""

import functools
import json

from tool_envs.booking.codes import changed_records
from tool_envs.booking.data import booking_base
from tool_envs.booking.rows import CABINS, MEMBERSHIPS
from tool_envs.booking.toolkit import PAYMENTS_NAMES, booking_toolkit
from tool_envs.database import Database
from tool_envs.messages import ToolCall

VERSIONS = list(PAYMENTS_NAMES)
BASE = booking_base()
FIRST_OPEN_DAY, LAST_DAY = 16, 29
"""Days on which most flights can be booked."""
CUSTOMER = 7
"""Of examples."""
CARD = BASE.method_ids(CUSTOMER)[0]
"""Their credit card."""
FREE_BAGS = {
    "regular": {"basic_economy": 0, "economy": 1, "business": 2},
    "silver": {"basic_economy": 1, "economy": 2, "business": 3},
    "gold": {"basic_economy": 2, "economy": 3, "business": 4},
}


def call(database, name, version="2.0.0", **arguments):
    """A result of a tool, from arguments with the names of version 2.0.0."""
    payments = PAYMENTS_NAMES[version]
    arguments = {payments if key == "payments" else key: value for key, value in arguments.items()}
    return booking_toolkit(version).call(database, ToolCall(name, arguments))


def answer(database, name, version="2.0.0", **arguments):
    result = call(database, name, version, **arguments)
    assert result.code is None, result.content
    return json.loads(result.content)


def profile(database, customer):
    return answer(database, "get_user_details", user_id=BASE.user_id(customer))


def departure_of(database, flight):
    """The row of a flight as tools show it."""
    return database.get("departures", f"{flight['flight_number']} {flight['date']}")


def put_departure(database, flight, **fields):
    """Let a flight, as tools show it, be as a test needs it."""
    departure = departure_of(database, flight).copy()
    for name, value in fields.items():
        setattr(departure, name, value)
    database.put("departures", BASE.departure_key(departure.flight, departure.day), departure)


def put_methods(database, customer, kinds, balance=1_000_00):
    """Let a customer have payment methods of these kinds; answers their ids."""
    row = BASE.customer(customer).copy()
    first = BASE.customer(customer).methods  # what comes with the base has ids of its kind
    row.methods = first + len(kinds)
    for method, kind in enumerate(kinds, first):
        row.method_kind[method], row.balance[method] = kind, balance
    database.put("customers", BASE.user_id(customer), row)
    return [BASE.method_id(customer, method, kind) for method, kind in enumerate(kinds, first)]


# --- Sensible calls


@functools.cache
def airport_pairs(stops):
    """Origin and destination with direct flights (0) or only with connections (1)."""
    codes = range(len(BASE.airports))
    pairs = [(one, other) for one in codes for other in codes if one != other]
    if not stops:
        return [pair for pair in pairs if BASE.routes(*pair)]
    return [pair for pair in pairs if BASE.connections(*pair) and not BASE.routes(*pair)]


def offers(database, origin, destination, day):
    """Itineraries that the searches offer: lists of one or two flights as they show them."""
    asked = {
        "origin": BASE.airports[origin].iata,
        "destination": BASE.airports[destination].iata,
        "date": BASE.date(day),
    }
    direct = answer(database, "search_direct_flight", **asked)["flights"]
    return [
        *([flight] for flight in direct),
        *answer(database, "search_onestop_flight", **asked)["connections"],
    ]


def offer_of(flights, day=20):
    """An offered itinerary of so many flights with five free seats in every cabin."""
    return next(
        offer
        for pair in airport_pairs(flights - 1)
        for offer in offers(Database(BASE), *pair, day)
        if len(offer) == flights and all(free_seats(offer, cabin) >= 5 for cabin in CABINS)
    )


def round_trip(*days):
    """Offered itineraries with free seats: there on the first day, and back on each of the others."""
    pair = next(pair for pair in airport_pairs(0) if BASE.routes(*pair[::-1]))
    pairs = [pair, *[pair[::-1]] * (len(days) - 1)]
    return [
        next(offer for offer in offers(Database(BASE), *each, day) if free_seats(offer, "economy"))
        for each, day in zip(pairs, days, strict=True)
    ]


def free_seats(flights, cabin):
    return min(flight["available_seats"][cabin] for flight in flights)


def people(customer, count):
    """The customer, whom they saved, and then others."""
    known = [BASE.passenger(customer * 8), *BASE.saved_passengers(customer)]
    others = [{"first_name": "Zoë", "last_name": f"Guest-{n}", "dob": "1990-02-03"} for n in range(count)]
    return [*(person._asdict() for person in known), *others][:count]


def nonfree(customer, cabin, passengers, bags):
    membership = MEMBERSHIPS[BASE.customer(customer).membership]
    return max(0, bags - FREE_BAGS[membership][cabin] * passengers)


def booking(customer, there, back=(), cabin="economy", passengers=1, bags=0, insurance="no"):
    """Arguments of a booking of offered flights that is right, paid with the customer's credit card."""
    flights, extra = [*there, *back], nonfree(customer, cabin, passengers, bags)
    fares = sum(flight["prices"][cabin] for flight in flights)
    price = passengers * (fares + 30 * (insurance == "yes")) + 50 * extra
    return {
        "user_id": BASE.user_id(customer),
        "origin": there[0]["origin"],
        "destination": there[-1]["destination"],
        "flight_type": "round_trip" if back else "one_way",
        "cabin": cabin,
        "flights": chosen(flights),
        "passengers": people(customer, passengers),
        "payments": [{"payment_id": BASE.method_ids(customer)[0], "amount": price}],
        "total_baggages": bags,
        "nonfree_baggages": extra,
        "insurance": insurance,
    }


def chosen(flights):
    return [{"flight_number": flight["flight_number"], "date": flight["date"]} for flight in flights]


def price_of(arguments):
    return sum(payment["amount"] for payment in arguments["payments"])


def forked(database):
    """The database as it is now, whatever becomes of it."""
    other = Database(database.base)
    other.restore(database.snapshot())
    return other


def changes(database):
    """What differs from the base data, for messages of failed tests and comparisons."""
    return changed_records(database, "payments")


def minutes(flight, which):
    """When a flight as tools show it leaves or arrives, in minutes since the first day."""
    text, day = flight[f"scheduled_{which}_time_est"], BASE.find_date(flight["date"])
    clock, _, days = text.partition("+")
    hours, rest, _ = map(int, clock.split(":"))
    return (day + int(days or 0)) * 24 * 60 + hours * 60 + rest


def is_connection(flight, other):
    """Whether passengers can change from one flight to another in time."""
    return minutes(other, "departure") - minutes(flight, "arrival") >= 45


def of_source(user, source):
    return [method_id for method_id, method in user["payments"].items() if method["source"] == source]
