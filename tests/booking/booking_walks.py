"""Random calls about a few customers of an airline: sensible, a little wrong, or any that are valid."""

from booking_calls import (
    BASE,
    FIRST_OPEN_DAY,
    LAST_DAY,
    airport_pairs,
    answer,
    booking,
    chosen,
    free_seats,
    is_connection,
    nonfree,
    of_source,
    offers,
    people,
    price_of,
    profile,
)

from tool_envs.booking.rows import CABINS
from tool_envs.booking.toolkit import PAYMENTS_NAMES
from tool_envs.schema import load_schema
from tool_envs.schema.sampling import mutate_call, sample_call

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
