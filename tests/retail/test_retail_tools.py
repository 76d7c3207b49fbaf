"""The store's tools: atomic, exact with money, the same under every schema version."""

import functools
import itertools
import json
import random
from collections import Counter
from pathlib import Path

import jsonschema_rs
import orjson
import pytest
from effort import MOST_OF_PARTS, call_ratio, effort
from hypothesis import given
from hypothesis import strategies as st
from processes import outputs

from tool_envs.calculator import CalculationError, calculate
from tool_envs.database import Database
from tool_envs.errors import UnknownNameError
from tool_envs.messages import ToolCall
from tool_envs.retail.codes import changed_records, order_row, state_digest
from tool_envs.retail.data import RetailBase
from tool_envs.retail.refusals import No
from tool_envs.retail.rows import (
    CANCELLED,
    DELIVERED,
    GIFT_CARD,
    ITEM_MODIFIED,
    MAX_TRANSACTIONS,
    PAYMENT,
    PENDING,
    PROCESSED,
)
from tool_envs.retail.toolkit import ZIP_NAMES, retail_toolkit
from tool_envs.retail.writes import apply_modify_items
from tool_envs.schema import load_schema
from tool_envs.schema.sampling import mutate_call, sample_call

VERSIONS = list(ZIP_NAMES)
CODES = {"calculation_failed", *(no.refusal.code for no in No)}
MISTAKES = {"unknown_tool", "invalid_arguments"}
BASE = RetailBase(500, 0)
SHOP = BASE.catalog
ADDRESS = {"address1": "1 Elm Road", "address2": "", "city": "Reno", "state": "NV", "country": "USA"}


@pytest.fixture
def database():
    return Database(BASE)


def call(database, name, version="1.1.0", **arguments):
    return retail_toolkit(version).call(database, ToolCall(name, arguments))


def answer(database, name, version="1.1.0", **arguments):
    result = call(database, name, version, **arguments)
    assert result.code is None, result.content
    return json.loads(result.content)


def orders_where(condition):
    orders = (BASE.order(*place) for place in BASE.order_places())
    return (order for order in orders if condition(order, BASE.customer(order.customer)))


def order_where(condition):
    return next(orders_where(condition))


def ids(order):
    return BASE.order_id(order.customer, order.number), BASE.method_ids(order.customer)


def item_id(code):
    return SHOP.variants[code].item_id


def replacements(item):
    """Item ids that can take the place of a variant, the cheapest first."""
    product = SHOP.products[SHOP.variants[item].product]
    found = [each for each in product.variants if each.available and each.code != item]
    return [each.item_id for each in sorted(found, key=lambda each: each.price)]


def cost(order):
    return sum(SHOP.variants[item].price for item in order.items[: order.item_count])


def paid(order):
    amounts = zip(order.transaction_kind, order.transaction_amount, strict=True)
    return sum(a if kind == PAYMENT else -a for kind, a in itertools.islice(amounts, order.transactions))


def generator(seed):
    return random.Random(seed)  # noqa: S311 - a walk is no secret


# --- Random walks

WALKED = sorted(range(500), key=lambda who: (max(BASE.customer(who).balance) > 0, BASE.customer(who).orders))[
    -9:
]
"""Customers with a gift card and many orders."""


def plausible_call(rnd, version):
    """A call that a tool could accept, about one of a few customers."""
    customer = rnd.choice(WALKED)
    row = BASE.customer(customer)
    first, last = BASE.name(customer)
    zip_name = ZIP_NAMES[version]
    zip_code = rnd.choice([BASE.address(row.address).zip, "12345", "00000"])
    address = {**ADDRESS, "address2": rnd.choice(["", "Apt 2", "Größe 7"]), zip_name: zip_code}
    user = {"user_id": BASE.user_id(customer)}
    methods = {"payment_method_id": rnd.choice(BASE.method_ids(customer + (rnd.random() < 0.03)))}
    calls = [
        ("find_user_id_by_email", {"email": BASE.email(customer)}),
        ("find_user_id_by_name_zip", {"first_name": first, "last_name": last, zip_name: zip_code}),
        ("get_user_details", user),
        ("modify_user_address", {**user, **address}),
        ("calculate", {"expression": rnd.choice(["1 + 2.5", "9**9**9", "1/0", "(3 - 4) * 2"])}),
        ("get_product_details", {"product_id": rnd.choice([rnd.choice(SHOP.products).product_id, "0" * 10])}),
        ("list_all_product_types", {}),
    ]
    if row.orders:
        order = BASE.order(customer, rnd.randrange(row.orders))
        calls += order_calls(rnd, order, methods, address) * 3
    return rnd.choice(calls)


