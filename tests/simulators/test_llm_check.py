"""A user who leaves their goal is told from one who stays, and from an agent who is no help."""

import functools
import itertools
import json
import typing
from collections import Counter

import gymnasium
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_replies import Talk, agreed, reply
from sample_goals import CANCEL, FORBIDDEN, QUESTION, RETURN, SECOND_CHOICE, USER_ADDRESS, goal

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.agents import TRIVIAL, load_agent, play
from tool_envs.evaluation.failures import Failure, failure_outside
from tool_envs.simulators import USER_FAILURES, Trait, UserReplyError, llm_prompt
from tool_envs.simulators.booking_phrases import BOOKING_PHRASES
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES
from tool_envs.simulators.user_failures import UserDisclosureError, UserHungUpError, UserMadeUpError

PHRASES = {"tool_envs/Retail-v0": RETAIL_PHRASES, "tool_envs/Booking-v0": BOOKING_PHRASES}
DIFFICULTIES = range(1, 6)
SEEDS = range(20)
in_both = pytest.mark.parametrize("env_id", PHRASES)


def oracle(env, _):
    while env.outcome is None:
        env.step(env.domain.oracle(env.episode))


def by_agent(name):
    return lambda env, observation: play(env, load_agent(name), observation, 0)


def talk_of(env_id, difficulty, seed, agent=oracle, **options):
    """An episode of the agenda user, from their side."""
    env = environment(env_id, difficulty)
    observation, _ = env.reset(seed=seed, options=options)
    agent(env, observation)
    return Talk.of(env.episode, PHRASES[env_id])


@functools.cache
def environment(env_id, difficulty):
    return gymnasium.make(env_id, difficulty=difficulty).unwrapped


@functools.cache
def talks(env_id):
    """Episodes with the oracle, of all difficulties."""
    return [talk_of(env_id, difficulty, seed) for difficulty in DIFFICULTIES for seed in SEEDS]


@functools.cache
def talks_with_second_choice(env_id):
    """Episodes with the oracle, in each of which the user has a second choice."""
    tasks = environment(env_id, 3).domain.tasks
    having = (k for k in range(1000) if any(wish.otherwise for wish in tasks[k].goal.wishes))
    return [talk_of(env_id, 3, k, task_index=k) for k in itertools.islice(having, 10)]


def later(talk, number):
    """Whether a reply answers the agent and does not hang up."""
    return number > 0 and not json.loads(talk.replies[number])["ended"]


def fails(talk, text, at):
    """The failure of a user who gives a reply twice, as turn number `at`; None: it is taken."""
    try:
        talk.play(text, text, at=at)
    except UserReplyError as failure:
        return type(failure)
    return None


def with_more(text, more):
    """A reply that says more."""
    one = json.loads(text)
    return json.dumps({**one, "say": f"{one['say']} {more}"})


def said_to(*messages, replies=("Hello.",), wishes=(RETURN,), **options):
    """What the agent said, with replies by hand."""
    texts = [text if text.startswith("{") else reply(text) for text in replies]
    return Talk(goal(*wishes, **options), RETAIL_PHRASES, messages, tuple(texts), ())


def hang_up(*messages, replies=("Hello.",), last="Bye.", **options):
    """The failure of a user who hangs up after these messages; the reply `Hm.` stands before the rest."""
    filled = (*replies, *["Hm."] * (len(messages) - len(replies)))
    return fails(said_to(*messages, replies=filled, **options), reply(last, ended=True), len(messages))


# --- Who stays in their role is never marked


@in_both
def test_what_the_agenda_user_says_is_taken_at_once(env_id):
    for talk in (*talks(env_id), *talks_with_second_choice(env_id)):
        source, user = talk.play()
        assert len(source.asked) == len(user.turns) == len(talk.replies)

    seen = Counter(trait for talk in talks(env_id) for trait in talk.goal.traits)
    assert seen.keys() == set(typing.get_args(Trait))


