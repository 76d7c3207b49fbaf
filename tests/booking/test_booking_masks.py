"""What can be chosen in the airline's array view: laws over generated tasks, held against tools and rules."""

import functools
import itertools

import numpy as np
import pytest
from booking_array_play import LEVELS, VERSIONS, plays, plays_of, random_play
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tool_envs.array_view import SKIPPED, completions, reachable, skip
from tool_envs.booking.arrays import slot_role, verb_code, verb_tool
from tool_envs.booking.data import booking_base
from tool_envs.booking.desk import BOOKING_DESK
from tool_envs.booking.rows import CERTIFICATE, CREDIT_CARD, GIFT_CARD, MAX_METHODS
from tool_envs.booking.rules import RULES
from tool_envs.booking.scene.blank import (
    blank_trip,
    nothing_shown,
    open_draft,
)
from tool_envs.booking.scene.choices import choose
from tool_envs.booking.scene.masks import ASK, fits
from tool_envs.booking.scene.payments import least_held, party_sizes, payment
from tool_envs.booking.scene.reasons import due, happened
from tool_envs.booking.scene.sight import (
    BOOK,
    CABIN_COUNT,
    CERTIFICATE_SENT,
    FLIGHTS,
    FOR_COMPENSATION,
    MAX_FLIGHTS,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    NONE,
    OPEN,
    SLOTS,
    UNKNOWN,
    WISHES,
    WRITE_TOOLS,
)
from tool_envs.booking.scene.ways import is_booking, way
from tool_envs.booking.scene.writes import fits_people
from tool_envs.booking.tasks import booking_tasks
from tool_envs.database import Database
from tool_envs.errors import Code
from tool_envs.generated import padded
from tool_envs.messages import ToolCall
from tool_envs.rules import broken_rules, events
from tool_envs.service.desk import goal_of
from tool_envs.service.progress import follow

UNSHOWN = {"not_enough_seats", "insufficient_balance"}
"""Why a tool may refuse what seemed of use: prices and seats are unknown of flights that no search showed."""


def is_shown(play, number, chosen):
    """Whether today's prices and seats of all flights in a write were shown."""
    named = dict(zip((slot.name for slot in play.layout.verbs[number].slots), chosen, strict=True))
    place = named.get("reservation_id", 0)
    rows = [
        named[name] for name in ("flights[0]", "flights[1]") if named.get(name, MAX_FLIGHTS) < MAX_FLIGHTS
    ]
    ways = [way(play.sight, place, row) for row in rows]
    return all(each.price[leg * CABIN_COUNT] != UNKNOWN for each in ways for leg in range(each.legs))


def few(play, level, verb):
    """Whether all completions of a verb can be tried in no time."""
    form = play.layout.verbs[verb]
    wide = ("book_reservation", "update_reservation_flights", "update_reservation_passengers")
    searches = ("search_direct_flight", "search_onestop_flight", "get_flight_status")
    return level == "policy" or form.tool not in (*wide, *searches)


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
                if form.slots and allowed[verb] and few(at, level, verb):
                    assert any(True for _ in completions(at.scene, level, verb, form))
                elif form.slots and not allowed[verb]:
                    assert not at.scene.allowed(level, verb, ()).any()


@settings(max_examples=25)
@given(plays)
def test_what_is_possible_in_each_slot_is_what_some_allowed_action_has_there(play):
    for at, _ in itertools.islice(play, 4, None, 4):
        for level in LEVELS:
            for verb in np.flatnonzero(at.scene.allowed(level, -1, ())).tolist():
                if few(at, level, verb):
                    found = reachable(at.scene, level, verb, at.layout.verbs[verb])
                    assert [mask.tolist() for mask in at.scene.possible(level, verb)] == [
                        mask.tolist() for mask in found
                    ]


