"""Calls about a few customers of an airline, sensible and hostile, and what must hold after any of them."""

import functools
import itertools
import json
from collections import Counter, defaultdict

from tool_envs.booking.codes import changed_records, customer_row, renderer
from tool_envs.booking.data import booking_base
from tool_envs.booking.rows import AVAILABLE, CABINS, CERTIFICATE, CREDIT_CARD, MEMBERSHIPS
from tool_envs.booking.toolkit import PAYMENTS_NAMES, booking_toolkit
from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.schema import load_schema
from tool_envs.schema.sampling import mutate_call, sample_call

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


# --- Random calls

WALKED = sorted(range(500), key=lambda who: BASE.customer(who).methods)[-6:]
"""Customers with many payment methods."""


def plausible_call(rnd, database):
    """A call that a tool could accept, about one of a few customers; arguments as in version 2.0.0."""
    customer = rnd.choice(WALKED)
    user = {"user_id": BASE.user_id(customer)}
    day = rnd.randint(FIRST_OPEN_DAY, LAST_DAY)
    flight = {"flight_number": BASE.flight_number(rnd.randrange(300)), "date": BASE.date(rnd.randrange(30))}
    pair = [BASE.airports[code].iata for code in rnd.choice(airport_pairs(rnd.randrange(2)))]
    asked = {"origin": pair[0], "destination": pair[1], "date": BASE.date(day)}
    reads = [
        ("get_user_details", user),
        ("get_flight_status", flight),
        ("search_direct_flight", asked),
        ("search_onestop_flight", asked),
        ("list_all_airports", {}),
        ("calculate", {"expression": rnd.choice(["2 * (3 + 4)", "1/0"])}),
        ("send_certificate", {**user, "amount": rnd.randint(1, 500)}),
    ]
    if rnd.random() < 0.2:
        return rnd.choice(reads)
    if rnd.random() < 0.4:
        return "book_reservation", random_booking(rnd, database, customer, day)
    reservation = answer(
        database,
        "get_reservation_details",
        reservation_id=rnd.choice(profile(database, customer)["reservations"]),
    )
    return rnd.choice(reservation_calls(rnd, database, customer, reservation))


def random_booking(rnd, database, customer, day):
    found = []
    while not found:
        pair = rnd.choice(airport_pairs(rnd.randrange(2)))
        found = offers(database, *pair, day)
    there, back = rnd.choice(found), []
    if rnd.random() < 0.4:
        returns = offers(database, *pair[::-1], rnd.randint(day, LAST_DAY))
        back = rnd.choice([*(offer for offer in returns if is_connection(there[-1], offer[0])), []])
    cabin = rnd.choice(CABINS)
    passengers = rnd.randint(1, max(1, min(5, free_seats([*there, *back], cabin))))
    arguments = booking(
        customer,
        there,
        back,
        cabin,
        passengers,
        bags=rnd.choice([0, 1, 6]),
        insurance=rnd.choice(["yes", "no"]),
    )
    arguments["payments"] = shared_payments(rnd, profile(database, customer), price_of(arguments))
    return arguments


def shared_payments(rnd, user, price):
    """Payments over a price: by a certificate and gift cards as far as they go, the rest by a credit card."""
    payments, rest, certificates = [], price, 0
    for method_id, method in rnd.sample(sorted(user["payments"].items()), len(user["payments"])):
        certificates += method["source"] == "certificate"
        usable = method["source"] == "gift_card" or (method["source"] == "certificate" and certificates == 1)
        amount = min(rest - 1, method.get("amount", 0))
        if usable and amount > 0 and rnd.random() < 0.7:
            payments.append({"payment_id": method_id, "amount": amount})
            rest -= amount
    return [*payments, {"payment_id": rnd.choice(of_source(user, "credit_card")), "amount": rest}]


def of_source(user, source):
    return [method_id for method_id, method in user["payments"].items() if method["source"] == source]