@in_both
@settings(max_examples=50)
@given(st.sampled_from(DIFFICULTIES), st.integers(0, 2**32 - 1))
def test_so_it_is_whatever_the_seed(env_id, difficulty, seed):
    talk = talk_of(env_id, difficulty, seed)
    source, _ = talk.play()
    assert len(source.asked) == len(talk.replies)


@in_both
@pytest.mark.parametrize("name", TRIVIAL)
@settings(max_examples=12)
@given(st.sampled_from(DIFFICULTIES), st.integers(0, 2**32 - 1))
def test_so_it_is_with_an_agent_on_whom_they_give_up(env_id, name, difficulty, seed):
    talk = talk_of(env_id, difficulty, seed, by_agent(name))
    source, _ = talk.play()
    assert len(source.asked) == len(talk.replies)


# --- Who leaves it is


@in_both
def test_who_hangs_up_at_the_first_question_is_marked(env_id):
    plants = [talk for talk in talks(env_id) if later(talk, 1)]
    assert len(plants) > 80
    assert {fails(talk, reply("Bye.", ended=True), 1) for talk in plants} == {UserHungUpError}


@in_both
def test_who_hangs_up_with_their_yes_is_marked(env_id):
    yes = [(talk, k) for talk in talks(env_id)[::3] for k, acts in enumerate(talk.acts) if "affirm" in acts]
    assert len(yes) > 30
    for talk, k in yes:
        ended = json.dumps({**json.loads(talk.replies[k]), "ended": True})
        assert fails(talk, ended, k) is UserHungUpError


@in_both
def test_who_leaves_with_a_wish_unsaid_is_nearly_always_marked(env_id):
    """What they said before may share a word with that wish, and then they get the benefit of the doubt."""
    nexts = [
        (talk, k)
        for talk in talks(env_id)
        for k, acts in enumerate(talk.acts)
        if "thank" in acts and {"wish", "ask"} & {*acts}
    ]
    found = Counter(fails(talk, reply("Thanks, bye.", ended=True), k) for talk, k in nexts)

    assert len(nexts) > 60
    assert found.keys() <= {None, UserHungUpError}
    assert found[UserHungUpError] > 0.9 * len(nexts)


@in_both
@settings(max_examples=60)
@given(st.data())
def test_who_quotes_their_directions_is_marked(env_id, data):
    talk = data.draw(st.sampled_from(talks(env_id)))
    k = data.draw(st.integers(0, len(talk.replies) - 1))
    words = llm_prompt.ROLE.format(domain=talk.goal.domain).split()
    start = data.draw(st.integers(0, len(words) - 12))
    quoted = " ".join(words[start : start + 12])
    tools = sorted(talk.phrases.deeds)
    more = data.draw(st.sampled_from([quoted, "agrees_to", *tools]))

    assert fails(talk, with_more(talk.replies[k], more), k) is UserDisclosureError


@in_both
def test_the_reluctant_who_tell_who_they_are_unasked_are_marked(env_id):
    told = [
        (talk, value)
        for talk in talks(env_id)
        for slot, value in talk.goal.knows.items()
        if "reluctant" in talk.goal.traits
        and slot in talk.phrases.identity
        and value not in msgspec.json.encode(talk.goal.wishes).decode()
    ]
    assert len(told) > 30
    for talk, value in told:
        text = with_more(talk.replies[0], f"I am {value}.")
        assert fails(talk, text, 0) is UserDisclosureError
        assert fails(talk, reply(f"I am {value}."), 1) is UserDisclosureError
        patient = msgspec.structs.replace(talk.goal, traits=())
        assert fails(Talk(patient, talk.phrases, talk.heard, talk.replies, talk.acts), text, 0) is None


@in_both
def test_who_names_their_second_choice_at_once_is_marked(env_id):
    """In one sentence with what makes it the second one."""
    seconds = [
        (talk, wish.otherwise.opening.replace(". ", ", "))
        for talk in talks_with_second_choice(env_id)
        for wish in talk.goal.wishes
        if wish.otherwise is not None
    ]
    assert len(seconds) >= 10
    for talk, second in seconds:
        for more in (f"Otherwise: {second}", f"If that is not possible: {second}"):
            assert fails(talk, with_more(talk.replies[0], more), 0) is UserDisclosureError