@settings(max_examples=60)
@given(plays)
def test_every_choice_leads_on_to_another_one_or_to_an_action(play):
    rng = np.random.default_rng(0)
    for at, _ in play:
        for level in LEVELS:
            for verb in np.flatnonzero(at.scene.allowed(level, -1, ())).tolist():
                form = at.layout.verbs[verb]
                chosen = skip(form, ())
                while len(chosen) < len(form.slots):
                    choices = np.flatnonzero(at.scene.allowed(level, verb, chosen))
                    assert len(choices), (form.name, chosen)
                    chosen = skip(form, (*chosen, int(rng.choice(choices))))


def fitting(play, level, verb, chosen):
    """The mask of the next slot, by a draft with each of its choices."""
    form = play.layout.verbs[verb]
    slot, mask = form.slots[len(chosen)], []
    for choice in range(slot.choices):
        draft = open_draft(verb_tool(form))
        for each, index in zip(form.slots, (*chosen, choice), strict=False):
            choose(draft, *slot_role(each), NONE if each.ends(index) else index)
        mask.append(fits(play.sight, level == "policy", verb_code(form), draft))
    return mask


@settings(max_examples=60)
@given(plays)
def test_a_choice_is_allowed_when_the_draft_with_it_fits(play):
    rng = np.random.default_rng(0)
    for at, _ in itertools.islice(play, 2, None, 3):
        for level in LEVELS:
            for verb in np.flatnonzero(at.scene.allowed(level, -1, ())).tolist():
                form = at.layout.verbs[verb]
                chosen = skip(form, ())
                while len(chosen) < len(form.slots):
                    mask = at.scene.allowed(level, verb, chosen)
                    assert mask.tolist() == fitting(at, level, verb, chosen)
                    chosen = skip(form, (*chosen, int(rng.choice(np.flatnonzero(mask)))))


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
    for at, _ in random_play(index, difficulty, seed, level="schema", version=version, rightly=0.5):
        assert at.env.episode.history[-1].code not in list(Code)


# --- Policy


@settings(max_examples=150)
@given(plays)
def test_nothing_of_use_is_refused_or_breaks_a_rule(play):
    for at, (verb, chosen) in play:
        code = at.env.episode.history[-1].code
        is_unknown = code in UNSHOWN and not is_shown(at, verb, chosen)
        assert code is None or is_unknown or at.sight.scene.stale
    assert broken_rules(RULES, BOOKING_DESK.renames.first_history(at.env.episode.history)) == []


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
def test_a_wish_is_refused_when_it_was_looked_up_and_not_agreed_and_no_flights_fit(play):
    for at, _ in play:
        progress = follow(BOOKING_DESK, goal_of(at.env.task), at.env.episode.history)
        waits = at.sight.scene.yes or at.sight.scene.unreported >= 0
        known = at.sight.scene.wish >= 0 and progress.read.issuperset(progress.wish.evidence)
        refuses = at.scene.allowed("policy", -1, ())[at.number("refuse")]
        assert not (refuses and (waits or not known))
        chooses_flights = is_booking(at.sight.scene.wish) or progress.wish.kind == "change_flights"
        if known and at.sight.scene.profile and not waits and not at.over and not progress.written:
            assert refuses == (not chooses_flights or (progress.wish.forbidden and is_counted(at)))


def is_counted(play):
    """Whether who flies was told, where that makes a difference."""
    return not is_booking(play.sight.scene.wish) or play.sight.wanted.people[0] >= 0


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
        if slot not in ("", "other") and not held_back and not at.over:
            assert not at.scene.allowed("policy", -1, ())[verb]


@functools.cache
def wishes_of_tasks():
    tasks = [booking_tasks(booking_base(), "train", difficulty) for difficulty in (1, 2, 3)]
    return [wish for each in tasks for index in range(200) for wish in goal_of(each[index]).wishes]


