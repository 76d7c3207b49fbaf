"""What can be chosen in the store's array view: laws over generated tasks, held against tools and rules."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retail_array_play import VERSIONS, plays, random_play

from tool_envs.array_view import completions, reachable, skip
from tool_envs.database import Database
from tool_envs.errors import Code
from tool_envs.generated import padded
from tool_envs.messages import ToolCall
from tool_envs.retail.data import retail_base
from tool_envs.retail.desk import RETAIL_DESK
from tool_envs.retail.rows import EXCHANGE_REQUESTED, GIFT_CARD, MAX_ITEMS, MAX_METHODS, PAYPAL
from tool_envs.retail.rules import RULES
from tool_envs.retail.scene.masks import ASK, PROPOSE, fits
from tool_envs.retail.scene.reasons import is_method_named
from tool_envs.retail.scene.seen import see_profile
from tool_envs.retail.scene.sight import (
    ITEMS,
    LISTED,
    MAX_CHANGED,
    NONE,
    OPEN,
    SEEN,
    SLOTS,
    WISHES,
    WRITE_TOOLS,
    may_be,
    nothing_shown,
    open_draft,
)
from tool_envs.retail.scene.words import shelves_of
from tool_envs.retail.tasks import retail_tasks
from tool_envs.retail.writes import guard_modify_items
from tool_envs.rules import broken_rules
from tool_envs.service.desk import goal_of
from tool_envs.service.progress import follow

LEVELS = ("policy", "schema")


def few(play, verb):
    """Whether all completions of a verb can be tried in no time."""
    return sum(slot.name.startswith("new_item_ids") for slot in play.layout.verbs[verb].slots) == 0


# --- Both levels


@settings(max_examples=60)
@given(plays)
def test_there_is_always_something_to_choose(play):
    for at, _ in play:
        for level in LEVELS:
            assert at.scene.allowed(level, -1, ()).any()


@settings(max_examples=40)
@given(plays)
def test_a_verb_is_allowed_when_an_action_of_it_is(play):
    for at, _ in play:
        for level in LEVELS:
            allowed = at.scene.allowed(level, -1, ())
            for verb, form in enumerate(at.layout.verbs):
                if form.slots and few(at, verb):
                    assert allowed[verb] == any(True for _ in completions(at.scene, level, verb, form))


@settings(max_examples=25)
@given(plays)
def test_what_is_possible_in_each_slot_is_what_some_allowed_action_has_there(play):
    for at, _ in itertools.islice(play, 5, None, 4):
        for level in LEVELS:
            for verb in np.flatnonzero(at.scene.allowed(level, -1, ())).tolist():
                if few(at, verb) or level == "policy":
                    found = reachable(at.scene, level, verb, at.layout.verbs[verb])
                    assert [mask.tolist() for mask in at.scene.possible(level, verb)] == [
                        mask.tolist() for mask in found
                    ]


@settings(max_examples=60)
@given(plays)
def test_what_is_of_use_can_be_expressed(play):
    for at, _ in play:
        useful, expressible = (at.scene.allowed(level, -1, ()) for level in LEVELS)
        assert (useful <= expressible).all()
        for verb in np.flatnonzero(useful).tolist():
            for fewer, more in zip(*(at.scene.possible(level, verb) for level in LEVELS), strict=True):
                assert (fewer <= more).all()


@settings(max_examples=60)
@given(st.integers(0, 5000), st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from(VERSIONS))
def test_whatever_can_be_expressed_is_a_valid_action(index, difficulty, seed, version):
    for at, _ in random_play(index, difficulty, seed, level="schema", version=version):
        assert at.env.episode.history[-1].code not in list(Code)


# --- Policy


@settings(max_examples=150)
@given(plays)
def test_nothing_of_use_is_refused_or_breaks_a_rule(play):
    for at, _ in play:
        code = at.env.episode.history[-1].code
        assert code is None or (code == "insufficient_gift_card_balance" and at.sight.scene.stale)
    assert broken_rules(RULES, RETAIL_DESK.renames.first_history(at.env.episode.history)) == []


@settings(max_examples=60)
@given(plays)
def test_just_what_the_customer_said_yes_to_can_be_done(play):
    for at, (verb, chosen) in play:
        form = at.layout.verbs[verb]
        agreed = form.kind == "propose" and at.sight.scene.yes
        for tool in WRITE_TOOLS if form.kind == "propose" else ():
            number = at.number(tool)
            possible = at.scene.allowed("policy", -1, ())[number]
            found = list(completions(at.scene, "policy", number, at.layout.verbs[number])) if possible else []
            assert found == ([chosen] if agreed and tool == form.tool else [])


@settings(max_examples=60)
@given(plays)
def test_a_wish_is_refused_just_when_it_was_looked_up_and_not_agreed(play):
    for at, _ in play:
        progress = follow(RETAIL_DESK, goal_of(at.env.task), at.env.episode.history)
        waits = at.sight.scene.yes or at.sight.scene.unreported >= 0
        known = at.sight.scene.profile and progress.read.issuperset(progress.wish.evidence)
        refuses = at.scene.allowed("policy", -1, ())[at.number("refuse")]
        assert not refuses or progress.read.issuperset(progress.wish.evidence)
        assert refuses == (known and not waits) or not at.sight.scene.profile


@settings(max_examples=60)
@given(plays)
def test_more_help_is_not_offered_to_somebody_who_waits(play):
    for at, _ in play:
        waits = at.sight.scene.yes or at.sight.scene.unreported >= 0
        assert at.scene.allowed("policy", -1, ())[at.number("more")] != waits


@settings(max_examples=60)
@given(plays)
def test_nobody_is_asked_what_they_told_or_do_not_know(play):
    for at, (verb, _) in play:
        slot = at.layout.verbs[verb].asked
        held_back = any(act["act"] == "hold_back" for act in at.env.episode.history[-1].acts)
        if slot not in ("", "other") and not held_back:
            assert not at.scene.allowed("policy", -1, ())[verb]


@functools.cache
def wishes_of_tasks():
    tasks = [retail_tasks(retail_base(), "train", difficulty) for difficulty in (1, 2, 3)]
    return [wish for each in tasks for index in range(200) for wish in goal_of(each[index]).wishes]


@pytest.mark.parametrize("kind", WISHES)
def test_what_is_asked_for_is_what_customers_with_such_a_wish_have_words_for(kind):
    kinds = {"swap": ("items", "exchange")}.get(kind, (kind,))
    spoken = {slot for wish in wishes_of_tasks() if wish.kind in kinds for slot in wish.words}
    sight = nothing_shown()
    sight.scene.found, sight.scene.wish = 1, WISHES.index(kind)

    verbs = {slot: ASK + k for k, slot in enumerate(SLOTS)}
    asked = {slot for slot, verb in verbs.items() if fits(sight, SHELVES, True, verb, open_draft())}
    assert spoken
    assert asked == spoken | {"other"}


@settings(max_examples=60)
@given(plays)
def test_a_write_is_reported_once(play):
    reports = writes = 0
    for at, (verb, _) in play:
        form = at.layout.verbs[verb]
        writes += form.kind == "call" and form.tool in WRITE_TOOLS
        reports += form.name == "report"
    assert reports <= writes


@settings(max_examples=60)
@given(plays)
def test_nothing_is_looked_up_twice(play):
    seen = set()
    for at, (verb, chosen) in play:
        form = at.layout.verbs[verb]
        is_read = form.kind == "call" and form.tool not in WRITE_TOOLS
        key = (form.name, chosen)
        assert not is_read or key not in seen
        seen.add(key)
        if form.tool in WRITE_TOOLS and form.kind == "call":
            seen.discard(("get_user_details", ()))


def proposals(play, rng, count):
    """Proposals with any choices whatever, and whether each choice can be expressed."""
    names = [verb.name for verb in play.layout.verbs if verb.kind == "propose"]
    for _ in range(count):
        number = play.number(rng.choice(names))
        verb, chosen = play.layout.verbs[number], skip(play.layout.verbs[number], ())
        while len(chosen) < len(verb.slots):
            slot = verb.slots[len(chosen)]
            # Mostly such as are there, so that the whole is worth a look.
            wide = 3 if slot.source in ("orders", "lines", "methods") else slot.choices
            choice = slot.width if slot.optional and rng.random() < 0.5 else int(rng.integers(wide))
            chosen = skip(verb, (*chosen, choice))
        yield number, chosen


def is_spoken_of(sight, chosen):
    """Whether no word speaks against the order of a call, and the words name its method and its reason."""
    scene = sight.scene
    order, method = chosen.get("order_id", 0), chosen.get("payment_method_id")
    is_meant = "order_id" not in chosen or scene.orders[0] < 0 or scene.order_code[order] in scene.orders
    is_named = method is None or is_method_named(sight, method)
    return is_meant and is_named and chosen.get("reason", scene.reason) == scene.reason


def would_be_refused(play, number, chosen):
    """Whether the tool refuses the proposed call now, asked on a copy of the database."""
    name = play.layout.verbs[number].tool
    call = ToolCall(name, play.scene.action(play.number(name), chosen)["arguments"])
    episode = play.env.episode
    database = Database(episode.database.base)
    database.restore(episode.database.snapshot())
    return play.env.domain.toolkit.call(database, call).code is not None


@settings(max_examples=60)
@given(plays, st.integers(0, 2**32 - 1))
def test_what_may_be_proposed_is_what_the_tool_would_do(play, seed):
    rng = np.random.default_rng(seed)
    for at, _ in play:
        scene = at.sight.scene
        if at.over or scene.stale or not scene.profile:
            continue
        for number, chosen in proposals(at, rng, 6):
            verb = at.layout.verbs[number]
            order = dict(zip([slot.name for slot in verb.slots], chosen, strict=True))
            seen = "order_id" not in order or scene.order_seen[order["order_id"]]
            theirs = is_spoken_of(at.sight, order)
            waits = scene.yes and verb.tool == WRITE_TOOLS[at.sight.proposed.tool]
            expressible = at.path_is_allowed("schema", number, chosen)
            expected = (
                expressible and seen and theirs and not waits and not would_be_refused(at, number, chosen)
            )
            assert at.path_is_allowed("policy", number, chosen) == expected


# --- Money

SHELVES = shelves_of(retail_base().catalog)


@st.composite
def wallets_and_orders(draw):
    """A pending order of which all products were seen, and a customer with little money."""
    sight, amounts = nothing_shown(), st.integers(0, 20_000)
    kinds = draw(st.lists(st.sampled_from([GIFT_CARD, GIFT_CARD, PAYPAL]), min_size=1, max_size=2))
    sight.scene.method_kind = draw(st.sampled_from([GIFT_CARD, PAYPAL, kinds[0], kinds[-1], -1]))
    sight.customer.methods = len(kinds)
    sight.customer.method_kind = padded(kinds, MAX_METHODS, 0)
    sight.customer.balance = padded([draw(amounts) for _ in kinds], MAX_METHODS, 0)
    sight.customer.held = padded([draw(amounts) // 4 for _ in kinds], MAX_METHODS, 0)
    variants = st.integers(0, len(SHELVES.variants.price) - 1)
    items = draw(st.lists(variants, min_size=1, max_size=3, unique=True))
    sight.orders[0].item_count, sight.orders[0].items = len(items), padded(items, MAX_ITEMS, -1)
    sight.scene.order_code[0], sight.scene.order_seen[0] = 7, 1
    for item in items:
        sight.scene.product[SHELVES.variants.product[item]] = draw(st.sampled_from([SEEN, SEEN, LISTED]))
    return sight


@st.composite
def drafts(draw, sight):
    """The choices of a change of items, some of them still open."""
    draft, order = open_draft(ITEMS), sight.orders[0]
    lines = st.integers(0, order.item_count - 1)
    if draw(st.booleans()):
        draft.order, draft.items[0] = 0, draw(lines)
        draft.items[1] = draw(st.sampled_from([OPEN, NONE]) | lines)
        for place in range(MAX_CHANGED):
            if draft.items[place] >= 0 and draw(st.booleans()):
                draft.news[place] = draw(st.sampled_from(of_product(order.items[draft.items[place]])))
            elif draft.items[place] == NONE:
                draft.news[place] = NONE
    draft.method = draw(st.sampled_from([OPEN, *range(sight.customer.methods)]))
    return draft


def of_product(item):
    """All variants of the product of an item."""
    product = SHELVES.variants.product[item]
    return range(SHELVES.first[product], SHELVES.first[product] + SHELVES.counts[product])


def changes(sight):
    """Every change of items that can be expressed, paid as the words say: lines, new variants, method."""
    order = sight.orders[0]
    shown = [
        (line, new)
        for line in range(order.item_count)
        for new in of_product(order.items[line])
        if sight.scene.product[SHELVES.variants.product[new]] == SEEN
    ]
    for method in range(sight.customer.methods):
        if sight.customer.method_kind[method] != sight.scene.method_kind:
            continue  # the words do not name it
        yield from (([line, NONE], [new, NONE], method) for line, new in shown)
        for (line, new), (other, another) in itertools.permutations(shown, 2):
            if line != other:
                yield [line, other], [new, another], method


@settings(max_examples=150)
@given(st.data())
def test_a_change_of_items_is_allowed_when_it_can_be_paid_for(data):
    sight = data.draw(wallets_and_orders())
    draft = data.draw(drafts(sight))
    order = sight.orders[0]

    def is_done(lines, news, method):
        old = [order.items[line] for line in lines if line >= 0]
        new = [variant for variant in news if variant >= 0]
        arguments = (old, len(old), new, len(new), method)
        return not guard_modify_items(order, sight.customer, SHELVES.variants, *arguments)

    fitting = (
        change
        for change in changes(sight)
        if all(map(may_be, [*draft.items, *draft.news, draft.method], [*change[0], *change[1], change[2]]))
    )
    assert fits(sight, SHELVES, True, PROPOSE + ITEMS, draft) == any(is_done(*change) for change in fitting)


@given(wallets_and_orders(), st.integers(1, 10_000))
def test_what_an_exchange_takes_from_a_gift_card_cannot_be_spent_again(sight, cents):
    order = sight.orders[0]
    order.status, order.asked_method, order.asked_difference = EXCHANGE_REQUESTED, 0, cents
    see_profile(sight)

    assert sight.customer.held[0] == (cents if sight.customer.method_kind[0] == GIFT_CARD else 0)