# --- When one may hang up

OFFER = "Shall I return the desk lamp and the water bottle from order #W1234567 to PayPal?"
YES = agreed("Yes.", RETURN.tool)


@pytest.mark.parametrize(
    "messages",
    [
        ["I'm sorry, these items cannot be returned."],
        ["Sorry, we don't do that."],
        ["I will now transfer you to a human agent."],
        ["I am transferring you to a colleague.", "Could you tell me your name meanwhile?"],
        ["Goodbye, and have a nice day!"],
        ["The return of both items has been requested."],
        ["I took care of that. Is there anything else?"],
        ["...", "...", "..."],
        ["What?", "What?", "What?"],
        [OFFER.replace("PayPal", "the gift card")] * 3,
        ["One moment, please."] * 8,
        ["Could you tell me your email address?"] * 8,
    ],
)
def test_a_justified_ending(messages):
    assert hang_up(*messages) is None


@pytest.mark.parametrize(
    "messages",
    [
        ["Hello! How can I help you?"],
        ["Could you tell me your email address?"],
        ["Could you tell me your email address?"] * 7,
        ["One moment, please."],
        [OFFER],
        [f"This cannot be undone. {OFFER}"],
        ["Thank you, Jane. Could you tell me which order this is about?"],
        ["I cannot do that before you tell me your email address."],
        ["...", "..."],
    ],
)
def test_an_early_ending(messages):
    assert hang_up(*messages) is UserHungUpError


def test_a_yes_is_followed_until_the_result():
    assert hang_up(OFFER, "I'll submit that now.", replies=("Hello.", YES)) is UserHungUpError
    assert hang_up(OFFER, "One second, please wait.", replies=("Hello.", YES)) is UserHungUpError
    assert hang_up(OFFER, "I have sent it all off for you.", replies=("Hello.", YES)) is None


def test_what_is_promised_to_another_wish_is_no_service_to_this_one():
    told = hang_up(
        OFFER,
        "The return has been requested. Anything else?",
        replies=("I want to return a lamp.", YES),
        wishes=(RETURN, USER_ADDRESS),
    )
    assert told is UserHungUpError

    told = hang_up(
        OFFER,
        "The return has been requested. Anything else?",
        "Your address is now 12 Elm Street, Austin.",
        "All done. Anything else?",
        replies=("I want to return a lamp.", YES, "Also, I moved to 12 Elm Street, Austin."),
        wishes=(RETURN, USER_ADDRESS),
    )
    assert told is None


def test_a_no_leads_to_the_second_choice():
    no = "I'm sorry, this item cannot be exchanged."
    assert hang_up(no, wishes=(SECOND_CHOICE,)) is UserHungUpError
    then = ("I want another lamp.", "Then I want to return the water bottle, too.")
    assert hang_up(no, "That cannot be done either.", replies=then, wishes=(SECOND_CHOICE,)) is None


def test_who_takes_up_their_second_choice_unasked_is_served_by_it():
    report = "The return of the desk lamp and the water bottle from order #W1234567 has been requested."
    assert hang_up(report, replies=("I return the bottle.",), wishes=(SECOND_CHOICE,)) is None


def test_with_a_yes_patience_begins_anew():
    before = ("Hello.", "Hm.", "Hm.")
    assert hang_up("...", "...", OFFER, "One moment.", replies=(*before, YES)) is UserHungUpError
    assert hang_up("...", "...", OFFER, "One moment.", replies=(*before, "Hm.")) is None


@pytest.mark.parametrize("wish", [FORBIDDEN, CANCEL])
def test_an_agent_who_does_what_is_forbidden_has_no_excuse(wish):
    assert hang_up("Your order has been cancelled.", wishes=(wish,)) is None