@pytest.mark.parametrize("kind", WISHES)
def test_what_is_asked_for_is_what_customers_with_such_a_wish_have_words_for(kind):
    """Of a wish that nobody may fulfil the details are of no use but for the reservation."""
    wishes = [wish for wish in wishes_of_tasks() if wish.kind == kind]
    spoken = {slot for wish in wishes if wish.accepted for slot in wish.words} or {"reservation_id"}
    sight = nothing_shown()
    sight.scene.user, sight.scene.wish = 1, WISHES.index(kind)

    asked = {slot for k, slot in enumerate(SLOTS) if fits(sight, True, ASK + k, open_draft())}
    assert wishes
    assert asked == spoken & set(SLOTS) | {"other"}


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
        if form.kind == "call" and form.tool in WRITE_TOOLS:  # balances and seats may have moved
            seen = {(name, slots) for name, slots in seen if name == "get_reservation_details"}


def random_proposals(play, rng, count):
    """Proposals with any choices that can be expressed."""
    allowed = play.scene.allowed("schema", -1, ())
    verbs = [n for n, verb in enumerate(play.layout.verbs) if verb.kind == "propose" and allowed[n]]
    for _ in range(count if verbs else 0):
        number = int(rng.choice(verbs))
        verb, chosen = play.layout.verbs[number], skip(play.layout.verbs[number], ())
        while len(chosen) < len(verb.slots):
            slot = verb.slots[len(chosen)]
            choices = np.flatnonzero(play.scene.allowed("schema", number, chosen)).tolist()
            useful = np.flatnonzero(play.scene.allowed("policy", number, chosen)).tolist()
            # Mostly what is of use so far, so that the whole is worth a look.
            choices = useful if useful and rng.random() < 0.8 else choices
            choice = slot.width if slot.width in choices and rng.random() < 0.3 else int(rng.choice(choices))
            chosen = skip(verb, (*chosen, choice))
        yield number, chosen


def refusal_of(play, number, chosen):
    """Why the tool refuses the proposed call now, asked on a copy of the database; None when it does not."""
    name = play.layout.verbs[number].tool
    call = ToolCall(name, play.scene.action(play.number(name), chosen)["arguments"])
    episode = play.env.episode
    database = Database(episode.database.base)
    database.restore(episode.database.snapshot())
    return play.env.domain.toolkit.call(database, call).code


@settings(max_examples=100)
@given(plays, st.integers(0, 2**32 - 1))
@example(  # a way of two flights, of which a search showed the first alone
    play=random_play(index=603, difficulty=4, seed=0, rightly=0.9, version="1.0.0"), seed=1
)
def test_what_the_tool_would_refuse_is_not_proposed(play, seed):
    rng = np.random.default_rng(seed)
    for at, _ in play:
        for number, chosen in random_proposals(at, rng, 3) if not at.over else ():
            refused = refusal_of(at, number, chosen)
            is_unknown = refused in UNSHOWN and not is_shown(at, number, chosen)
            if refused and not at.sight.scene.stale and not is_unknown:
                assert not at.path_is_allowed("policy", number, chosen), (refused, chosen)


def completed(play, rng, number):
    """Random choices for a verb that is of use."""
    form = play.layout.verbs[number]
    chosen = skip(form, ())
    while len(chosen) < len(form.slots):
        choices = np.flatnonzero(play.scene.allowed("policy", number, chosen))
        chosen = skip(form, (*chosen, int(rng.choice(choices))))
    return chosen


@settings(max_examples=60)
@given(plays_of(("book_one_way", "book_round_trip", "book_one_stop"), (1, 2)), st.integers(0, 2**32 - 1))
def test_every_booking_that_may_be_proposed_is_one_that_the_tool_makes(play, seed):
    rng = np.random.default_rng(seed)
    for at, _ in play:
        number = at.number("propose_book_reservation")
        if at.scene.allowed("policy", -1, ())[number] and not at.over:
            found = [completed(at, rng, number) for _ in range(25)]
            assert [refusal_of(at, number, chosen) for chosen in found] == [None] * len(found)
            return


def forbids(play, number, chosen):
    """The rules that forbid the proposed call now, but that a yes to it is needed."""
    name = play.layout.verbs[number].tool
    action = play.scene.action(play.number(name), chosen)
    call = BOOKING_DESK.renames.first_call(ToolCall(name, action["arguments"]))
    history = BOOKING_DESK.renames.first_history(play.env.episode.history)
    return [rule.id for rule in RULES if rule.id != "explicit_yes" and not permits(rule, history, call)]


