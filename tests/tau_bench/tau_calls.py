"""Random calls of tau-bench's retail tools: sensible ones, slightly wrong ones and wild ones."""

import copy
import inspect
import random
from collections.abc import Mapping
from typing import Any

from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.tau_bench.retail import RETAIL_TOOLS

PARAMETERS = {name: list(inspect.signature(tool).parameters)[1:] for name, tool in RETAIL_TOOLS.items()}
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
    try:
        return RETAIL_TOOLS[call.name](data=database, **call.arguments)
    except Exception as problem:
        return f"Error: {problem}"


class CallMaker:
    """Makes calls that fit the present state of a database, or nearly, or not at all."""

    def __init__(self, seed: int, database: Database, wild: float = 0.0) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - reproducible
        self.database = database
        self.wild = wild

    def call(self) -> ToolCall:
        name = self.rng.choice(list(RETAIL_TOOLS) + [name for name in RETAIL_TOOLS if "order" in name])
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
