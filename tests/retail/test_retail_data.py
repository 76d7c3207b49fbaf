"""The generated store: a pure function of its seed, reachable by every id, the same in every process."""

from collections import Counter
from typing import Annotated

import numpy as np
import pytest
from effort import effort_ratio
from hypothesis import given
from hypothesis import strategies as st
from processes import outputs

from tool_envs.database import Database
from tool_envs.errors import UsageError
from tool_envs.generated import Kept
from tool_envs.names import PLACES
from tool_envs.randomness import Shuffle
from tool_envs.retail.catalog import catalog
from tool_envs.retail.codes import base_of, renderer, state_digest
from tool_envs.retail.data import RetailBase, retail_base
from tool_envs.retail.ids import MAX_CUSTOMERS
from tool_envs.retail.rows import CANCELLED, DELIVERED, PENDING, PROCESSED, REFUND, Customer, Order
from tool_envs.rows import Row, Small, kernel

DIGEST = "15720762c13bab1ee62e7326eff724cbf3b5bd16ee9abcf54de221ba9de8b36c"


@pytest.fixture(scope="module")
def base():
    return retail_base()


def orders_of(base):
    return [base.order(*place) for place in base.order_places()]


# --- Who is who


@pytest.mark.parametrize(("customers", "seed"), [(1, 0), (500, 0), (500, 2**64 - 1), (3000, 7), (20_000, 1)])
def test_every_customer_and_order_is_found_by_their_ids(customers, seed):
    base = RetailBase(customers, seed)

    for customer in range(customers):
        first, last = base.name(customer)
        zip_code = base.address(base.home_code(customer)).zip
        assert base.find_user(base.user_id(customer)) == customer
        assert base.find_email(base.email(customer).upper()) == customer
        assert base.find_name_zip(first.upper(), last.lower(), zip_code) == customer
        for number in range(base.customer(customer).orders):
            assert base.find_order(base.order_id(customer, number)) == (customer, number)


def test_no_two_customers_share_an_id():
    base = RetailBase(100_000, 3)
    customers = range(base.customers)

    assert len({base.user_id(customer) for customer in customers}) == base.customers
    assert len({base.email(customer) for customer in customers}) == base.customers
    orders = {base.order_id(*place) for place in base.order_places()}
    assert len(orders) == len(base.tables["orders"])
    methods = [method for customer in customers for method in base.method_ids(customer)]
    assert len({method[-7:] for method in methods}) == len(methods)


@pytest.mark.parametrize(
    "key",
    ["", "_", "__", "jane_roe", "jane_roe_12345", "harold_rossi_\uff16543", "Harold_Rossi_6543", "x" * 500],
)
def test_texts_that_are_no_ids_find_nobody(base, key):
    assert base.tables["customers"].get(key) is None
    assert base.tables["orders"].get(key) is None
    assert key not in base.tables["orders"]
    assert base.find_email(key) is None
    assert base.find_name_zip(key, key, key) is None


@given(st.text(max_size=30))
def test_any_text_is_looked_up_without_an_error(text):
    base = retail_base()

    assert base.find_user(text) is None
    assert base.find_email(text) is None
    assert base.find_order("#W" + text) is None or text in base.order_id(*base.find_order("#W" + text))
    assert base.find_name_zip("Ava", "Lopez", text) in (None, *range(500))


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 2**64 - 1))
def test_a_shuffle_is_a_permutation(high, low, key):
    shuffle = Shuffle(high, low, key, 1)
    images = [shuffle.to(index) for index in range(min(shuffle.size, 500))]

    assert len(set(images)) == len(images)
    assert all(0 <= image < shuffle.size for image in images)
    assert [shuffle.back(image) for image in images] == list(range(len(images)))


# --- What there is


def test_there_are_50_product_types_with_variants_to_choose_from(base):
    products = base.catalog.products

    assert len(products) == len({product.name for product in products}) == 50
    for product in products:
        options = [tuple(variant.options.items()) for variant in product.variants]
        assert 6 <= len(product.variants) == len(set(options)) <= 14
        assert len({tuple(variant.options) for variant in product.variants}) == 1
        assert 2 <= len(product.variants[0].options) <= 4
        assert sum(variant.available for variant in product.variants) >= 3