def permits(rule, history, call):
    memory = rule.start
    for _, event in events(history):
        memory, _ = rule.after(memory, event)
    return rule.permits(memory, call)


@settings(max_examples=100)
@given(plays, st.integers(0, 2**32 - 1))
def test_what_a_rule_forbids_is_not_proposed(play, seed):
    rng = np.random.default_rng(seed)
    for at, _ in play:
        for number, chosen in random_proposals(at, rng, 3) if not at.over else ():
            if forbids(at, number, chosen):
                assert not at.path_is_allowed("policy", number, chosen), chosen


@settings(max_examples=100)
@given(plays, st.integers(0, 2**32 - 1))
@example(  # a delay for which nothing is due, as large as what is due for another reservation
    play=random_play(index=338, difficulty=4, seed=454, rightly=0.0, version="1.0.0"), seed=0
)
def test_what_the_tool_would_do_and_no_rule_forbids_may_be_proposed(play, seed):
    rng = np.random.default_rng(seed)
    for at, _ in play:
        for number, chosen in random_proposals(at, rng, 3) if not at.over else ():
            tool = at.layout.verbs[number].tool
            waits = at.sight.scene.yes and tool == WRITE_TOOLS[at.sight.proposed.tool]
            if waits or at.sight.scene.stale or not is_plain(at, tool, number, chosen):
                continue
            seen = tool == WRITE_TOOLS[CERTIFICATE_SENT] or at.sight.scene.trip_seen[chosen[0]]
            refused = not seen or refusal_of(at, number, chosen) or forbids(at, number, chosen)
            assert at.path_is_allowed("policy", number, chosen) != bool(refused), (tool, chosen)


def is_plain(play, tool, number, chosen):
    """Whether it is not for other reasons that the masks leave a call out: see `masks`, and `payments`."""
    if tool == WRITE_TOOLS[CERTIFICATE_SENT]:
        # A sum is one proposal: that for the first reservation for which it is due.
        sight, place = play.sight, chosen[0]
        rivals = range(place) if due(sight, place) else range(MAX_TRIPS)
        sums = [due(sight, rival) for rival in rivals if rival != place and sight.scene.trip_seen[rival]]
        return sight.scene.wish == FOR_COMPENSATION and happened(sight, place) not in sums
    slots = play.layout.verbs[number].slots
    places = [(slot, choice) for slot, choice in zip(slots, chosen, strict=True) if choice != SKIPPED]
    people = [choice for slot, choice in places if slot.source == "people" and not slot.ends(choice)]
    return tool not in (WRITE_TOOLS[BOOK], WRITE_TOOLS[FLIGHTS]) and people == sorted(people)


# --- Money


@st.composite
def wallets(draw):
    """Customers with a credit card and other methods, and people."""
    sight, amounts = nothing_shown(), st.integers(0, 500).map(lambda dollars: dollars * 100)
    kinds = [CREDIT_CARD, *draw(st.lists(st.sampled_from([CREDIT_CARD, GIFT_CARD, CERTIFICATE]), max_size=4))]
    balance = [0 if kind == CREDIT_CARD else draw(amounts) for kind in kinds]
    sight.customer.methods = len(kinds)
    sight.customer.method_kind = padded(kinds, MAX_METHODS, 0)
    sight.customer.balance = padded(balance, MAX_METHODS, 0)
    sight.scene.people = draw(st.integers(1, MAX_PEOPLE))
    return sight


@st.composite
def paying_drafts(draw, sight):
    """Drafts of which some methods are chosen: mostly those of a mix that there is."""
    draft = open_draft()
    mix = padded(draw(st.sampled_from(list(mixes(sight)))), MAX_PAID, NONE)
    draft.methods = [draw(st.sampled_from([OPEN, chosen])) for chosen in mix]
    if draw(st.booleans()):
        draft.methods[draw(st.integers(0, MAX_PAID - 1))] = draw(st.integers(0, sight.customer.methods - 1))
    return draft


