"""`RetailArray-v0`: the oracle plays it, random choices rarely do, and nothing is seen that was not shown."""

import copy
import dataclasses

import gymnasium
import msgspec
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from retail_array_play import VERSIONS, Play, new_play, plays, random_play

from tool_envs.env import ToolEnv
from tool_envs.retail.data import RetailBase, retail_base
from tool_envs.retail.domain import load_domain
from tool_envs.retail.rows import CANCEL_REASONS, MAX_ITEMS, MAX_METHODS, MAX_ORDERS, Variants
from tool_envs.retail.scene.sight import MAX_OPTIONS, MAX_VARIANTS, PRODUCTS
from tool_envs.retail.scene.tables import FIELDS, SHAPES
from tool_envs.reward import Verdict, grade
from tool_envs.task import TaskList

ID = "tool_envs/RetailArray-v0"
LEVELS = ("policy", "schema")


# --- The environment


@pytest.mark.parametrize("form", ["sequential", "multidiscrete"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("version", VERSIONS)
def test_gymnasiums_checker_accepts_it(form, level, version):
    check_env(gymnasium.make(ID, action_form=form, mask=level, schema_version=version).unwrapped)


def test_tables_have_room_for_whatever_the_store_has():
    base, layout = retail_base(), new_play(0, version="1.1.0").layout
    widths = {slot.name: slot.width for slot in layout.slots}

    assert widths["order_id"] == MAX_ORDERS
    assert widths["item_ids[0]"] == widths["item_ids[1]"] == MAX_ITEMS
    assert widths["new_item_ids[0]"] == widths["new_item_ids[1]"] == MAX_VARIANTS
    assert widths["payment_method_id"] == MAX_METHODS
    assert widths["product_id"] == PRODUCTS == len(base.catalog.products)
    assert widths["item_id"] == MAX_ORDERS * MAX_ITEMS
    assert max(len(product.variants) for product in base.catalog.products) <= MAX_VARIANTS
    assert max(len(variant.options) for variant in base.catalog.variants) <= MAX_OPTIONS
    assert next(slot.values for slot in layout.slots if slot.name == "reason") == CANCEL_REASONS
    assert all(len(FIELDS[name]) == shape[-1] for name, (shape, _) in SHAPES.items())


@settings(max_examples=40)
@given(plays)
def test_tables_have_their_shapes_and_ranges(play):
    for at, _ in play:
        tables = at.scene.tables()
        assert {name: (table.shape, table.dtype.name) for name, table in tables.items()} == SHAPES
        for table in tables.values():
            assert (table >= (-1 if table.dtype == np.float32 else 0)).all()
            assert (table <= 1).all()


@settings(max_examples=40)
@given(plays)
def test_a_scene_that_is_given_the_same_messages_is_the_same(play):
    given_before, start = [], 1
    for at, _ in play:
        action = at.actions[-1]
        given_before.append((action, at.env.episode.history[start:]))
        start = len(at.env.episode.history)
        again = at.new_scene()
        for earlier, messages in given_before:
            again.saw(earlier, messages)

        assert_same_sight(at.scene, again, at.layout)
        assert at.scene.describe() == again.describe()


def assert_same_sight(scene, other, layout):
    """Equal tables, equal masks of both levels."""
    tables, others = scene.tables(), other.tables()
    for name, table in tables.items():
        assert table.tobytes() == others[name].tobytes(), name
    for level in LEVELS:
        allowed = scene.allowed(level, -1, ())
        assert allowed.tolist() == other.allowed(level, -1, ()).tolist()
        for verb in np.flatnonzero(allowed).tolist():
            for mask, another in zip(scene.possible(level, verb), other.possible(level, verb), strict=True):
                assert mask.tolist() == another.tolist(), layout.verbs[verb].name


# --- The oracle


@pytest.mark.parametrize("difficulty", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_oracle_is_at_home_in_both_masks(difficulty, version):
    for index in range(200):
        play = new_play(index, difficulty, version)
        while not play.over:
            verb, chosen = play.oracle_choices()
            for level in LEVELS:
                assert play.path_is_allowed(level, verb, chosen), (play.env.task.id, level)
            play.take(verb, chosen)
        assert play.reward == 1.0, play.env.task.id


def test_random_choices_rarely_do():
    episodes = 2000
    earned = sum(last_reward(random_play(index, 1, index, split="train")) for index in range(episodes))

    assert 5e-4 <= earned / episodes <= 5e-2


def last_reward(play):
    return [at.reward for at, _ in play][-1]


# --- What was not shown is not seen


class OtherStore(RetailBase):
    """The same store, in which some orders, profiles and products are others.

    Args:
        orders: Places of orders that are others, for every customer.
        profile: Whether profiles are others, too.
        stock: Codes of products of which other variants are available.
        prices: Codes of products with other prices.
    """

    def __init__(self, orders=(), profile=False, stock=(), prices=()):
        self._other_orders, self._other_profile = orders, profile
        super().__init__()
        self.catalog = copy.copy(self.catalog)
        rows = self.catalog.rows
        price = [p + 100 * (code in prices) for code, p in zip(rows.product, rows.price, strict=True)]
        available = [a ^ (code in stock) for code, a in zip(rows.product, rows.available, strict=True)]
        self.catalog.rows = Variants(rows.product, price, available)
        self.catalog.variants = tuple(
            each._replace(price=price[each.code], available=bool(available[each.code]))
            for each in self.catalog.variants
        )
        self.catalog.products = tuple(
            each._replace(variants=tuple(self.catalog.variants[v.code] for v in each.variants))
            for each in self.catalog.products
        )

    def _make_order(self, place):
        order = super()._make_order(place)
        if place[1] in self._other_orders:
            order.status = (order.status + 1) % 3
            order.items = order.items[::-1]
            order.items = [*(item for item in order.items if item >= 0), *(i for i in order.items if i < 0)]
            order.transaction_amount[0] += 12_345
        return order

    def _make_customer(self, index):
        customer = super()._make_customer(index)
        if self._other_profile:
            customer.balance = [balance + 5_000 for balance in customer.balance]
            customer.orders = (customer.orders + 1) % (MAX_ORDERS + 1)
        return customer


stores = st.builds(
    OtherStore,
    orders=st.frozensets(st.integers(0, MAX_ORDERS - 1)),
    profile=st.booleans(),
    stock=st.frozensets(st.integers(0, PRODUCTS - 1)),
    prices=st.frozensets(st.integers(0, PRODUCTS - 1)),
)


def other_later_wishes(goal, other):
    return msgspec.structs.replace(goal, wishes=(goal.wishes[0], *other.wishes))


def nothing_later(goal, _):
    return msgspec.structs.replace(goal, wishes=goal.wishes[:1])


def forbidden_in_truth(goal, _):
    first = msgspec.structs.replace(goal.wishes[0], tool="", accepted=(), forbidden=True, otherwise=None)
    return msgspec.structs.replace(goal, wishes=(first, *goal.wishes[1:]))


def other_accepted_sets(goal, _):
    first = goal.wishes[0]
    accepted = tuple(
        {**each, "order_id": "#W0000000", "reason": CANCEL_REASONS[0]} for each in first.accepted
    )
    return msgspec.structs.replace(
        goal, wishes=(msgspec.structs.replace(first, accepted=accepted), *goal.wishes[1:])
    )


def other_manners(goal, _):
    silent = {"insists", "reluctant", "changes_mind"}
    kept = [trait for trait in goal.traits if trait not in silent]
    return msgspec.structs.replace(goal, traits=(*kept, *sorted(silent - set(goal.traits))))


def other_identity(goal, other):
    return msgspec.structs.replace(goal, knows=other.knows, lexicon=other.lexicon)


def the_same(goal, _):
    return goal


goals = st.sampled_from(
    [
        *(other_later_wishes, nothing_later, forbidden_in_truth, other_accepted_sets),
        *(other_manners, other_identity, the_same),
    ]
)


def world(store, task, version):
    """An episode of a task in a store, with no grade that could fail in another store."""
    domain = load_domain(version, "test", None, 500, 0)
    other = dataclasses.replace(
        domain, base=store, tasks=TaskList([task]), grade=lambda _: Verdict(grade({"played": True}), [])
    )
    return Play(ToolEnv(other, user="agenda"), 0)


def shared_steps(play, other, seed, rightly, level):
    """Plays the same in two worlds as long as they show the same; yields after each step."""
    rng = np.random.default_rng(seed)
    while not (play.over or other.over):
        action = play.some_action(rng, rightly, level)
        shown, shown_there = play.take(*action), other.take(*action)
        assert play.actions[-1] == other.actions[-1]
        if [message.content for message in shown] != [message.content for message in shown_there]:
            return
        yield play


@settings(max_examples=200)
@given(
    difficulty=st.integers(1, 5),
    index=st.integers(0, 2000),
    store=stores,
    change=goals,
    seed=st.integers(0, 2**32 - 1),
    rightly=st.sampled_from([0.0, 0.5, 0.9]),
    level=st.sampled_from(LEVELS),
    version=st.sampled_from(VERSIONS),
)
def test_what_was_not_shown_changes_no_byte(difficulty, index, store, change, seed, rightly, level, version):
    tasks = load_domain(version, "test", difficulty, 500, 0).tasks
    task, other = tasks[index], tasks[index + 1]
    play = world(retail_base(), task, version)
    twin = world(store, msgspec.structs.replace(task, goal=change(task.goal, other.goal)), version)

    assert_same_sight(play.scene, twin.scene, play.layout)
    for _ in shared_steps(play, twin, seed, rightly, level):
        assert_same_sight(play.scene, twin.scene, play.layout)


@pytest.mark.parametrize(
    ("hidden", "shown_by"),
    [
        ({"orders": range(MAX_ORDERS)}, "get_order_details"),
        ({"profile": True}, "get_user_details"),
        ({"stock": range(PRODUCTS)}, "get_product_details"),
    ],
)
def test_another_store_is_seen_as_soon_as_it_is_shown(hidden, shown_by):
    store = OtherStore(**hidden)
    tasks = load_domain("1.0.0", "test", 1, 500, 0).tasks
    task = next(each for each in map(tasks.__getitem__, range(50)) if each.family == "items")
    play, twin = world(retail_base(), task, "1.0.0"), world(store, task, "1.0.0")
    for _ in shared_steps(play, twin, seed=0, rightly=1.0, level="policy"):
        assert_same_sight(play.scene, twin.scene, play.layout)

    assert play.actions[-1]["name"] == shown_by
    tables, others = play.scene.tables(), twin.scene.tables()
    assert any(table.tobytes() != others[name].tobytes() for name, table in tables.items())