def test_catalog_codes_and_ids_fit_together(base):
    shop = base.catalog

    assert [variant.code for variant in shop.variants] == list(range(len(shop.variants)))
    assert [shop.variant_codes[each.item_id] for each in shop.variants] == list(range(len(shop.variants)))
    assert not shop.variant_codes.keys() & shop.product_codes.keys()
    assert shop.rows.price == [variant.price for variant in shop.variants]
    assert [shop.products[variant.product].code for variant in shop.variants] == shop.rows.product
    assert 0.1 < 1 - sum(shop.rows.available) / len(shop.variants) < 0.35


def test_the_shares_are_those_of_a_store(base):
    orders = orders_of(base)
    statuses = Counter(order.status for order in orders)
    shares = {status: count / len(orders) for status, count in statuses.items()}

    assert 900 < len(orders) < 1100
    assert shares.keys() == {PENDING, PROCESSED, DELIVERED, CANCELLED}
    assert shares[PENDING] == pytest.approx(0.42, abs=0.05)
    assert shares[DELIVERED] == pytest.approx(0.38, abs=0.05)
    assert shares[PROCESSED] == pytest.approx(0.10, abs=0.03)
    assert {base.customer(customer).orders for customer in range(500)} == set(range(6))
    assert {base.customer(customer).methods for customer in range(500)} == {1, 2, 3}
    assert {order.item_count for order in orders} == {1, 2, 3, 4, 5}


def test_an_order_is_paid_with_what_it_costs(base):
    for order in orders_of(base):
        items = order.items[: order.item_count]
        cost = sum(base.catalog.variants[item].price for item in items)
        kinds = order.transaction_kind[: order.transactions]

        assert len(set(items)) == len(items)
        assert order.transaction_amount[: order.transactions] == [cost] * order.transactions
        assert (REFUND in kinds) == (order.status == CANCELLED) == (order.cancel_reason >= 0)
        assert order.transaction_method[0] < base.customer(order.customer).methods


def test_some_orders_have_two_items_of_a_product_and_some_go_elsewhere(base):
    products = [
        [base.catalog.variants[item].product for item in order.items[: order.item_count]]
        for order in orders_of(base)
    ]
    elsewhere = [order.address != base.home_code(order.customer) for order in orders_of(base)]

    assert 0.1 < sum(len(set(each)) < len(each) for each in products) / len(products) < 0.5
    assert sum(elsewhere) / len(elsewhere) == pytest.approx(0.2, abs=0.05)


def test_city_state_and_zip_code_fit_together(base):
    places = {place.zip_start: (place.city, place.state) for place in PLACES}

    for code in range(6 * 500):
        address = base.address(code)
        assert places[address.zip[:3]] == (address.city, address.state)


# --- The same everywhere


def test_the_data_is_the_one_that_was_released():
    """Another digest means other data: then `GENERATOR` and this digest change, and scores start anew."""
    assert RetailBase(500, 0).digest == DIGEST


def test_another_seed_or_size_is_other_data():
    bases = [RetailBase(500, 0), RetailBase(501, 0), RetailBase(500, 1)]

    assert len({base.digest for base in bases}) == 3


def test_a_larger_store_has_the_same_first_customers():
    small, large = RetailBase(500, 5), RetailBase(100_000, 5)

    assert orders_of(small) == [large.order(*place) for place in small.order_places()]
    for customer in range(500):
        assert small.customer(customer) == large.customer(customer)
        assert small.email(customer) == large.email(customer)


_SCRIPT = """
from tool_envs.canonical import digest
from tool_envs.database import Database
from tool_envs.retail.codes import renderer
from tool_envs.retail.data import RetailBase
base = RetailBase(60, 9)
look, database = renderer(base), Database(base)
users = [look.user_json(database, base.customer(customer)) for customer in range(60)]
orders = [look.order_json(database, base.order(*place)) for place in base.order_places()]
products = [look.product_text(product) for product in range(50)]
print(base.digest, digest([users, orders, products]))
"""


def test_every_process_makes_the_same_data():
    assert len(outputs(_SCRIPT)) == 1


@pytest.mark.parametrize("customers", [0, -1, MAX_CUSTOMERS + 1, 2.0, "500", True, None])
def test_a_size_that_cannot_be_is_refused(customers):
    with pytest.raises(UsageError, match="customers must be"):
        RetailBase(customers)


@pytest.mark.parametrize("seed", [-1, 2**64, 0.0, "0"])
def test_a_seed_that_cannot_be_is_refused(seed):
    with pytest.raises(UsageError, match="seed must be"):
        RetailBase(10, seed)


def test_one_base_serves_all_episodes():
    assert retail_base() is retail_base(500) is retail_base(seed=0, customers=500)
    assert catalog(0) is retail_base().catalog