def order_calls(rnd, order, methods, address):
    named = {"order_id": BASE.order_id(order.customer, order.number)}
    old = rnd.sample(order.items[: order.item_count], rnd.randint(1, order.item_count))
    if rnd.random() < 0.1:
        old.append(rnd.choice([*old, rnd.randrange(len(SHOP.variants))]))
    new = [
        item_id(item) if rnd.random() < 0.1 else rnd.choice(variants_of(item, rnd.random() < 0.1)).item_id
        for item in old
    ]
    if rnd.random() < 0.1:
        new[-1:] = rnd.choice([[], ["0000000001"], [rnd.choice(SHOP.variants).item_id], new * 2])
    items = {"item_ids": [item_id(item) for item in old]}
    return [
        ("get_order_details", named),
        ("cancel_pending_order", {**named, "reason": rnd.choice(["no longer needed", "ordered by mistake"])}),
        ("modify_pending_order_address", {**named, **address}),
        ("modify_pending_order_payment", {**named, **methods}),
        ("modify_pending_order_payment", {**named, **methods}),
        ("modify_pending_order_items", {**named, **items, "new_item_ids": new, **methods}),
        ("exchange_delivered_order_items", {**named, **items, "new_item_ids": new, **methods}),
        ("return_delivered_order_items", {**named, **items, **methods}),
    ]


def variants_of(item, any_of_them):
    variants = SHOP.products[SHOP.variants[item].product].variants
    return [each for each in variants if any_of_them or each.available]


def random_call(rnd, version):
    schema = load_schema("retail", version)
    share = rnd.random()
    if share < 0.1:
        made = sample_call(schema, rnd.randrange)
        return made["name"], made["arguments"]
    name, arguments = plausible_call(rnd, version)
    if share < 0.2:
        made = mutate_call(schema, {"name": name, "arguments": arguments}, rnd.randrange)
        return made.get("name"), made.get("arguments")
    return name, arguments


@functools.cache
def result_validators(version):
    tools = load_schema("retail", version).tools
    return {name: jsonschema_rs.Draft202012Validator(tool.result) for name, tool in tools.items()}


def check_money(database):
    """Payments less refunds are what the order costs, and gift cards hold what they held less payments."""
    spent = Counter()
    for (table, _), row in database.changed.items():
        if table == "orders":
            assert paid(row) == (0 if row.status == CANCELLED else cost(row))
            start = BASE.order(row.customer, row.number)
            for place in range(start.transactions, row.transactions):
                sign = 1 if row.transaction_kind[place] == PAYMENT else -1
                spent[row.customer, row.transaction_method[place]] += sign * row.transaction_amount[place]
                assert row.transaction_amount[place] > 0
    for (table, _), row in database.changed.items():
        if table == "customers":
            for method, kind in enumerate(row.method_kind[: row.methods]):
                gift = spent.pop((row.index, method), 0) if kind == GIFT_CARD else 0
                assert row.balance[method] == BASE.customer(row.index).balance[method] - gift
                assert row.balance[method] >= row.held[method] >= 0
    assert not [
        spend
        for (who, method), spend in spent.items()
        if BASE.customer(who).method_kind[method] == 1 and spend
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_laws_hold_on_random_walks(version):
    effects = {name: tool.effect for name, tool in load_schema("retail", version).tools.items()}
    seen = Counter()
    for seed in range(14):
        rnd, database = generator(seed), Database(BASE)
        digest_before = state_digest(database)
        for _ in range(250):
            name, arguments = random_call(rnd, version)
            if name == "respond" or not isinstance(name, str):
                continue
            before = database.snapshot()
            result = retail_toolkit(version).call(database, ToolCall(name, arguments))

            seen[result.code] += 1
            value = json.loads(result.content)
            if result.code is None:
                assert result_validators(version)[name].is_valid(value), (name, value)
            if result.code or effects[name] != "write":
                assert database.changed == before
                assert state_digest(database) == digest_before
            digest_before = state_digest(database) if effects.get(name) == "write" else digest_before
            assert result.code is None or value["error"]["code"] == result.code
            check_money(database)

    assert sum(seen.values()) > 3000
    assert seen.keys() <= {None, *CODES, *MISTAKES}
    assert CODES - seen.keys() <= {"too_many_payment_changes"}
    assert seen[None] > 1000


@pytest.mark.parametrize("seed", range(3))
def test_every_version_changes_the_same(seed):
    rnd, databases = generator(seed), {version: Database(BASE) for version in VERSIONS}
    for _ in range(200):
        name, arguments = plausible_call(rnd, "1.0.0")
        renamed = {"postal_code" if key == "zip" else key: value for key, value in arguments.items()}
        results = {
            version: call(database, name, version, **(renamed if version == "2.0.0" else arguments))
            for version, database in databases.items()
        }
        texts = {result.content.replace('"postal_code":', '"zip":') for result in results.values()}
        assert len(texts) == 1

    assert len({state_digest(database) for database in databases.values()}) == 1


def test_no_walk_changes_the_base_data():
    base = RetailBase(500, 0)
    for seed in range(3):
        rnd, database = generator(seed), Database(base)
        for _ in range(300):
            name, arguments = plausible_call(rnd, "1.0.0")
            call(database, name, "1.0.0", **arguments)

    fresh = RetailBase(500, 0)
    assert [*base.tables["orders"].values()] == [*fresh.tables["orders"].values()]
    assert [*base.tables["customers"].values()] == [*fresh.tables["customers"].values()]
    assert base.tables["addresses"] == {}


_SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:]
from test_retail_tools import BASE, Database, call, generator, plausible_call, state_digest
from tool_envs.canonical import digest
rnd, database = generator(5), Database(BASE)
texts = [call(database, name, "2.0.0", **arguments).content
         for name, arguments in (plausible_call(rnd, "2.0.0") for _ in range(300))]
