"""What is read from words and from answers of tools: laws over generated tasks."""

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retail_array_play import SWAPS, new_play, plays, plays_of

from tool_envs.generated import padded
from tool_envs.messages import Message
from tool_envs.people import Address
from tool_envs.retail.codes import customer_row, order_row
from tool_envs.retail.data import retail_base
from tool_envs.retail.desk import RETAIL_DESK
from tool_envs.retail.oracle import RetailClerk
from tool_envs.retail.rows import CREDIT_CARD, GIFT_CARD, MAX_ORDERS, MAX_TRANSACTIONS, PAYPAL
from tool_envs.retail.scene.reasons import (
    REASONS,
    is_wanted,
    method_at_hand,
    order_at_hand,
    reason_against,
)
from tool_envs.retail.scene.sight import (
    DEMANDS,
    FOR_SWAP,
    MAX_CHANGED,
    PRODUCTS,
    SLOTS,
    UNSHOWN,
    WISHES,
    nothing_said,
)
from tool_envs.retail.scene.words import Reader, order_code, shelves_of
from tool_envs.retail.tasks import retail_tasks
from tool_envs.retail.wishes import FAMILIES
from tool_envs.service.desk import goal_of
from tool_envs.service.progress import alternatives, follow
from tool_envs.simulators import AgendaUser
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.phrasing import sentence
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES
from tool_envs.simulators.user_voice import shared_pools

BASE = retail_base()
CATALOG = BASE.catalog
READER = Reader(CATALOG, BASE.ids)
SHELVES = shelves_of(CATALOG)

indexes = st.integers(0, 5000)
difficulties = st.integers(1, 5)
keys = st.integers(0, 2**64 - 1)


@st.composite
def wishes(draw):
    """A goal with one wish, as it may be brought up in the course of a task."""
    goal = goal_of(retail_tasks(BASE, "train", draw(difficulties))[draw(indexes)])
    wish = draw(st.sampled_from([each for wish in goal.wishes for each in alternatives(wish)]))
    return msgspec.structs.replace(goal, wishes=(wish,))


def message_of(turn):
    return Message(role="user", name="user", content=turn.text, acts=turn.acts)


def opening(goal, key):
    return READER.read(message_of(AgendaUser(RETAIL_PHRASES).reset(goal, key)), ())


def product_called(words):
    """The code of a product by what customers say ("the kettle")."""
    return next(each.code for each in CATALOG.products if f"the {each.name.lower()}" == words)


def filled(*codes):
    return [*codes, *[-1] * (MAX_CHANGED - len(codes))]


# --- Words


@given(wishes(), keys)
def test_the_opening_of_a_wish_says_which_order_and_which_things_are_meant(goal, key):
    said, words = opening(goal, key).said, goal.wishes[0].words

    order = words.get("order_id", "")
    assert said.orders == filled(*[order_code(BASE.ids, order[6:])] * order.startswith("order #"))
    sign = "the" + order.removeprefix("the order with the") if order.startswith("the order") else ""
    assert said.sign == (product_called(sign) if sign else -1)
    things = words["item"].split(" and ") if "item" in words else []
    assert said.things == filled(*map(product_called, things))


@given(wishes(), keys)
def test_the_opening_of_a_wish_says_its_kind_reason_and_payment_method(goal, key):
    said, wish = opening(goal, key).said, goal.wishes[0]

    kinds = {**{kind: code for code, kind in enumerate(WISHES)}, "items": FOR_SWAP, "exchange": FOR_SWAP}
    assert said.wish == kinds.get(wish.kind, -1)
    reasons = {"I no longer need it": 0, "I ordered it by mistake": 1}
    assert said.reason == (reasons.get(wish.words["reason"], 2) if "reason" in wish.words else -1)
    method = wish.words.get("payment_method", "")
    kind = {"my gift card": GIFT_CARD, "my paypal account": PAYPAL}.get(method, CREDIT_CARD)
    assert said.method_kind == (kind if method else -1)
    assert said.method_digits == (int(method[-4:]) if "ending in" in method else -1)


@given(wishes(), keys)
def test_an_address_is_read_as_a_whole_and_nothing_else_from_it(goal, key):
    words, wish = opening(goal, key), goal.wishes[0]

    assert words.said.address == ("address" in wish.words)
    for arguments in wish.accepted if "address" in wish.words else ():
        assert words.address == Address(*(arguments[part] for part in Address._fields))
    assert not words.texts
    assert words.said.told == 0