def reservation_calls(rnd, database, customer, reservation):
    named = {"reservation_id": reservation["reservation_id"]}
    user = profile(database, customer)
    payment = {"payment_id": rnd.choice(of_source(user, "credit_card") + of_source(user, "gift_card"))}
    total = min(20, reservation["total_baggages"] + rnd.randrange(3))
    count, cabin = len(reservation["passengers"]), reservation["cabin"]
    to_pay = max(reservation["nonfree_baggages"], nonfree(customer, cabin, count, total))
    bags = {"total_baggages": total, "nonfree_baggages": to_pay}
    changed = [*reservation["passengers"][1:], people(customer, 5)[rnd.randrange(5)]]
    new = {"flights": other_flights(rnd, database, reservation), "cabin": rnd.choice([cabin, *CABINS])}
    return [
        ("get_reservation_details", named),
        ("cancel_reservation", named),
        ("update_reservation_baggages", {**named, **bags, **payment}),
        ("update_reservation_passengers", {**named, "passengers": changed}),
        *[("update_reservation_flights", {**named, **new, **payment})] * 3,
    ]


def other_flights(rnd, database, reservation):
    """The flights as they are, or others there or back."""
    flights, destination = reservation["flights"], reservation["destination"]
    turn = next(
        (n for n, flight in enumerate(flights, 1) if flight["destination"] == destination), len(flights)
    )
    there, back = flights[:turn], flights[turn:]
    ends = [BASE.airport_codes[reservation[end]] for end in ("origin", "destination")]
    day = rnd.randint(FIRST_OPEN_DAY, LAST_DAY)
    if rnd.random() < 0.4:
        there = rnd.choice([there, *offers(database, *ends, day)])
    if back and rnd.random() < 0.4:
        back = rnd.choice([back, *offers(database, *ends[::-1], rnd.randint(day, LAST_DAY))])
    return chosen([*there, *back])


def random_call(rnd, database, version):
    """Name and arguments of a call under a version: sensible, a little wrong, or any that is valid."""
    schema, share = load_schema("booking", version), rnd.random()
    if share < 0.1:
        made = sample_call(schema, rnd.randrange)
        return made["name"], made["arguments"]
    name, arguments = plausible_call(rnd, database)
    if arguments and share < 0.5:
        keys = [key for key, value in arguments.items() for _ in range(1 if isinstance(value, str) else 4)]
        key = rnd.choice(keys)
        arguments = {**arguments, key: spoiled(rnd, arguments[key], key)}
    payments = PAYMENTS_NAMES[version]
    arguments = {payments if key == "payments" else key: value for key, value in arguments.items()}
    if share > 0.95:
        made = mutate_call(schema, {"name": name, "arguments": arguments}, rnd.randrange)
        return made.get("name"), made.get("arguments")
    return name, arguments


def spoiled(rnd, value, name=""):
    """A value of the same form that is likely to be wrong."""
    if isinstance(value, dict):
        key = rnd.choice(list(value))
        return {**value, key: spoiled(rnd, value[key], key)}
    if isinstance(value, list):
        wrong = [spoiled(rnd, value[0]), *value[1:]]
        return rnd.choice([value[::-1], value[:-1], [*value, value[-1]], wrong, wrong])
    if isinstance(value, int):
        return value + rnd.choice([-1, 1])
    other = rnd.randrange(500)
    words = {
        "user_id": BASE.user_id(other),
        "reservation_id": BASE.reservation_id(other, 0),
        "payment_id": rnd.choice(BASE.method_ids(other)),
        "origin": rnd.choice([*BASE.airport_codes, "XXX"]),
        "destination": rnd.choice([*BASE.airport_codes, "XXX"]),
        "flight_number": rnd.choice([BASE.flight_number(other % 300), "HAT999"]),
        "date": rnd.choice([BASE.date(rnd.randrange(30)), "2025-07-16"]),
        "dob": "2000-02-29",
        "cabin": rnd.choice(CABINS),
        "flight_type": rnd.choice(["one_way", "round_trip"]),
        "insurance": rnd.choice(["yes", "no"]),
    }
    return words.get(name, value[::-1])


# --- What must hold