def test_a_question_is_answered_by_a_value_of_its_kind():
    assert hang_up("You paid $12.00.", wishes=(QUESTION,)) is None
    assert hang_up("Which order do you mean?", wishes=(QUESTION,)) is UserHungUpError


def test_the_agents_farewell_lets_them_go_whatever_they_wanted_to_say():
    both = (RETURN, USER_ADDRESS)
    assert hang_up("That is all that I can do. Have a nice day!", wishes=both) is None
    assert hang_up("That is all that I can do. Anything else?", wishes=both) is UserHungUpError


def test_the_agents_farewell_excuses_no_yes_without_a_result():
    talk = said_to(f"{OFFER} If not, have a nice day!")
    assert (
        fails(talk, reply("Yes.", {"tool": RETURN.tool, "arguments": {}}, ended=True), 1) is UserHungUpError
    )
    talk = said_to("The return was requested. Anything else?")
    assert fails(talk, reply("No.", {"tool": RETURN.tool, "arguments": {}}, ended=True), 1) is None


# --- What may be said


def test_a_second_choice_may_be_named_after_anything_like_a_no():
    second = reply("Otherwise I want to return the water bottle, too.")
    for message in ("That one is out of stock.", "We don't have it.", "I'm afraid you must choose another."):
        assert fails(said_to(message, wishes=(SECOND_CHOICE,)), second, 1) is None
    assert fails(said_to("Hello!", wishes=(SECOND_CHOICE,)), second, 1) is UserDisclosureError
    offered = said_to("Which one do you want? You can also return the bottle.", wishes=(SECOND_CHOICE,))
    assert fails(offered, reply("Otherwise I return the bottle."), 1) is None


def test_who_changes_their_mind_may_name_it_when_they_are_offered_the_first():
    offer = "Shall I exchange the desk lamp in order #W1234567 for the black one with USB?"
    second = reply("Otherwise I want to return the water bottle, too.")
    assert fails(said_to(offer, wishes=(SECOND_CHOICE,)), second, 1) is UserDisclosureError
    changing = said_to(offer, wishes=(SECOND_CHOICE,), traits=("changes_mind",))
    assert fails(changing, second, 1) is None


def test_an_if_that_names_nothing_gives_nothing_away():
    for text in ("If that is not possible, tell me why.", "Otherwise I am fine.", "Return it? No."):
        assert fails(said_to("Hello!", wishes=(SECOND_CHOICE,)), reply(text), 1) is None


def test_what_the_agent_said_may_be_repeated():
    message = (
        "I can call cancel_pending_order. Before the agent changes anything, it says what exactly it will do."
    )
    for text in (
        "What is cancel_pending_order?",
        "So before the agent changes anything, it says what exactly?",
    ):
        assert fails(said_to(message), reply(text), 1) is None
    assert fails(said_to("Hello!"), reply("What is cancel_pending_order?"), 1) is UserDisclosureError


def test_values_that_only_the_shop_knows_are_made_up():
    for value in ("1111111111", "paypal_1111111", "gift_card_3333333"):
        assert fails(said_to("Which one?"), reply(f"It is {value}."), 1) is UserMadeUpError
        assert fails(said_to(f"Is it {value}?"), reply(f"It is {value}."), 1) is None


# --- How a failure is named


def test_every_kind_of_failure_is_the_users():
    def kinds(error):
        return {error, *(each for one in error.__subclasses__() for each in kinds(one))}

    assert set(USER_FAILURES) == kinds(UserReplyError)
    for kind in USER_FAILURES:
        assert failure_outside(kind.__name__) == Failure("user", kind.__name__)


def test_a_reply_is_asked_for_again_with_what_is_against_it():
    talk = said_to("Could you tell me your email address?")
    source, _ = talk.play(reply("Bye.", ended=True), reply("It is jane.roe@example.com."), at=1)

    assert len(source.asked) == 3
    assert "I want to return the desk lamp" in source.asked[-1][0][-1]["content"]