@given(wishes(), keys)
def test_a_question_is_told_by_its_words(goal, key):
    said, fact = opening(goal, key).said, goal.wishes[0].fact

    expected = -1
    if fact:
        about_product = goal.wishes[0].words.keys() == {"item"}
        expected = {"status": 1, "count": 3, "amount": 2 * about_product}[fact.type]
    assert said.question == expected


@given(wishes(), keys)
def test_demands_are_read(goal, key):
    demands = sum(1 << k for k, demand in enumerate(DEMANDS) if demand in goal.conditions)
    assert opening(goal, key).said.demands == demands


@pytest.mark.parametrize("demand", DEMANDS)
def test_each_way_to_demand_something_says_that_and_no_more(demand):
    for form in RETAIL_PHRASES.conditions[demand]:
        text = sentence(form.format(words="English" if demand == "language" else "600"))

        said = READER.read(Message(role="user", content=text), ()).said
        assert said == msgspec.structs.replace(nothing_said(), demands=1 << DEMANDS.index(demand))


@given(wishes(), keys, keys, st.sampled_from([(), ("terse",), ("talkative",)]))
def test_what_is_said_does_not_depend_on_how(goal, key, other, traits):
    assert opening(goal, key) == opening(msgspec.structs.replace(goal, traits=traits), other)


def test_small_talk_and_courtesies_say_nothing():
    pools = shared_pools()
    sentences = [text for name in ("plain", "short") for pool in pools[name].values() for text in pool]
    sentences += [text for pool in pools["talk"] for text in pool]

    for text in sentences:
        spoken = text.format(words="", noun="that", phrase="")
        assert READER.read(Message(role="user", content=spoken), range(PRODUCTS)).said == nothing_said()


def test_what_is_named_twice_is_named_once():
    text = "The desk lamp, please. I mean the desk lamp from the order with the desk lamp."

    said = READER.read(Message(role="user", content=text), ()).said
    lamp = product_called("the desk lamp")
    assert (said.things, said.sign) == (filled(lamp), lamp)


@given(wishes(), keys, st.sampled_from(SLOTS[:9]))
def test_an_answer_says_what_the_opening_said_of_that_slot(goal, key, slot):
    user = AgendaUser(RETAIL_PHRASES)
    first = READER.read(message_of(user.reset(goal, key)), ())
    answer = READER.read(
        message_of(user.respond(AgentVoice(RETAIL_PHRASES, key, 1).ask([slot]))), first.said.things
    )

    names = {
        "order_id": ("orders", "sign"),
        "item": ("things",),
        "new_item": ("wants", "same"),
        "payment_method": ("method_kind", "method_digits"),
        "reason": ("reason",),
        "address": ("address",),
    }
    expected = nothing_said()
    expected.moves = answer.said.moves
    known = slot in goal.knows or slot in goal.wishes[0].words
    of_themselves = slot in ("email", "name", "zip")
    held_back = "reluctant" in goal.traits and of_themselves
    if of_themselves and known and not held_back:
        expected.told = 1 << SLOTS.index(slot)
        assert answer.texts == {slot: goal.knows[slot]}
    elif known and not held_back:
        for name in names[slot]:
            setattr(expected, name, getattr(first.said, name))
    elif not held_back:
        expected.unknown = 1 << SLOTS.index(slot)
    assert answer.said == expected


# --- Where products stand


@settings(max_examples=60)
@given(plays)
def test_products_stay_where_they_came_up(play):
    before = []
    for at, _ in play:
        scene = at.sight.scene
        rows = scene.product_at[: scene.products]
        known = {code for code, shown in enumerate(scene.product) if shown != UNSHOWN}

        assert rows[: len(before)] == before
        assert sorted(rows) == sorted(known)
        assert known.issuperset(code for code in (*scene.things, scene.sign) if code >= 0)
        for place, is_shown in enumerate(scene.order_seen):
            items = at.sight.orders[place].items if is_shown else ()
            assert known.issuperset(SHELVES.variants.product[item] for item in items if item >= 0)
        before = rows


@settings(max_examples=30)
@given(plays)
def test_what_is_named_first_stands_first(play):
    for at, _ in itertools.islice(play, 1):
        things = [code for code in at.sight.scene.things if code >= 0]
        if at.sight.scene.sign < 0:
            assert at.sight.scene.product_at[: len(things)] == things


# --- What words mean on what was shown


def progress_of(play):
    return follow(RETAIL_DESK, goal_of(play.env.task), play.env.episode.history)


