"""The agenda user by examples of a store: yes and no, answers, what follows, when they lose patience."""

import json

import msgspec
import pytest
from sample_goals import (
    CANCEL,
    EXCHANGE,
    FORBIDDEN,
    LEXICON,
    PAYMENT,
    QUESTION,
    RETURN,
    SECOND_CHOICE,
    WISHES,
    WORDS,
    goal,
)
from samples import RETAIL

from tool_envs.errors import UsageError
from tool_envs.simulators import agenda_core as core
from tool_envs.simulators.agenda import AgendaUser
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.goal import Fact, UserGoal, Value, Wish
from tool_envs.simulators.human import HumanUser
from tool_envs.simulators.recorded import RecordedUser
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES

talk = RETAIL.talk


def acts(turn):
    return [act["act"] for act in turn.acts]


def yes(turn):
    """The arguments of a yes; None when there is none."""
    return next((act["arguments"] for act in turn.acts if act["act"] == "affirm"), None)


PROPOSAL = "Shall I cancel order #W1234567 because it is no longer needed?"
REFUSALS = RETAIL.messages["refusals"]


# -- yes and no ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "message",
    [
        "Shall I go ahead?",
        "Would you like me to proceed?",
        "Please confirm that I should proceed (yes/no).",
        "Shall I cancel it?",
        "Is that correct?",
    ],
)
def test_a_bare_question_is_answered_with_one(message):
    _, turn = talk(goal(CANCEL), message)

    assert acts(turn) == ["ask_details"]


def test_nobody_says_no_to_an_offer_of_what_the_rules_forbid():
    _, turn = talk(goal(FORBIDDEN), PROPOSAL)

    assert acts(turn) == ["wish"]


def test_a_warning_beside_a_proposal_is_no_refusal():
    message = "Please note that a cancellation cannot be undone. Would you like me to cancel the order?"

    assert acts(talk(goal(CANCEL), message)[1]) == ["ask_details"]


def test_an_answer_with_a_no_in_it_is_an_answer():
    count = Wish(kind="question", fact=Fact("count", 10, "How many kettles can I order?"))

    assert talk(goal(count), "There are 12 kettles, of which 10 are available and 2 are unavailable.")[
        1
    ].ended


def test_what_a_proposal_leaves_open_is_added_in_words():
    _, turn = talk(goal(RETURN), "Shall I return the desk lamp and the water bottle from order #W1234567?")

    assert "my PayPal account" in turn.text
    assert yes(turn)["payment_method_id"] == "paypal_1111111"


def test_a_part_of_a_list_is_completed_in_words():
    _, turn = talk(goal(RETURN), "Shall I return the desk lamp from order #W1234567 to PayPal?")

    assert "the desk lamp and the water bottle" in turn.text
    assert yes(turn)["item_ids"] == ["1111111111", "2222222222"]


def test_what_makes_no_difference_is_left_open():
    _, turn = talk(goal(EXCHANGE), "Shall I exchange the desk lamp in order #W1234567 for item 4444444444?")

    assert "payment_method_id" not in yes(turn)


def test_two_things_of_the_same_name_are_told_apart_by_their_ids():
    lamps = (Value("1111111111", ("desk lamp",)), Value("1111111112", ("desk lamp",)))
    wish = msgspec.structs.replace(RETURN, accepted=({**RETURN.accepted[0], "item_ids": ["1111111112"]},))
    wanted = msgspec.structs.replace(goal(wish), lexicon={**LEXICON, "item_ids": lamps})
    ask = "Shall I return the desk lamp (item {}) from order #W1234567 to PayPal?"

    assert yes(talk(wanted, ask.format("1111111112"))[1])["item_ids"] == ["1111111112"]
    assert yes(talk(wanted, ask.format("1111111111"))[1]) is None


# -- answers ------------------------------------------------------------------------------------------------
def test_several_questions_are_all_answered():
    _, turn = talk(goal(RETURN), "Could you please provide your name and zip code, and the order ID?")

    assert all(part in turn.text for part in ("Jane Roe", "97201", "#W1234567"))


def test_a_question_beside_a_proposal_is_answered_too():
    _, turn = talk(goal(CANCEL), f"{PROPOSAL} Also, could you please provide your email address?")

    assert yes(turn) is not None
    assert "jane.roe@example.com" in turn.text


def test_who_does_not_know_says_so():
    _, turn = talk(goal(CANCEL, knows={"name": "Jane Roe"}), "Could you please provide your email address?")

    assert turn.acts == ({"act": "unknown", "slot": "email"},)


@pytest.mark.parametrize(("means", "value"), [({}, "it was cheaper there"), ({"reason": "price"}, "price")])
def test_words_that_are_no_argument_are_told_with_what_they_mean(means, value):
    words = {"order_id": "my last order", "reason": "it was cheaper there"}
    wish = Wish(
        kind="cancel", forbidden=True, words=words, means=means, opening="Please cancel my last order."
    )
    _, first = talk(goal(wish))
    _, turn = talk(goal(wish), "Please tell me the reason.")

    assert first.acts[0]["told"]["reason"] == value
    assert turn.acts == ({"act": "inform", "slot": "reason", "value": value, "wish": 0},)
    assert "it was cheaper there" in turn.text