# --- Tables


def test_the_tables_are_mappings_over_all_records(base):
    customers, orders = base.tables["customers"], base.tables["orders"]

    assert len(customers) == len(list(customers)) == 500
    assert len(orders) == len(list(orders)) == len(orders_of(base))
    assert [row.index for row in customers.values()] == list(range(500))
    assert all(key in orders and orders[key] is orders.get(key) for key in orders)
    assert 7 not in orders
    with pytest.raises(KeyError):
        orders["#W0000000"]


def test_a_database_reads_and_changes_over_the_tables(base):
    database = Database(base)
    key = base.user_id(3)
    changed = base.customer(3).copy()
    changed.address = base.home_code(4)
    database.put("customers", key, changed)

    assert dict(database.items("customers"))[key] == changed
    assert database.get("customers", base.user_id(4)) is base.customer(4)
    assert base_of(database) is base
    assert state_digest(database) != state_digest(Database(base))


def test_what_was_made_lately_is_kept_within_bounds(monkeypatch):
    monkeypatch.setattr("tool_envs.generated._KEPT", 10)
    made = []
    kept = Kept(lambda key: made.append(key) or key)

    assert [kept[key % 15] for key in range(40)] == [key % 15 for key in range(40)]
    assert len(kept) <= 10
    assert kept[39 % 15] == 9
    assert len(made) < 41


def test_records_are_the_same_after_they_were_dropped(monkeypatch):
    monkeypatch.setattr("tool_envs.generated._KEPT", 3)
    small = RetailBase(40, 2)
    texts = [
        renderer(small).order_text(Database(small), small.order(*place)) for place in small.order_places()
    ]
    full = RetailBase(40, 2)

    assert texts == [
        renderer(full).order_text(Database(full), full.order(*place)) for place in full.order_places()
    ]


def test_a_store_of_100_000_loads_and_reads_as_fast_as_one_of_500():
    def read(customers):
        base = RetailBase(customers, 11)
        database, look = Database(base), renderer(base)
        for step in range(200):
            customer = step * (customers // 200)
            user_id = base.user_id(base.find_email(base.email(customer)))
            look.user_text(database, database.get("customers", user_id))
            for order_id in base.order_ids(customer):
                look.order_text(database, database.get("orders", order_id))
        assert base.digest

    # Whatever went through all customers would take 200 times as long.
    assert effort_ratio(lambda: read(100_000), lambda: read(500), windows=1) < 3


# --- Rows


class Parcel(Row):
    """One field of each kind."""

    weight: int
    size: Small
    stops: Annotated[list[int], 3]
    codes: Annotated[list[int], 2, "int16"]


def test_a_copied_row_is_equal_and_its_own():
    row = Parcel(5, 1, [1, 2, 3], [4, 5])
    copy = row.copy()
    assert copy == row

    copy.stops[0] = 9
    copy.weight = 6

    assert (row.weight, row.stops) == (5, [1, 2, 3])
    assert copy != row


@pytest.mark.parametrize("row", [Parcel, Customer, Order])
def test_a_row_is_an_aligned_structured_type_of_numpy(row):
    dtype = np.dtype(row.numpy_dtype())

    assert dtype.names == row.__struct_fields__
    assert dtype.isalignedstruct


def test_the_fields_of_a_structured_type_have_the_declared_forms():
    dtype = np.dtype(Parcel.numpy_dtype())

    assert [str(dtype[name]) for name in dtype.names] == [
        "int32",
        "int16",
        "('<i4', (3,))",
        "('<i2', (2,))",
    ]


@pytest.mark.parametrize("hint", [str, list[int], Annotated[list[int], "int16"], Annotated[list[str], 3]])
def test_a_field_of_another_kind_is_refused(hint):
    row = type("Broken", (Row,), {"__annotations__": {"field": hint}, "__module__": __name__})

    with pytest.raises(UsageError, match=r"Broken.field: expected `int`"):
        row.numpy_dtype()


def test_a_kernel_is_the_function_itself():
    assert kernel(test_a_kernel_is_the_function_itself) is test_a_kernel_is_the_function_itself


def test_generated_rows_fit_their_declared_forms(base):
    for row in [*map(base.customer, range(500)), *orders_of(base)]:
        record = np.zeros(1, row.numpy_dtype())
        for name in row.__struct_fields__:
            record[name] = getattr(row, name)
            assert np.array_equal(record[name][0], getattr(row, name))