@settings(max_examples=150)
@given(plays_of(SWAPS))
def test_what_is_wanted_is_what_would_be_accepted(play):
    for at, _ in play:
        progress = progress_of(at)
        if "new_item" not in progress.wish.words or not progress.read.issuperset(progress.wish.evidence):
            continue
        assert wanted_at(at) == accepted_at(progress)


def wanted_at(play):
    """For each thing that is named, the variants in stock that the words want instead."""
    return [
        {each.item_id for each in variants_of(product) if each.available and is_meant(play, rank, each)}
        for rank, product in enumerate(play.sight.scene.things)
    ]


def variants_of(product):
    return CATALOG.products[product].variants if product >= 0 else ()


def is_meant(play, rank, variant):
    return is_wanted(play.sight, shelves_of(CATALOG), rank, variant.code)


def accepted_at(progress):
    """For each thing, the variants that the customer takes."""
    accepted = [each["new_item_ids"] for each in accepted_now(progress)]
    return [{ids[rank] for ids in accepted if rank < len(ids)} for rank in range(MAX_CHANGED)]


def accepted_now(progress):
    """The sets that the customer still takes, after what they corrected."""
    now, accepted = progress.corrections.get("new_item_ids"), progress.wish.accepted
    if not isinstance(now, list):  # in the words of the wish
        return accepted
    return [each for each in accepted if sorted(each["new_item_ids"]) == sorted(now)]


def test_a_variant_that_is_named_by_all_its_options_is_what_is_wanted_now():
    changed = 0
    for index in range(400):
        play = new_play(len(FAMILIES) * index + list(FAMILIES).index("items"), difficulty=2)
        goal = goal_of(play.env.task)
        if "changes_mind" not in goal.traits or len(goal.wishes[0].accepted) < 2:
            continue
        while play.sight.scene.variants[0] < 0:
            play.take(*play.oracle_choices())
        changed += 1
        progress = progress_of(play)
        assert wanted_at(play) == accepted_at(progress)
        assert len(accepted_now(progress)) < len(progress.wish.accepted)
    assert changed


@settings(max_examples=80)
@given(plays)
def test_the_order_and_the_method_at_hand_are_those_of_the_wish(play):
    for at, _ in play:
        progress = progress_of(at)
        known = progress.read.issuperset(progress.wish.evidence)
        for arguments in progress.wish.accepted if known and at.sight.scene.profile else ():
            place = order_at_hand(at.sight, shelves_of(CATALOG))
            assert "order_id" not in arguments or id_at(at, "order_ids", place) == arguments["order_id"]
            method = method_at_hand(at.sight)
            wanted = arguments.get("payment_method_id")
            assert wanted is None or id_at(at, "method_ids", method) == wanted


def id_at(play, ids, place):
    return getattr(play.scene.memory.profile, ids)[place] if place >= 0 else None


@settings(max_examples=80)
@given(plays)
def test_the_reason_for_a_no_is_that_of_the_oracle(play):
    for at, _ in play:
        clerk = RetailClerk(at.env.episode)
        looked_up = clerk.progress.read.issuperset(clerk.wish.evidence) and at.sight.scene.profile
        if not looked_up or at.over:
            continue
        reason = reason_against(at.sight, shelves_of(CATALOG))
        if clerk.wish.forbidden:
            assert REASONS[reason] == clerk.reason_against()
        elif not clerk.progress.written:
            assert reason == -1


# --- Rows


@settings(max_examples=60)
@given(plays)
def test_rows_are_those_of_the_database_as_far_as_they_were_shown(play):
    for at, _ in play:
        database, customer = at.env.episode.database, customer_of(at)
        for place in range(MAX_ORDERS):
            if at.sight.scene.order_seen[place]:
                assert shown(at.sight.orders[place]) == shown(order_row(database, customer, place))
        if at.sight.scene.profile and not at.sight.scene.stale:
            row = customer_row(database, customer)
            hidden = {"index": -1, "address": -1}
            assert at.sight.customer == msgspec.structs.replace(row, **hidden)


def customer_of(play):
    return BASE.find_user(play.scene.memory.user_id)


def shown(order):
    """An order but for what its JSON does not have: whose it is, and in which order items are asked for."""
    hidden = {"customer": -1, "number": -1, "address": -1}
    asked = {name: sorted(getattr(order, name)) for name in ("asked", "asked_new")}
    methods = padded(order.transaction_method[: order.transactions], MAX_TRANSACTIONS, -1)
    return msgspec.structs.replace(order, **hidden, **asked, transaction_method=methods)