def test_the_reluctant_give_their_data_when_asked_again():
    user, turn = talk(goal(CANCEL, traits=("reluctant",)), "Could you please provide your email address?")

    assert acts(turn) == ["hold_back"]
    assert "jane.roe@example.com" not in turn.text
    assert "jane.roe@example.com" in user.respond("I need your email address to identify you.").text


@pytest.mark.parametrize(
    "message",
    [
        "How can I help you today?",
        "Thank you, Jane. Your identity has been verified. How can I assist you with your order today?",
        "Is there anything else I can help you with?",
        "Thank you, Jane. I have successfully located your account.",
    ],
)
def test_an_open_wish_is_said_again(message):
    _, turn = talk(goal(CANCEL), message)

    assert turn.acts == (
        {
            "act": "wish",
            "kind": "cancel",
            "tool": "cancel_pending_order",
            "wish": 0,
            "told": {"order_id": "#W1234567", "reason": "no longer needed"},
        },
    )


def test_what_is_asked_twice_is_said_once():
    message = "I still need your email address. Could you please provide your email address and the order ID?"
    _, turn = talk(goal(CANCEL), message)

    assert [act["slot"] for act in turn.acts] == ["email", "order_id"]


def test_conditions_are_said_at_once():
    _, turn = talk(goal(QUESTION, conditions={"max_characters": 300, "only_the_total": True}))

    assert "300" in turn.text
    assert "total" in turn.text.split("?")[1]


# -- what follows -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "message",
    [
        "Your order #W1234567 has been successfully cancelled. The refund takes 5 to 7 business days.",
        "I've cancelled your order. If there's anything else you need, feel free to ask!",
        "Your order #W1234567 has been cancelled. Please note that this cannot be undone. Anything else?",
        "All done! The cancellation went through. Is there anything else I can help you with?",
    ],
)
def test_a_report_ends_the_wish(message):
    _, turn = talk(goal(CANCEL), PROPOSAL, message)

    assert acts(turn) == ["thank", "bye"]
    assert turn.ended


@pytest.mark.parametrize(
    "message",
    [
        "Thank you. I will now proceed with the cancellation.",
        "One moment please, let me cancel the order for you.",
        "I'll go ahead and cancel the order. You will receive a refund of $20.00 on your PayPal account.",
    ],
)
def test_an_announcement_is_no_report(message):
    _, turn = talk(goal(CANCEL), PROPOSAL, message)

    assert acts(turn) == ["wait"]
    assert not turn.ended


def test_a_report_leads_to_the_next_wish():
    _, turn = talk(goal(CANCEL, PAYMENT), PROPOSAL, "Order #W1234567 has been cancelled. Anything else?")

    assert acts(turn) == ["thank", "wish"]
    assert PAYMENT.opening in turn.text


@pytest.mark.parametrize(
    "message",
    [
        "The total was $987.65.",
        "You paid $987.65 in total for order #W7654321. Anything else?",
        "It's 987.65 dollars.",
    ],
)
def test_an_answer_ends_a_question(message):
    _, turn = talk(goal(QUESTION), message)

    assert turn.ended


@pytest.mark.parametrize(
    "message",
    [
        "Let me look that up for you.",
        "I found your account. Could you please provide the order ID?",
        "Order #W7654321 is a delivered order.",
    ],
)
def test_a_message_without_an_answer_does_not_end_a_question(message):
    assert not talk(goal(QUESTION), message)[1].ended


@pytest.mark.parametrize("message", REFUSALS)
def test_a_no_to_a_forbidden_wish_is_accepted(message):
    _, turn = talk(goal(FORBIDDEN), message)

    assert {"act": "accept_no", "wish": 0} in turn.acts
    assert turn.ended


@pytest.mark.parametrize("message", REFUSALS)
def test_who_insists_hears_it_twice(message):
    user, turn = talk(goal(FORBIDDEN, traits=("insists",)), message)

    assert "insist" in acts(turn)
    assert "accept_no" in acts(user.respond(message))


@pytest.mark.parametrize("message", REFUSALS[:2])
def test_a_wrong_no_is_taken_after_insisting(message):
    user, turn = talk(goal(CANCEL), message)

    assert acts(turn) == ["insist", "wish"]
    assert acts(user.respond(message)) == ["accept_no", "bye"]


def test_a_no_for_want_of_data_is_a_question():
    _, turn = talk(
        goal(FORBIDDEN), "I cannot look into this without your email address. Could you provide it?"
    )

    assert acts(turn) == ["inform"]


def test_after_a_no_comes_the_second_choice():
    _, turn = talk(goal(SECOND_CHOICE), "I'm sorry, the black lamp with USB is not available.")

    assert RETURN.opening in turn.text
    assert turn.acts[0]["tool"] == RETURN.tool


def test_a_no_with_the_second_choice_offered_gets_its_yes():
    message = (
        "Unfortunately, that variant is not available. Would you like me to return the desk lamp and the "
        "water bottle from order #W1234567 to PayPal instead?"
    )
    _, turn = talk(goal(SECOND_CHOICE), message)

    assert yes(turn) == RETURN.accepted[0]
    assert "wish" in acts(turn)