def check_step(before, database):
    """Seats, money and itineraries of all that a call changed fit together.

    Args:
        before: Database before the call.
        database: The same one after it.
    """
    _check_seats(before, database)
    _check_balances(before, database)
    for key, row in _changed_rows(before, database, "reservations"):
        shown = renderer(BASE).reservation_json(database, row)
        assert sum(payment["amount"] for payment in shown["payment_history"]) == _price(shown), key
        check_itinerary(shown)


def forked(database):
    """The database as it is now, whatever becomes of it."""
    other = Database(database.base)
    other.restore(database.snapshot())
    return other


def _changed_rows(before, database, table):
    rows = {key: row for (name, key), row in database.changed.items() if name == table}
    return [(key, row) for key, row in rows.items() if row is not before.get(table, key)]


def _held(reservation):
    """Seats that a reservation holds, by departure and cabin."""
    if reservation is None or reservation.cancelled:
        return Counter()
    places = zip(reservation.flight, reservation.day, range(reservation.segments), strict=False)
    return Counter({(flight, day, reservation.cabin): reservation.passengers for flight, day, _ in places})


def _check_seats(before, database):
    """What reservations hold more than before is what fewer seats are free than before."""
    taken = Counter()
    for key, row in _changed_rows(before, database, "reservations"):
        taken.update(_held(row))
        taken.subtract(_held(before.get("reservations", key)))
    for key, row in _changed_rows(before, database, "departures"):
        old = before.get("departures", key)
        assert (row.status, row.price) == (old.status, old.price)
        for cabin, seats in enumerate(old.seats):
            assert row.seats[cabin] == seats - taken.pop((row.flight, row.day, cabin), 0) >= 0
    left = {place: seats for place, seats in taken.items() if seats}
    assert all(BASE.departure(flight, day).status != AVAILABLE for flight, day, _ in left)


def _check_balances(before, database):
    """Gift cards move by what was paid and refunded; a certificate is used up, or gets its refund."""
    entries = defaultdict(list)
    for key, row in _changed_rows(before, database, "reservations"):
        old = before.get("reservations", key)
        for place in range(old.payments if old else 0, row.payments):
            entries[row.customer, row.payment_method[place]].append(row.payment_amount[place])
    for _, row in _changed_rows(before, database, "customers"):
        old = customer_row(before, row.index)
        for method, kind in enumerate(row.method_kind[: old.methods]):
            amounts = entries.pop((row.index, method), [])
            used_up = kind == CERTIFICATE and any(amount > 0 for amount in amounts)
            left = 0 if used_up or kind == CREDIT_CARD else old.balance[method] - sum(amounts)
            assert row.balance[method] == left >= 0
    kinds = {BASE.customer(customer).method_kind[method] for customer, method in entries}
    assert kinds <= {CREDIT_CARD}
    assert all(len(amounts) == 1 and amounts[0] for amounts in entries.values())


def _price(shown):
    if shown["status"] == "cancelled":
        return 0
    insurance = 30 if shown["insurance"] == "yes" else 0
    fares = sum(flight["price"] for flight in shown["flights"])
    return (fares + insurance) * len(shown["passengers"]) + 50 * shown["nonfree_baggages"]


def minutes(flight, which):
    """When a flight as tools show it leaves or arrives, in minutes since the first day."""
    text, day = flight[f"scheduled_{which}_time_est"], BASE.find_date(flight["date"])
    clock, _, days = text.partition("+")
    hours, rest, _ = map(int, clock.split(":"))
    return (day + int(days or 0)) * 24 * 60 + hours * 60 + rest


def check_itinerary(shown):
    flights = shown["flights"]
    for one, other in itertools.pairwise(flights):
        assert one["destination"] == other["origin"]
        assert is_connection(one, other)
    ends = [flight["destination"] for flight in flights]
    assert flights[0]["origin"] == shown["origin"]
    assert ends[-1] == shown["origin" if shown["flight_type"] == "round_trip" else "destination"]
    assert shown["destination"] in ends


def is_connection(flight, other):
    """Whether passengers can change from one flight to another in time."""
    return minutes(other, "departure") - minutes(flight, "arrival") >= 45


def changes(database):
    """What differs from the base data, for messages of failed tests and comparisons."""
    return changed_records(database, "payments")
