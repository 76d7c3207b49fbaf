"""Sentences, held to what is read in them: an agent's sentence is read as exactly the act that was meant."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_goals import ADDRESS, LEXICON, WISHES, WORDS

from tool_envs.simulators import agent_voice, user_voice
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.goal import Fact
from tool_envs.simulators.phrasing import Dice, fact_forms, join, sentence
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES
from tool_envs.simulators.understanding import read
from tool_envs.simulators.user_voice import UserVoice, shared_pools

keys = st.integers(0, 2**64 - 1)
turns = st.integers(0, 30)
briefs = st.booleans()
NOTHING = {
    "asks_confirmation": False,
    "requests": (),
    "informs": False,
    "denies": False,
    "transfers": False,
    "closes": False,
}


@st.composite
def voices(draw):
    return AgentVoice(RETAIL_PHRASES, draw(keys), draw(turns), brief=draw(briefs))


def some(argument, least=1, most=1):
    values = [value.value for value in LEXICON[argument]]
    return st.lists(st.sampled_from(values), min_size=least, max_size=most, unique=True)


def one(argument):
    return some(argument).map(lambda values: values[0])


reasons = st.sampled_from(["no longer needed", "ordered by mistake"])
payment = {"payment_method_id": one("payment_method_id")}
order = {"order_id": one("order_id")}
# "OR" alone reads as a word: `hearing` writes it out before.
addresses = {name: one(name) for name in ADDRESS} | {"state": st.just("TX")}


def swaps(arguments):
    new = some("new_item_ids", 1, 3)
    return st.fixed_dictionaries({**arguments, **order, **payment, "new_item_ids": new}).flatmap(
        lambda rest: st.fixed_dictionaries(
            {
                **{name: st.just(value) for name, value in rest.items()},
                "item_ids": some("item_ids", len(rest["new_item_ids"]), len(rest["new_item_ids"])),
            }
        )
    )


ARGUMENTS = {
    "cancel_pending_order": st.fixed_dictionaries({**order, "reason": reasons}),
    "return_delivered_order_items": st.fixed_dictionaries(
        {**order, **payment, "item_ids": some("item_ids", 1, 3)}
    ),
    "exchange_delivered_order_items": swaps({}),
    "modify_pending_order_items": swaps({}),
    "modify_pending_order_address": st.fixed_dictionaries({**order, **addresses}),
    "modify_pending_order_payment": st.fixed_dictionaries({**order, **payment}),
    "modify_user_address": st.fixed_dictionaries({"user_id": st.just("jane_roe_1234"), **addresses}),
}
calls = st.sampled_from(sorted(ARGUMENTS)).flatmap(
    lambda tool: st.tuples(st.just(tool), ARGUMENTS[tool], st.booleans())
)


EXAMPLES = {wish.tool: wish.accepted[0] for wish in WISHES.values() if wish.tool}


def read_as(text):
    reading = read(text, RETAIL_PHRASES.language, LEXICON)
    return reading, {name: getattr(reading, name) for name in NOTHING}


def test_there_is_a_sentence_for_every_write():
    assert set(ARGUMENTS) == set(RETAIL_PHRASES.deeds) == set(RETAIL_PHRASES.results)
    assert set(ARGUMENTS) == set(RETAIL_PHRASES.brief_deeds)


@settings(max_examples=600)
@given(voices(), calls)
def test_a_proposal_is_read_as_one(voice, call):
    tool, arguments, named = call
    text = voice.propose(tool, arguments, WORDS if named else {})
    reading, acts = read_as(text)

    assert acts == NOTHING | {"asks_confirmation": True}, text
    assert reading.tool == tool, text
    spoken = {name: value for name, value in arguments.items() if name != "user_id" and value}
    assert {name: set(values) for name, values in reading.mentions.items()} == {
        name: set(value) if isinstance(value, list) else {value} for name, value in spoken.items()
    }, text


@settings(max_examples=400)
@given(voices(), calls)
def test_a_report_is_read_as_one(voice, call):
    tool, arguments, named = call
    text = voice.report(tool, arguments, WORDS if named else {})
    reading, acts = read_as(text)

    assert acts == NOTHING | {"informs": True, "closes": True}, text
    assert reading.tool == tool, text


# An address is asked for by itself: a zip code and much else is part of it.
slot_lists = st.lists(
    st.sampled_from(sorted(RETAIL_PHRASES.questions)), min_size=1, max_size=3, unique=True
).filter(lambda slots: "address" not in slots or len(slots) == 1)


@settings(max_examples=300)
@given(voices(), slot_lists)
def test_a_question_is_read_as_one(voice, slots):
    text = voice.ask(slots)

    assert read_as(text)[1] == NOTHING | {"requests": tuple(sorted(slots))}, text


@given(voices(), st.sampled_from(["intent", "other"]))
def test_an_open_question_is_read_as_one(voice, slot):
    text = voice.ask([slot])

    assert read_as(text)[1] == NOTHING | {"requests": (slot,)}, text


@settings(max_examples=400)
@given(
    voices(),
    st.sampled_from(sorted(RETAIL_PHRASES.refusals)),
    st.sampled_from(sorted(RETAIL_PHRASES.reasons)),
)
def test_a_refusal_is_read_as_one_and_names_the_reason(voice, kind, why):
    text = voice.refuse(kind, why)

    assert RETAIL_PHRASES.reasons[why] in text
    assert read_as(text)[1] | {"informs": False} == NOTHING | {"denies": True, "closes": True}, text


facts = st.one_of(
    st.builds(Fact, st.just("amount"), st.integers(0, 999999), st.just("")),
    st.builds(Fact, st.just("count"), st.integers(0, 99), st.just("")),
    st.builds(
        Fact,
        st.just("status"),
        st.sampled_from(["pending", "processed", "delivered", "cancelled", "return requested"]),
        st.just(""),
    ),
    st.builds(Fact, st.just("id"), st.sampled_from(["#W1234567", "123456789012"]), st.just("")),
    st.builds(Fact, st.just("word"), st.sampled_from(["black", "cotton"]), st.just("")),
)


@settings(max_examples=400)
@given(voices(), facts)
def test_an_answer_is_read_as_one(voice, fact):
    text = voice.tell(fact)

    assert read_as(text)[1] == NOTHING | {"informs": True}, text
    assert any(form in text for form in fact_forms(fact))


@given(voices())
def test_an_offer_of_help_and_a_transfer_are_read_as_what_they_are(voice):
    assert read_as(voice.more())[1] == NOTHING | {"closes": True}, voice.more()
    assert read_as(voice.transfer())[1] == NOTHING | {"transfers": True}, voice.transfer()


@pytest.mark.parametrize("kind", sorted(ARGUMENTS))
def test_there_are_ten_ways_to_propose_and_to_report(kind):
    arguments = EXAMPLES[kind]
    voices = [AgentVoice(RETAIL_PHRASES, key, 0) for key in range(200)]

    assert len({voice.propose(kind, arguments) for voice in voices}) >= 10
    assert len({voice.report(kind, arguments) for voice in voices}) >= 10


def all_pools():
    shared = shared_pools()
    names = {**vars(agent_voice), **vars(user_voice)}
    pools = {name: pool for name, pool in names.items() if re.fullmatch(r"_[A-Z_]+", name)}
    plain = {name: pool for name, pool in pools.items() if isinstance(pool, tuple) and "BRIEF" not in name}
    tables = [shared["plain"], agent_voice._TELL, agent_voice._ASK_OPEN, plain, RETAIL_PHRASES.conditions]
    return {f"{number} {name}": pool for number, table in enumerate(tables) for name, pool in table.items()}


@pytest.mark.parametrize("name", sorted(all_pools()))
def test_there_are_ten_different_phrasings_of_every_act(name):
    pool = all_pools()[name]

    assert len(set(pool)) == len(pool) >= 10


# -- the user -----------------------------------------------------------------------------------------------
acts = st.sampled_from(sorted(shared_pools()["plain"]))
moves = st.lists(
    st.tuples(
        acts,
        st.sampled_from(["", "email", "order_id", "address"]),
        st.sampled_from(["the {lamp}", "#W1234567"]),
    ),
    min_size=1,
    max_size=4,
)
traits = st.sampled_from([(), ("terse",), ("talkative",)])


@given(keys, turns, traits, moves)
def test_a_user_says_all_that_is_meant_and_always_the_same(key, turn, traits, moves):
    text = UserVoice(RETAIL_PHRASES, traits, Dice(key, turn)).say(moves)

    assert text == UserVoice(RETAIL_PHRASES, traits, Dice(key, turn)).say(moves)
    with_words = {"wish", "next", "otherwise", "again", "inform", "correct", "change", "add"}
    assert all(words.lower() in text.lower() for act, _, words in moves if act in with_words)
    assert "{noun}" not in text
    assert "{words}" not in text


def test_terse_users_are_shorter_and_talkative_ones_longer():
    def length(*traits):
        moves = [("affirm", "", ""), ("inform", "email", "a@b.example"), ("bye", "", "")]
        return sum(len(UserVoice(RETAIL_PHRASES, traits, Dice(key, 0)).say(moves)) for key in range(50))

    assert length("terse") < length() < length("talkative")


def test_small_talk_gives_nothing_away():
    before, after = shared_pools()["talk"]

    assert not any(re.search(r"\d|#|\border\b", line) for line in (*before, *after))


@pytest.mark.parametrize(
    ("parts", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (list("abc"), "a, b and c")]
)
def test_join(parts, text):
    assert join(parts) == text


@pytest.mark.parametrize(("text", "whole"), [("yes", "Yes."), ("Why?", "Why?"), (" no! ", "No!")])
def test_sentence(text, whole):
    assert sentence(text) == whole