def test_a_changed_mind_wants_another_accepted_value_once():
    voice = AgentVoice(RETAIL_PHRASES, 3, 1)
    paypal, card = (voice.propose(EXCHANGE.tool, each, WORDS) for each in EXCHANGE.accepted)
    user, turn = talk(goal(EXCHANGE, traits=("changes_mind",)), paypal)

    assert turn.acts == (
        {"act": "deny"},
        {"act": "correct", "slot": "payment_method_id", "value": "gift_card_3333333"},
    )
    assert acts(user.respond(paypal)) == ["deny", "correct"]
    assert "gift card" in user.respond("Anything else?").text
    assert yes(user.respond(card)) == EXCHANGE.accepted[1]


def test_a_changed_mind_differs_from_what_was_proposed():
    both = [
        {**EXCHANGE.accepted[0], "new_item_ids": [item], "payment_method_id": method}
        for item in ("4444444444", "4444444445")
        for method in ("paypal_1111111", "gift_card_3333333")
    ]
    wish = msgspec.structs.replace(EXCHANGE, accepted=tuple(both))
    for proposed in both:
        message = AgentVoice(RETAIL_PHRASES, 3, 1).propose(EXCHANGE.tool, proposed, WORDS)
        user, turn = talk(goal(wish, traits=("changes_mind",)), message)
        corrected = {act["slot"]: act["value"] for act in turn.acts if act["act"] == "correct"}
        assert acts(turn) == ["deny", "correct"]
        assert all(proposed[name] != value for name, value in corrected.items())
        wanted = AgentVoice(RETAIL_PHRASES, 3, 1).propose(EXCHANGE.tool, {**proposed, **corrected}, WORDS)
        assert yes(user.respond(wanted)) == {**proposed, **corrected}


def test_a_mind_that_has_nothing_to_change_to_stays():
    assert yes(talk(goal(CANCEL, traits=("changes_mind",)), PROPOSAL)[1]) is not None


# -- limits -------------------------------------------------------------------------------------------------
def test_what_is_not_understood_is_asked_again_and_counted():
    user, turn = talk(goal(CANCEL), "Xyzzy plugh.")

    assert acts(turn) == ["ask_again"]
    assert user.not_understood == 1
    user.respond("Frobnicate.")
    assert user.respond("Quux.").ended


def test_they_lose_patience_with_repetitions():
    _, turn = talk(goal(CANCEL), *["How can I help you?"] * core.MAX_RESTATED)

    assert turn.ended


def test_they_lose_patience_with_wrong_proposals():
    wrong = "Shall I cancel order #W7654321 because it was ordered by mistake?"

    user, turn = talk(goal(CANCEL), *[wrong] * (core.MAX_TURNED_DOWN - 1))
    assert "deny" in acts(turn)
    assert not turn.ended
    turn = user.respond(wrong)

    assert acts(turn) == ["bye"]
    assert turn.ended


def test_a_right_proposal_gives_them_patience_again():
    wrong = "Shall I cancel order #W7654321 because it was ordered by mistake?"
    some = [wrong] * (core.MAX_TURNED_DOWN - 1)

    _, turn = talk(goal(CANCEL), *some, PROPOSAL, *some)

    assert not turn.ended


def test_they_lose_patience_in_the_end():
    _, turn = talk(goal(CANCEL), *["Could you please provide your email address?"] * core.MAX_TURNS)

    assert turn.ended


def test_who_has_hung_up_says_nothing():
    user, _ = talk(goal(FORBIDDEN), REFUSALS[0])

    assert user.respond("Hello?") == msgspec.structs.replace(user.respond("Hello?"), text="", ended=True)


# -- errors -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ({"domain": "retail"}, "UserGoal"),
        (UserGoal("booking", {}, (CANCEL,)), "booking"),
        (UserGoal("retail", {}, ()), "wishes"),
        (goal(CANCEL, conditions={"rhymes": True}), "conditions"),
    ],
)
def test_a_wrong_goal_is_refused(wanted, problem):
    with pytest.raises(UsageError, match=problem):
        AgendaUser(RETAIL_PHRASES).reset(wanted, 1)


@pytest.mark.parametrize("make", [AgendaUser, HumanUser, lambda phrases: RecordedUser((), phrases)])
def test_a_goal_of_another_domain_is_refused(make):
    with pytest.raises(UsageError, match="speaks of retail, and the goal of 'moon'"):
        make(RETAIL_PHRASES).reset(UserGoal("moon", {}, (CANCEL,)), 1)


def test_without_an_episode_there_is_no_answer():
    with pytest.raises(UsageError, match="reset"):
        AgendaUser(RETAIL_PHRASES).respond("Hello?")


def test_a_goal_may_be_json():
    wanted = goal(*WISHES.values())
    plain = json.loads(msgspec.json.encode(wanted))

    assert AgendaUser(RETAIL_PHRASES).reset(plain, 5) == AgendaUser(RETAIL_PHRASES).reset(wanted, 5)
