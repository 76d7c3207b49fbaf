"""Random calls of tau-bench's tools: sensible ones, slightly wrong ones and wild ones."""

import copy
import inspect
import random
from collections.abc import Mapping
from typing import Any

from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.tau_bench.airline import AIRLINE_TOOLS
from tool_envs.tau_bench.data import AirlineData
from tool_envs.tau_bench.retail import RETAIL_TOOLS
from tool_envs.tau_bench.tools import shown

PARAMETERS = {
    name: list(inspect.signature(tool).parameters)[1:]
    for name, tool in {**RETAIL_TOOLS, **AIRLINE_TOOLS}.items()
}
EXPRESSIONS = [
    "2+2",
    "1/3",
    "(1",
    "10/0",
    "()",
    "",
    "012",
    " 3 * (4 - 1)",
    "2(3)",
    "(-8)**0.5",
    "...",
    "a+1",
    "1..2",
]
WORDS = ["", "a", "no longer needed", "gift_card_0", "Zürich", "12345", "\ud800", "#W0000000", "{'x'}"]


def answer(database: Database, call: ToolCall) -> str:
    """What tau-bench's environment would show for a call."""
    tools = AIRLINE_TOOLS if isinstance(database.base, AirlineData) else RETAIL_TOOLS
    return shown(tools[call.name], database, call.arguments)


