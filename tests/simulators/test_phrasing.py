"""Sentences, held to what is read in them: an agent's sentence is read as exactly the act that was meant."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import RETAIL, SAMPLES, keys, turns

from tool_envs.simulators import agent_voice, user_voice
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.goal import Fact
from tool_envs.simulators.leaves import leaves_of
from tool_envs.simulators.phrasing import Dice, fact_forms, join, sentence
from tool_envs.simulators.understanding import read
from tool_envs.simulators.user_voice import UserVoice, shared_pools

in_both = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
briefs = st.booleans()
NOTHING = {
    "asks_confirmation": False,
    "requests": (),
    "informs": False,
    "denies": False,
    "transfers": False,
    "closes": False,
}


def read_as(sample, text):
    reading = read(text, sample.phrases.language, sample.lexicon)
    return reading, {name: getattr(reading, name) for name in NOTHING}


def spoken(arguments):
    """What a proposal names of its arguments, by leaf."""
    leaves = {
        leaf: value for leaf, value in leaves_of(arguments).items() if leaf != "user_id" and value != ""
    }
    if arguments.get("payment_methods"):
        leaves["amount"] = [payment["amount"] for payment in arguments["payment_methods"]]
    if arguments.get("total_baggages") == 0:
        del leaves["nonfree_baggages"]
    return {leaf: set(value) if isinstance(value, list) else {value} for leaf, value in leaves.items()}


@in_both
def test_there_is_a_sentence_for_every_write(sample):
    phrases = sample.phrases

    assert set(sample.arguments) == set(phrases.deeds) == set(phrases.results) == set(phrases.brief_deeds)


@in_both
@settings(max_examples=500)
@given(st.data(), st.booleans())
def test_a_proposal_is_read_as_one(sample, data, named):
    tool, arguments = data.draw(sample.calls())
    text = data.draw(sample.voices(data.draw(briefs))).propose(tool, arguments, sample.words if named else {})
    reading, acts = read_as(sample, text)

    # Sums tell something, too.
    assert acts == NOTHING | {"asks_confirmation": True, "informs": acts["informs"] and "$" in text}, text
    assert reading.tool == tool, text
    assert {leaf: set(values) for leaf, values in reading.mentions.items()} == spoken(arguments), text


@in_both
@settings(max_examples=400)
@given(st.data(), st.booleans())
def test_a_report_is_read_as_one(sample, data, named):
    tool, arguments = data.draw(sample.calls())
    text = data.draw(sample.voices(data.draw(briefs))).report(tool, arguments, sample.words if named else {})
    reading, acts = read_as(sample, text)

    assert acts == NOTHING | {"informs": True, "closes": True}, text
    assert reading.tool == tool, text


def can_be_asked_together(slots):
    """An address is asked for by itself: a zip code is part of it; and names are part of passengers."""
    return ("address" not in slots or len(slots) == 1) and not {"name", "passengers"} <= set(slots)


@in_both
@settings(max_examples=300)
@given(st.data())
def test_a_question_is_read_as_one(sample, data):
    names = st.sampled_from(sorted(sample.phrases.questions))
    slots = data.draw(st.lists(names, min_size=1, max_size=3, unique=True).filter(can_be_asked_together))
    text = data.draw(sample.voices(data.draw(briefs))).ask(slots)

    assert read_as(sample, text)[1] == NOTHING | {"requests": tuple(sorted(slots))}, text


@in_both
@given(st.data(), st.sampled_from(["intent", "other"]))
def test_an_open_question_is_read_as_one(sample, data, slot):
    text = data.draw(sample.voices(data.draw(briefs))).ask([slot])

    assert read_as(sample, text)[1] == NOTHING | {"requests": (slot,)}, text


@in_both
@settings(max_examples=500)
@given(st.data())
def test_a_refusal_is_read_as_one_and_names_the_reason(sample, data):
    kind = data.draw(st.sampled_from(sorted(sample.phrases.refusals)))
    why = data.draw(st.sampled_from(sorted(sample.phrases.reasons)))
    text = data.draw(sample.voices(data.draw(briefs))).refuse(kind, why)
    acts = read_as(sample, text)[1]

    assert sample.phrases.reasons[why] in text
    assert acts | {"informs": False} == NOTHING | {"denies": True, "closes": True}, text


facts = st.one_of(
    st.builds(Fact, st.just("amount"), st.integers(0, 999999), st.just("")),
    st.builds(Fact, st.just("count"), st.integers(0, 99), st.just("")),
    st.builds(
        Fact,
        st.just("status"),
        st.sampled_from(["pending", "processed", "delivered", "cancelled", "return requested", "on time"]),
        st.just(""),
    ),
    st.builds(Fact, st.just("id"), st.sampled_from(["#W1234567", "123456789012", "K7QX2M"]), st.just("")),
    st.builds(Fact, st.just("word"), st.sampled_from(["black", "cotton", "July 3"]), st.just("")),
)


@in_both
@settings(max_examples=400)
@given(st.data(), facts)
def test_an_answer_is_read_as_one(sample, data, fact):
    text = data.draw(sample.voices(data.draw(briefs))).tell(fact)

    assert read_as(sample, text)[1] == NOTHING | {"informs": True}, text
    assert any(form in text for form in fact_forms(fact))


@in_both
@given(st.data())
def test_an_offer_of_help_and_a_transfer_are_read_as_what_they_are(sample, data):
    voice = data.draw(sample.voices(data.draw(briefs)))

    assert read_as(sample, voice.more())[1] == NOTHING | {"closes": True}, voice.more()
    assert read_as(sample, voice.transfer())[1] == NOTHING | {"transfers": True}, voice.transfer()


@pytest.mark.parametrize(
    ("sample", "tool"), [(sample, tool) for sample in SAMPLES.values() for tool in sorted(sample.arguments)]
)
def test_there_are_ten_ways_to_propose_and_to_report(sample, tool):
    arguments = next(wish.accepted[0] for wish in sample.wishes.values() if wish.tool == tool)
    voices = [AgentVoice(sample.phrases, key, 0) for key in range(200)]

    assert len({voice.propose(tool, arguments) for voice in voices}) >= 10
    assert len({voice.report(tool, arguments) for voice in voices}) >= 10


def all_pools():
    shared = shared_pools()
    names = {**vars(agent_voice), **vars(user_voice)}
    pools = {name: pool for name, pool in names.items() if re.fullmatch(r"_[A-Z_]+", name)}
    plain = {name: pool for name, pool in pools.items() if isinstance(pool, tuple) and "BRIEF" not in name}
    tables = [shared["plain"], agent_voice._TELL, agent_voice._ASK_OPEN, plain, RETAIL.phrases.conditions]
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
        st.sampled_from(["", "email", "order_id", "address", "passengers"]),
        st.sampled_from(["the {lamp}", "#W1234567"]),
    ),
    min_size=1,
    max_size=4,
)
traits = st.sampled_from([(), ("terse",), ("talkative",)])


@in_both
@given(keys, turns, traits, moves)
def test_a_user_says_all_that_is_meant_and_always_the_same(sample, key, turn, traits, moves):
    text = UserVoice(sample.phrases, traits, Dice(key, turn)).say(moves)

    assert text == UserVoice(sample.phrases, traits, Dice(key, turn)).say(moves)
    with_words = {"wish", "next", "otherwise", "again", "inform", "correct", "change", "add"}
    assert all(words.lower() in text.lower() for act, _, words in moves if act in with_words)
    assert "{noun}" not in text
    assert "{words}" not in text


def test_terse_users_are_shorter_and_talkative_ones_longer():
    def length(*traits):
        moves = [("affirm", "", ""), ("inform", "email", "a@b.example"), ("bye", "", "")]
        return sum(len(UserVoice(RETAIL.phrases, traits, Dice(key, 0)).say(moves)) for key in range(50))

    assert length("terse") < length() < length("talkative")


def test_small_talk_gives_nothing_away():
    before, after = shared_pools()["talk"]

    assert not any(re.search(r"\d|#|\border\b", line) for line in (*before, *after))


@pytest.mark.parametrize(
    ("parts", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (list("abc"), "a, b and c")]
)
def test_join(parts, text):
    assert join(parts) == text


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        *[("yes", "Yes."), ("Why?", "Why?"), (" no! ", "No!")],
        # Agents copy ids as they stand.
        *[("jane_roe_1234", "jane_roe_1234."), ("jane@example.com", "jane@example.com.")],
    ],
)
def test_sentence(text, whole):
    assert sentence(text) == whole