print(digest(texts), state_digest(database))
"""


def test_every_process_answers_the_same():
    assert len(outputs(_SCRIPT, *map(str, Path(__file__).parents[:2]))) == 1


# --- The order of independent writes


def independent_writes():
    """One write for each of some orders and users."""
    rnd, writes = generator(8), []
    for order in itertools.islice(orders_where(lambda order, _: order.status in (PENDING, DELIVERED)), 12):
        order_id, methods = ids(order)
        items = {"item_ids": [item_id(order.items[0])], "payment_method_id": methods[0]}
        new = {"new_item_ids": replacements(order.items[0])[:1]}
        address = {**ADDRESS, "zip": f"1000{rnd.randrange(3)}"}
        if order.status == PENDING:
            writes.append(("modify_pending_order_address", {"order_id": order_id, **address}))
        elif order.number % 2:
            writes.append(("return_delivered_order_items", {"order_id": order_id, **items}))
        else:
            writes.append(("exchange_delivered_order_items", {"order_id": order_id, **items, **new}))
        writes.append(("modify_user_address", {"user_id": BASE.user_id(order.customer), **address}))
    return list(
        {
            orjson.dumps([name, args.get("user_id", args.get("order_id"))]): (name, args)
            for name, args in writes
        }.values()
    )


@given(st.permutations(independent_writes()))
def test_the_order_of_independent_writes_makes_no_difference(writes):
    first, second = Database(BASE), Database(BASE)
    for name, arguments in independent_writes():
        call(first, name, **arguments)
    for name, arguments in writes:
        call(second, name, **arguments)

    assert changed_records(first) == changed_records(second) != {}
    assert state_digest(first) == state_digest(second)


@pytest.mark.parametrize("tool", ["modify_pending_order_items", "exchange_delivered_order_items"])
def test_the_order_of_pairs_makes_no_difference(tool):
    status = PENDING if tool.startswith("modify") else DELIVERED
    order = order_where(
        lambda order, who: order.status == status and order.item_count > 2 and not who.method_kind[0]
    )
    order_id, methods = ids(order)
    pairs = [(item_id(item), replacements(item)[0]) for item in order.items[:3]]
    digests = set()
    for shuffled in itertools.permutations(pairs):
        database = Database(BASE)
        old, new = zip(*shuffled, strict=True)
        arguments = {"item_ids": list(old), "new_item_ids": list(new), "payment_method_id": methods[0]}
        answer(database, tool, order_id=order_id, **arguments)
        digests.add(state_digest(database))

    assert len(digests) == 1


def test_a_write_that_is_taken_back_leaves_no_difference(database):
    order = order_where(lambda order, who: order.status == PENDING and order.address == who.address)
    order_id, _ = ids(order)
    home = BASE.address(order.address)._asdict()

    answer(database, "modify_pending_order_address", order_id=order_id, **ADDRESS, zip="12345")
    assert changed_records(database)
    answer(database, "modify_pending_order_address", order_id=order_id, **home)

    assert changed_records(database) == {}
    assert state_digest(database) == state_digest(Database(BASE))
    assert order_row(database, order.customer, order.number).address == order.address


# --- Looking up


def test_a_user_is_found_by_name_and_the_zip_code_of_now(database):
    user_id, (first, last) = BASE.user_id(5), BASE.name(5)
    old = BASE.address(BASE.home_code(5)).zip
    by_name = {"first_name": first.upper(), "last_name": last.lower()}
    answer(database, "modify_user_address", user_id=user_id, **ADDRESS, zip="89501")

    assert answer(database, "find_user_id_by_name_zip", **by_name, zip="89501") == {"user_id": user_id}
    assert call(database, "find_user_id_by_name_zip", **by_name, zip=old).code == "user_not_found"
    assert answer(database, "find_user_id_by_email", email=BASE.email(5).upper()) == {"user_id": user_id}


def test_of_two_users_of_one_name_and_zip_code_the_first_is_found(database):
    names = Counter(BASE.name(customer) for customer in range(500))
    twins = next(name for name, count in names.items() if count > 1)
    one, two = [customer for customer in range(500) if BASE.name(customer) == twins][:2]
    for customer in (two, one):
        answer(database, "modify_user_address", user_id=BASE.user_id(customer), **ADDRESS, zip="89501")

    found = answer(database, "find_user_id_by_name_zip", first_name=twins[0], last_name=twins[1], zip="89501")

    assert found == {"user_id": BASE.user_id(one)}


def test_an_item_is_shown_with_its_product(database):
    variant = SHOP.variants[7]
    shown = answer(database, "get_item_details", item_id=variant.item_id)
    product = answer(database, "get_product_details", product_id=shown["product_id"])

    assert product["variants"][variant.item_id].items() <= shown.items()
    assert shown["price"] == variant.price / 100
    assert call(database, "get_item_details", item_id=shown["product_id"]).code == "item_not_found"
    assert call(database, "get_item_details", "1.0.0", item_id=variant.item_id).code == "unknown_tool"
    assert call(database, "get_product_details", product_id=variant.item_id).code == "product_not_found"


def test_a_version_that_the_tools_do_not_speak_is_refused():
    for version in ("3.0.0", None, []):
        with pytest.raises(UnknownNameError, match="version of the retail schema"):
            retail_toolkit(version)


# --- Writes


def pending_with_gift_card(order, customer):
    """A pending order on something else, and a gift card that can pay for it."""
    kinds = customer.method_kind[: customer.methods]
    return (
        order.status == PENDING
        and GIFT_CARD in kinds
        and kinds[order.transaction_method[0]] != GIFT_CARD
        and customer.balance[kinds.index(GIFT_CARD)] >= cost(order)
    )


def balances(database, order):
    user = answer(database, "get_user_details", user_id=BASE.user_id(order.customer))
    return [method.get("balance") for method in user["payment_methods"].values()]


def history(database, order):
    shown = answer(database, "get_order_details", order_id=ids(order)[0])
    return [tuple(entry.values()) for entry in shown["payment_history"]]


def test_a_cancelled_order_is_refunded_once_after_changes_of_payment(database):
    order = order_where(pending_with_gift_card)
    order_id, methods = ids(order)
    card = BASE.customer(order.customer).method_kind.index(GIFT_CARD)
    original, amount = order.transaction_method[0], cost(order) / 100
    start = balances(database, order)

    answer(database, "modify_pending_order_payment", order_id=order_id, payment_method_id=methods[card])
    assert balances(database, order)[card] == pytest.approx(start[card] - amount)
    shown = answer(database, "cancel_pending_order", order_id=order_id, reason="no longer needed")

    assert (shown["status"], shown["cancel_reason"]) == ("cancelled", "no longer needed")
    assert balances(database, order) == start
    assert history(database, order) == [
        ("payment", amount, methods[original]),
        ("payment", amount, methods[card]),
        ("refund", amount, methods[original]),
        ("refund", amount, methods[card]),
    ]
    assert (
        call(database, "cancel_pending_order", order_id=order_id, reason="no longer needed").code
        == "order_not_pending"
    )


def test_payment_can_be_changed_until_there_is_no_more_room(database):
    order = order_where(lambda order, who: order.status == PENDING and who.method_kind[:2] == [0, 2])
    order_id, methods = ids(order)
    codes = []
    for change in range(1, 6):
        method = methods[(order.transaction_method[0] + change) % 2]
        codes.append(
            call(database, "modify_pending_order_payment", order_id=order_id, payment_method_id=method).code
        )
    row = order_row(database, order.customer, order.number)

    assert codes[:3] == [None] * 3
    assert codes[3:] == ["too_many_payment_changes", "same_payment_method"]
    answer(database, "cancel_pending_order", order_id=order_id, reason="ordered by mistake")
    assert (
        order_row(database, order.customer, order.number).transactions
        == row.transactions + 1
        == MAX_TRANSACTIONS
    )


def test_modified_items_are_paid_for_and_cannot_be_modified_again(database):
    order = order_where(
        lambda order, who: order.status == PENDING and order.item_count > 1 and who.method_kind[0] == 0
    )
    order_id, methods = ids(order)
    new = replacements(order.items[1])[-1]
    arguments = {"order_id": order_id, "item_ids": [item_id(order.items[1])], "payment_method_id": methods[0]}

    shown = answer(database, "modify_pending_order_items", **arguments, new_item_ids=[new])

    assert shown["status"] == "pending (item modified)"
    assert [item["item_id"] for item in shown["items"]][:2] == [item_id(order.items[0]), new]
    row = order_row(database, order.customer, order.number)
    assert paid(row) == cost(row) != cost(order)
    refused = {
        "modify_pending_order_items": {**arguments, "item_ids": [new], "new_item_ids": arguments["item_ids"]},
        "modify_pending_order_payment": {"order_id": order_id, "payment_method_id": methods[0]},
        "modify_pending_order_address": {"order_id": order_id, **ADDRESS, "zip": "12345"},
        "cancel_pending_order": {"order_id": order_id, "reason": "no longer needed"},
    }
    assert {call(database, name, **args).code for name, args in refused.items()} == {"items_already_modified"}


def test_a_chain_of_pairs_replaces_what_stood_there_before(database):
    """[A, B] -> [B, C] makes B and C of A and B, not C and B."""
    order, a, b, c = next(
        (order, a, b, item)
        for order in orders_where(lambda order, who: order.status == PENDING and who.method_kind[0] != 1)
        for a, b in itertools.permutations(order.items[: order.item_count], 2)
        if b in map(SHOP.variant_codes.get, replacements(a))
        for item in map(SHOP.variant_codes.get, replacements(b))
        if item not in (a, b)
    )
    order_id, methods = ids(order)
    wanted = [{a: b, b: c}.get(item, item) for item in order.items[: order.item_count]]
    old, new = [item_id(a), item_id(b)], [item_id(b), item_id(c)]

    shown = answer(
        database,
        "modify_pending_order_items",
        order_id=order_id,
        item_ids=old,
        new_item_ids=new,
        payment_method_id=methods[0],
    )

    assert [item["item_id"] for item in shown["items"]] == [item_id(item) for item in wanted]


def extra_cost(order):
    """What the dearest replacement of the first item costs more, in cents."""
    dearest = SHOP.variants[SHOP.variant_codes[replacements(order.items[0])[-1]]]
    return dearest.price - SHOP.variants[order.items[0]].price


def exchange(database, order):
    """Exchange the first item for the dearest replacement, on the first payment method."""
    return call(
        database,
        "exchange_delivered_order_items",
        order_id=ids(order)[0],
        item_ids=[item_id(order.items[0])],
        new_item_ids=replacements(order.items[0])[-1:],
        payment_method_id=ids(order)[1][0],
    )


def two_deliveries():
    """Two delivered orders of a customer with a gift card, whose first items could be dearer ones."""
    found = orders_where(
        lambda order, who: (
            order.status == DELIVERED and who.method_kind[0] == GIFT_CARD and extra_cost(order) > 0
        )
    )
    by_customer = itertools.groupby(found, key=lambda order: order.customer)
    return next(orders for _, group in by_customer if len(orders := list(group)[:2]) == 2)


def put_on_gift_card(database, order, cents):
    customer = database.get("customers", BASE.user_id(order.customer)).copy()
    customer.balance[0] = cents
    database.put("customers", BASE.user_id(order.customer), customer)


def test_a_requested_exchange_books_nothing(database):
    first, _ = two_deliveries()
    put_on_gift_card(database, first, extra_cost(first))
    start = balances(database, first)

    shown = json.loads(exchange(database, first).content)

    assert shown["status"] == "exchange requested"
    assert shown["exchange_price_difference"] == extra_cost(first) / 100
    assert (balances(database, first), len(shown["payment_history"])) == (start, 1)
    assert exchange(database, first).code == "already_requested"


@pytest.mark.parametrize(("missing", "code"), [(0, None), (1, "insufficient_gift_card_balance")])
def test_what_exchanges_will_take_from_a_gift_card_is_not_spent_twice(database, missing, code):
    first, second = two_deliveries()
    put_on_gift_card(database, first, extra_cost(first) + extra_cost(second) - missing)

    assert exchange(database, first).code is None
    assert exchange(database, second).code == code


def two_for_one():
    """Delivered orders with two variants of a product, and a third that can take the place of both."""
    for order in orders_where(lambda order, who: order.status == DELIVERED and who.method_kind[0] != 1):
        for pair in itertools.combinations(order.items[: order.item_count], 2):
            shared = [each for each in replacements(pair[0]) if each in replacements(pair[1])]
            if SHOP.variants[pair[0]].product == SHOP.variants[pair[1]].product and shared:
                yield order, [item_id(item) for item in pair], shared[0]


def test_what_is_exchanged_is_named_item_by_item_in_sorted_order():
    for order, old, new in two_for_one():
        arguments = {"order_id": ids(order)[0], "payment_method_id": ids(order)[1][0]}
        items = {"item_ids": old, "new_item_ids": [new, new]}
        shown = answer(Database(BASE), "exchange_delivered_order_items", **arguments, **items)

        assert (shown["exchange_items"], shown["exchange_new_items"]) == (sorted(old), [new, new])


def test_what_is_returned_is_named_in_sorted_order():
    for order in itertools.islice(orders_where(lambda order, _: order.status == DELIVERED), 50):
        order_id, methods = ids(order)
        items = [item_id(item) for item in order.items[: order.item_count]]
        method = {"payment_method_id": methods[order.transaction_method[0]]}
        shown = answer(
            Database(BASE), "return_delivered_order_items", order_id=order_id, item_ids=items, **method
        )

        assert shown["return_items"] == sorted(items)
        assert shown["return_payment_method_id"] == method["payment_method_id"]


def test_what_was_sent_has_a_parcel_with_all_items(database):
    for place in itertools.islice(BASE.order_places(), 100):
        order = BASE.order(*place)
        shown = answer(database, "get_order_details", order_id=ids(order)[0])
        parcels = [parcel["item_ids"] for parcel in shown["fulfillments"]]
        items = [item["item_id"] for item in shown["items"]]

        assert parcels == ([items] if order.status in (PROCESSED, DELIVERED) else [])


def test_a_return_goes_to_the_original_method_or_a_gift_card():
    def paid_by_card_of_three(order, who):
        return (
            order.status == DELIVERED
            and sorted(who.method_kind) == [0, 1, 2]
            and who.methods == 3
            and who.method_kind[order.transaction_method[0]] == 0
        )

    order = order_where(paid_by_card_of_three)
    order_id, methods = ids(order)
    kinds = BASE.customer(order.customer).method_kind
    arguments = {"order_id": order_id, "item_ids": [item_id(order.items[0])]}
    codes = {}
    for kind in (0, 1, 2):
        method = methods[kinds.index(kind)]
        fresh = Database(BASE)
        codes[kind] = call(fresh, "return_delivered_order_items", **arguments, payment_method_id=method).code

    assert codes == {0: None, 1: None, 2: "payment_method_not_allowed"}


def scene():
    """Arguments of calls that would be right, each on an order that one kind of refusal needs."""
    pending = order_where(lambda order, who: order.status == PENDING and who.method_kind[:2] == [0, 2])
    delivered = order_where(lambda order, who: order.status == DELIVERED and who.method_kind[0] == 0)
    item, (order_id, methods), (back_id, back_methods) = pending.items[0], ids(pending), ids(delivered)
    return {
        "change": {
            "order_id": order_id,
            "item_ids": [item_id(item)],
            "new_item_ids": replacements(item)[:1],
            "payment_method_id": methods[0],
        },
        "pay": {"order_id": order_id, "payment_method_id": methods[pending.transaction_method[0]]},
        "back": {
            "order_id": back_id,
            "item_ids": [item_id(delivered.items[0])],
            "payment_method_id": back_methods[0],
        },
        "out_of_stock": out_of_stock(),
        "too_dear": too_dear(),
        "on_its_way": ids(order_where(lambda order, _: order.status == PROCESSED))[0],
    }


def variants_beside(item):
    """The other variants of the product."""
    return [v for v in SHOP.products[SHOP.variants[item].product].variants if v.code != item]


def out_of_stock():
    """A change of an item to a variant that is not available."""
    order = order_where(
        lambda order, _: (
            order.status == PENDING and not all(v.available for v in variants_beside(order.items[0]))
        )
    )
    order_id, methods = ids(order)
    gone = next(v.item_id for v in variants_beside(order.items[0]) if not v.available)
    return {
        "order_id": order_id,
        "item_ids": [item_id(order.items[0])],
        "new_item_ids": [gone],
        "payment_method_id": methods[0],
    }


def too_dear():
    """A payment of an order by a gift card that has too little."""
    order = order_where(
        lambda order, who: (
            order.status == PENDING
            and GIFT_CARD in who.method_kind[: who.methods]
            and who.method_kind[order.transaction_method[0]] != GIFT_CARD
            and max(who.balance) < cost(order)
        )
    )
    order_id, methods = ids(order)
    card = methods[BASE.customer(order.customer).method_kind.index(GIFT_CARD)]
    return {"order_id": order_id, "payment_method_id": card}


RIGHT = scene()
CHANGE, PAY, BACK = RIGHT["change"], RIGHT["pay"], RIGHT["back"]
OLD, NEW = CHANGE["item_ids"], CHANGE["new_item_ids"]
OTHER_PRODUCT = next(
    v.item_id for p in SHOP.products for v in p.variants if not {v.item_id for v in p.variants} & {*OLD, *NEW}
)
HOME = {**ADDRESS, "zip": "12345"}
NO_CARD = {"payment_method_id": "gift_card_0000000"}
REFUSALS = [
    ("order_not_found", "get_order_details", {"order_id": "#W0000000"}),
    ("user_not_found", "modify_user_address", {"user_id": "jane_roe_1234", **HOME}),
    (
        "order_not_pending",
        "cancel_pending_order",
        {"order_id": RIGHT["on_its_way"], "reason": "no longer needed"},
    ),
    ("order_not_pending", "modify_pending_order_address", {"order_id": BACK["order_id"], **HOME}),
    ("order_not_delivered", "return_delivered_order_items", {k: CHANGE[k] for k in BACK}),
    ("order_not_delivered", "exchange_delivered_order_items", CHANGE),
    ("item_not_in_order", "modify_pending_order_items", {**CHANGE, "item_ids": NEW}),
    (
        "item_not_in_order",
        "modify_pending_order_items",
        {**CHANGE, "item_ids": OLD * 2, "new_item_ids": NEW * 2},
    ),
    ("item_not_in_order", "return_delivered_order_items", {**BACK, "item_ids": BACK["item_ids"] * 10}),
    ("counts_differ", "modify_pending_order_items", {**CHANGE, "new_item_ids": NEW * 2}),
    ("item_not_found", "modify_pending_order_items", {**CHANGE, "new_item_ids": ["0000000000"]}),
    ("not_same_product", "modify_pending_order_items", {**CHANGE, "new_item_ids": [OTHER_PRODUCT]}),
    ("same_item", "modify_pending_order_items", {**CHANGE, "new_item_ids": OLD}),
    ("new_item_not_available", "modify_pending_order_items", RIGHT["out_of_stock"]),
    (
        "payment_method_not_found",
        "modify_pending_order_items",
        {**CHANGE, "payment_method_id": "paypal_0000000"},
    ),
    ("payment_method_not_found", "modify_pending_order_payment", PAY | NO_CARD),
    ("payment_method_not_found", "return_delivered_order_items", BACK | NO_CARD),
    ("same_payment_method", "modify_pending_order_payment", PAY),
    ("insufficient_gift_card_balance", "modify_pending_order_payment", RIGHT["too_dear"]),
    ("calculation_failed", "calculate", {"expression": "9**9**9"}),
]
"""Calls that are refused, with the code: every code of a write but those of the tests above."""


@pytest.mark.parametrize(("code", "name", "arguments"), REFUSALS)
def test_a_refusal_has_its_code_and_changes_nothing(database, code, name, arguments):
    assert call(database, name, **arguments).code == code
    assert not database.changed


def test_every_reason_has_a_sentence():
    assert all(no.refusal.message.endswith(".") and no > 0 for no in No)
    assert len({no.refusal.message for no in No}) == len(No)


def test_equal_prices_book_nothing():
    """A modification without a difference leaves one payment, whatever method was named."""
    base = RetailBase(20, 0)
    order = next(o for place in base.order_places() if (o := base.order(*place)).status == PENDING)
    old = order.items[0]
    new = base.catalog.variant_codes[replacements(old)[0]]
    prices = base.catalog.rows.price
    same = [prices[old] if code == new else price for code, price in enumerate(prices)]
    changed, customer = order.copy(), base.customer(order.customer).copy()
    apply_modify_items(changed, customer, base.catalog.rows._replace(price=same), [old], [new], 1, 0)

    assert (changed.status, changed.transactions) == (ITEM_MODIFIED, 1)
    assert customer == base.customer(order.customer)


# --- The calculator


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2+2", 4.0),
        (" 1819.92 - (300.50 + 0.1*3) ", 1519.12),
        ("1/3", 0.33),
        ("2.675", 2.68),
        ("-2.675", -2.68),
        ("0.1+0.2", 0.3),
        ("-(-5) * +.5", 2.5),
        ("10/4/5", 0.5),
        ("0 - 0.001", 0.0),
        ("1.005 * 100", 100.5),
        ("99999999999.99", 99999999999.99),
        ("-" * 99 + "1", -1.0),
        ("(" * 60 + "7" + ")" * 60, 7.0),
    ],
)
def test_the_value_of_an_expression_is_exact(expression, value):
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "", " ", "()", "1 +", "1 2", "(1", "1)", "2(3)", "1.2.3", "012", "1/0", "1/(2-2)", "2**3", "7//2",
        "...", "9**9**9", "1 if 1 else 2", "__import__('os')", "x", "True", "'1'", "1j", "[1]", "1,2", "1<2",
        "~1", "1" * 1001, "1" * 20, "9" * 400 + ".", "-" * 500 + "1", "(" * 300 + "1" + ")" * 300, "1\x00",
        "*".join(["9" * 9] * 90), "1/" * 150 + "0.3" * 2,
    ],
)  # fmt: skip
def test_what_is_no_arithmetic_or_too_large_is_refused_at_once(expression):
    def refused():
        with pytest.raises(CalculationError):
            calculate(expression)

    assert effort(refused) < 10


@given(st.text("0123456789+-*/(). ", max_size=40))
def test_any_expression_has_a_value_or_is_refused(expression):
    try:
        value = calculate(expression)
    except CalculationError:
        return
    assert value == round(value, 2)


# --- Speed


def customer_service(customer):
    """Calls about one customer as an agent makes them: look everything up, then a write for each order."""
    yield "find_user_id_by_email", {"email": BASE.email(customer)}
    yield "get_user_details", {"user_id": BASE.user_id(customer)}
    for number in range(BASE.customer(customer).orders):
        order = BASE.order(customer, number)
        order_id, methods = ids(order)
        items = {"order_id": order_id, "item_ids": [item_id(order.items[0])], "payment_method_id": methods[0]}
        new = {"new_item_ids": replacements(order.items[0])[:1]}
        yield "get_order_details", {"order_id": order_id}
        if order.status in (PENDING, DELIVERED):
            product = SHOP.products[SHOP.variants[order.items[0]].product]
            yield "get_product_details", {"product_id": product.product_id}
        if order.status == PENDING and number % 2:
            yield "cancel_pending_order", {"order_id": order_id, "reason": "no longer needed"}
        elif order.status == PENDING:
            yield "modify_pending_order_items", {**items, **new}
        elif order.status == DELIVERED:
            yield "exchange_delivered_order_items", {**items, **new}


def test_a_call_takes_a_few_times_as_long_as_its_parts_at_most():
    calls = map(customer_service, range(60))

    assert call_ratio(retail_toolkit("1.0.0"), BASE, calls) < MOST_OF_PARTS