def mixes(sight):
    """All mixes of payment methods that a booking can be paid with, in the order in which they pay."""
    kinds, balance = sight.customer.method_kind, sight.customer.balance
    of_kind = {
        kind: [
            m
            for m in range(sight.customer.methods)
            if kinds[m] == kind and (kind == CREDIT_CARD or balance[m])
        ]
        for kind in (CERTIFICATE, GIFT_CARD, CREDIT_CARD)
    }
    certificates = [[], *([each] for each in of_kind[CERTIFICATE])]
    gift_cards = [
        list(each) for count in range(4) for each in itertools.combinations(of_kind[GIFT_CARD], count)
    ]
    for certificate, gifts, card in itertools.product(certificates, gift_cards, of_kind[CREDIT_CARD]):
        if len(mix := [*certificate, *gifts, card]) <= MAX_PAID:
            yield mix


@settings(max_examples=300)
@given(st.data())
def test_what_is_left_to_the_credit_card_is_right_for_every_mix(data):
    sight = data.draw(wallets())
    draft = data.draw(paying_drafts(sight))

    held = [
        sum(sight.customer.balance[method] for method in mix[:-1])
        for mix in mixes(sight)
        if all(
            chosen in (OPEN, each)
            for chosen, each in zip(draft.methods, padded(mix, MAX_PAID, NONE), strict=True)
        )
    ]
    assert least_held(sight, draft) == min(held, default=-1)


@given(st.data(), st.integers(1, 3_000))
def test_payments_add_up_when_something_is_left_to_the_credit_card(data, dollars):
    sight, price = data.draw(wallets()), dollars * 100
    mix = data.draw(st.sampled_from(list(mixes(sight))))
    draft = open_draft()
    draft.methods = padded(mix, MAX_PAID, NONE)

    paid = [payment(sight, draft, price, place) for place in range(len(mix))]
    if sum(sight.customer.balance[method] for method in mix[:-1]) < price:
        assert paid[:-1] == [sight.customer.balance[method] for method in mix[:-1]]
        assert sum(paid) == price
    assert min(paid) >= 100


@given(st.data())
def test_parties_can_be_as_large_as_what_is_chosen_leaves_them(data):
    sight = data.draw(wallets())
    draft = open_draft()
    choices = st.integers(0, MAX_PEOPLE - 1) | st.sampled_from([OPEN, NONE])
    draft.people = data.draw(st.lists(choices, min_size=MAX_PEOPLE, max_size=MAX_PEOPLE))

    sizes = {
        len(party)
        for count in range(1, MAX_PEOPLE + 1)
        for party in itertools.combinations(range(sight.scene.people), count)
        if all(
            chosen in (OPEN, each)
            for chosen, each in zip(draft.people, padded(party, MAX_PEOPLE, NONE), strict=True)
        )
    }
    assert party_sizes(sight, draft) == sum(1 << size for size in sizes)


@given(st.data())
def test_people_can_change_when_there_is_another_party_of_that_size(data):
    sight, trip = data.draw(wallets()), blank_trip()
    size = data.draw(st.integers(1, sight.scene.people))
    parties = list(itertools.combinations(range(sight.scene.people), size))
    now, chosen = data.draw(st.sampled_from(parties)), data.draw(st.sampled_from(parties))
    draft = open_draft()
    draft.people = [data.draw(st.sampled_from([OPEN, each])) for each in padded(chosen, MAX_PEOPLE, NONE)]
    trip.passengers, trip.passenger = size, padded(now, MAX_PEOPLE, -1)

    others = [
        party
        for party in parties
        if party != now
        and all(
            chosen in (OPEN, each)
            for chosen, each in zip(draft.people, padded(party, MAX_PEOPLE, NONE), strict=True)
        )
    ]
    assert fits_people(sight, draft, trip) == (len(others) > 0)