class CallMaker:
    """Makes retail calls that fit the present state of a database, or nearly, or not at all."""

    names = tuple(RETAIL_TOOLS) + tuple(name for name in RETAIL_TOOLS if "order" in name)

    def __init__(self, seed: int, database: Database, wild: float = 0.0) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - reproducible
        self.database = database
        self.wild = wild

    def call(self) -> ToolCall:
        name = self.rng.choice(self.names)
        arguments = self.arguments(name)
        if self.rng.random() < self.wild:
            arguments = self._spoiled(arguments)
        return ToolCall(name, copy.deepcopy(arguments))

    def arguments(self, name: str) -> dict[str, Any]:
        rng = self.rng
        user_id = rng.choice(list(self.database.base.tables["users"]))
        user = self.database.get("users", user_id)
        wanted = {
            "cancel": "pending",
            "modify_pending": "pending",
            "exchange": "delivered",
            "return": "delivered",
        }
        status = next((status for word, status in wanted.items() if name.startswith(word)), None)
        order = self._order(status)
        if rng.random() < 0.9:
            user_id = order["user_id"]
            user = self.database.get("users", user_id)
        old, new = self._items(order)
        values = {
            "expression": rng.choice(EXPRESSIONS),
            "order_id": order["order_id"],
            "reason": rng.choice(
                ["no longer needed", "ordered by mistake", "ordered by mistake", "too dear"]
            ),
            "item_ids": old,
            "new_item_ids": new,
            "payment_method_id": rng.choice([*user["payment_methods"], *user["payment_methods"], "paypal_1"]),
            "email": rng.choice([user["email"], user["email"].upper(), "nobody@example.com"]),
            "first_name": rng.choice(
                [user["name"]["first_name"], user["name"]["first_name"].upper(), "Nobody"]
            ),
            "last_name": rng.choice([user["name"]["last_name"], user["name"]["last_name"].lower(), "Nobody"]),
            "zip": rng.choice([user["address"]["zip"], user["address"]["zip"], "00000"]),
            "product_id": rng.choice([*self.database.base.tables["products"], "0"]),
            "user_id": user_id,
            "thought": "hm",
            "summary": "help",
        }
        return {key: values.get(key, rng.choice(["12 Elm St", "", "Suite 1"])) for key in PARAMETERS[name]}

    def _order(self, status: str | None) -> Mapping[str, Any]:
        orders = [order for _, order in self.database.items("orders")]
        fitting = [order for order in orders if order["status"] == status]
        return self.rng.choice(fitting if fitting and self.rng.random() < 0.9 else orders)

    def _items(self, order: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        rng = self.rng
        items = rng.sample(order["items"], rng.randint(0 if rng.random() < 0.1 else 1, len(order["items"])))
        new = [self._variant(item) for item in items]
        old = [item["item_id"] for item in items]
        if rng.random() < 0.08 and old:
            (old if rng.random() < 0.5 else new).append(rng.choice(old + new))
        if rng.random() < 0.08 and len(old) > 1:
            new[1:] = old[:-1]
        return old, new

    def _variant(self, item: Mapping[str, Any]) -> str:
        variants = self.database.get("products", item["product_id"])["variants"]
        available = [key for key, variant in variants.items() if variant["available"]] or list(variants)
        return self.rng.choice(available if self.rng.random() < 0.9 else list(variants))

    def _spoiled(self, arguments: dict[str, Any]) -> dict[str, Any]:
        rng = self.rng
        arguments = dict(arguments)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            kind = rng.random()
            if kind < 0.1 and arguments:
                del arguments[rng.choice(list(arguments))]
            elif kind < 0.2:
                arguments[rng.choice(["foo", "self", "data", "", "zip", "order_id"])] = self.wild_value()
            elif arguments:
                key = rng.choice(list(arguments))
                arguments[key] = self._bent(arguments[key])
        return arguments

    def _bent(self, value: Any) -> Any:
        """A value near the right one, or any."""
        rng = self.rng
        near = {"same": value, "list": [value], "nested": [[value]], "key": {"k": value}}
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            near = {
                "text": "".join(value),
                "first": value[0] if value else "",
                "keys": dict.fromkeys(value, 1),
                "odd": [*value, self.wild_value()],
                "nested": [value],
                "twice": value * 2,
            }
        return rng.choice(list(near.values())) if rng.random() < 0.4 else self.wild_value()

    def wild_value(self, depth: int = 2) -> Any:
        rng = self.rng
        plain = [None, True, False, 0, 1, -1, 10**25, 1.0, 2.5, -0.0, [], {}, *WORDS]
        if depth == 0 or rng.random() < 0.7:
            return rng.choice(plain)
        parts = [self.wild_value(depth - 1) for _ in range(rng.randint(1, 2))]
        return parts if rng.random() < 0.5 else {rng.choice(WORDS): part for part in parts}


class AirlineCallMaker(CallMaker):
    """Makes airline calls in the same way."""

    names = tuple(AIRLINE_TOOLS) + tuple(name for name in AIRLINE_TOOLS if "reservation" in name) * 2

    def arguments(self, name: str) -> dict[str, Any]:
        rng = self.rng
        reservation = rng.choice([record for _, record in self.database.items("reservations")])
        user_id = reservation["user_id"]
        user = self.database.get("users", user_id)
        flights = self._flights(reservation)
        bags = rng.randint(0, 4)
        origin, destination = self._ends()
        values = {
            "expression": rng.choice(EXPRESSIONS),
            "reservation_id": rng.choice([reservation["reservation_id"]] * 9 + ["HATHAT", "AAAAAA"]),
            "user_id": rng.choice([user_id] * 9 + ["nobody_1"]),
            "origin": origin,
            "destination": destination,
            "flight_type": rng.choice(["one_way", "round_trip"]),
            "cabin": rng.choice(
                [reservation["cabin"]] * 3 + ["basic_economy", "economy", "business", "first"]
            ),
            "flights": flights,
            "passengers": self._passengers(reservation),
            "total_baggages": bags + rng.randint(0, 2),
            "nonfree_baggages": rng.choice([bags, float(bags)]) if rng.random() < 0.1 else bags,
            "insurance": rng.choice(["yes", "no"]),
            "payment_id": self._payment_id(user),
            "amount": rng.choice([50, 100, 100.0, 12.5, 200]),
            "date": rng.choice(self._dates()),
            "thought": "hm",
            "summary": "help",
        }
        arguments = {key: values[key] for key in PARAMETERS[name] if key != "payment_methods"}
        if name == "book_reservation":
            arguments["payment_methods"] = self._payments(user, self._price(arguments))
        return arguments

    def _all_flights(self) -> list[Mapping[str, Any]]:
        return list(self.database.base.tables["flights"].values())

    def _dates(self) -> list[str]:
        return sorted({date for flight in self._all_flights() for date in flight["dates"]} | {"2024-05-31"})

    def _ends(self) -> tuple[str, str]:
        """Airports between which there is a flight, or two flights, or perhaps none."""
        first, other = self.rng.sample(self._all_flights(), 2)
        onward = [flight for flight in self._all_flights() if flight["origin"] == first["destination"]]
        last = self.rng.choice([first, *self.rng.sample(onward, min(2, len(onward))), other])
        return first["origin"], last["destination"]

    def _flights(self, reservation: Mapping[str, Any]) -> list[dict[str, Any]]:
        rng = self.rng
        old = [{key: flight[key] for key in ("flight_number", "date")} for flight in reservation["flights"]]
        new = []
        for flight in rng.sample(self._all_flights(), 2):
            open_days = [day for day, offer in flight["dates"].items() if offer["status"] == "available"]
            days = open_days if open_days and rng.random() < 0.98 else self._dates()
            new.append({"flight_number": flight["flight_number"], "date": rng.choice(days)})
        flights = rng.choice([old, new, new[:1], new[:1], old[:1] + new[:1], []])
        if flights and rng.random() < 0.1:
            flights[0] = flights[0] | rng.choice([{"price": 1}, {"seat": "4A"}, {"flight_number": "HAT000"}])
        return flights

    def _passengers(self, reservation: Mapping[str, Any]) -> list[dict[str, Any]]:
        rng = self.rng
        booked = reservation["passengers"]
        number = len(booked) if isinstance(booked, list) and rng.random() < 0.9 else rng.randint(0, 3)
        return [
            {"first_name": rng.choice("ABC"), "last_name": "D", "dob": "1990-01-01"} for _ in range(number)
        ]

    def _bent(self, value: Any) -> Any:
        """Beside what can be done to any value: one part of a list of objects made wrong."""
        objects = isinstance(value, list) and all(part and isinstance(part, dict) for part in value)
        if not (objects and value and self.rng.random() < 0.7):
            return super()._bent(value)
        parts = copy.deepcopy(value)
        index = self.rng.randrange(len(parts))
        key = self.rng.choice(list(parts[index]))
        if self.rng.random() < 0.2:
            del parts[index][key]
        elif self.rng.random() < 0.2:
            parts[index] = self.wild_value()
        else:
            parts[index][key] = self.wild_value()
        return parts

    def _payment_id(self, user: Mapping[str, Any]) -> str:
        return self.rng.choice([*user["payment_methods"]] * 4 + ["credit_card_1"])

    def _price(self, arguments: Mapping[str, Any]) -> Any:
        """What a booking costs, or 100 where it cannot be had."""
        flights, price = self.database.base.tables["flights"], 50 * arguments["nonfree_baggages"]
        number = len(arguments["passengers"])
        try:
            for flight in arguments["flights"]:
                day = flights[flight["flight_number"]]["dates"][flight["date"]]
                price += day["prices"][arguments["cabin"]] * number
        except (KeyError, TypeError):  # no such cabin, or one from a wild booking
            return 100
        return price + (30 * number if arguments["insurance"] == "yes" else 0)

    def _payments(self, user: Mapping[str, Any], price: Any) -> list[dict[str, Any]]:
        rng = self.rng
        ids = [self._payment_id(user) for _ in range(rng.choice([1, 1, 2, 3]))]
        if rng.random() < 0.1:
            ids = ids[:1] * 2
        amounts = [rng.choice([0, 10, 50, -5, 50.0]) for _ in ids[1:]]
        paid = price - sum(amounts) + (rng.random() < 0.1)
        if rng.random() < 0.1:
            paid = float(paid)
        payments = [
            {"payment_id": one, "amount": amount} for one, amount in zip(ids, [*amounts, paid], strict=True)
        ]
        if rng.random() < 0.05:
            payments[0]["note"] = "x"
        return payments
