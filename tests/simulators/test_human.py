"""A human at the terminal: what is shown, and what acts are made of what they type."""

import pytest
from sample_goals import CANCEL, FORBIDDEN, QUESTION, RETURN, goal

from tool_envs.errors import UsageError
from tool_envs.simulators.human import HumanUser
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES

PROPOSAL = "Shall I return the desk lamp and the water bottle from order #W1234567 to PayPal?"


def human(*lines):
    """A human who types these lines, and all that they were shown."""
    typed, shown = iter(lines), []

    def read_line(prompt):
        shown.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    return HumanUser(RETAIL_PHRASES, read_line, shown.append), shown


def answer(line, message, *wishes):
    user, _ = human("Hello.", line)
    user.reset(goal(*wishes), 1)
    return user.respond(message)


def test_they_see_what_they_want_and_know():
    user, shown = human("Hi, please cancel my order.")
    turn = user.reset(goal(CANCEL, QUESTION), 1)

    assert turn.text == "Hi, please cancel my order."
    assert [act["act"] for act in turn.acts] == ["wish", "ask"]
    assert any(CANCEL.opening in line for line in shown)
    assert any("jane.roe@example.com" in line for line in shown)


def test_they_see_what_the_agent_says():
    user, shown = human("Hi.", "Hm.")
    user.reset(goal(CANCEL), 1)
    user.respond("Good day!")

    assert "agent> Good day!" in shown


def test_a_yes_is_to_what_was_proposed():
    assert answer("yes please", PROPOSAL, RETURN).acts == (
        {"act": "affirm", "tool": RETURN.tool, "arguments": RETURN.accepted[0]},
    )


def test_what_they_add_to_a_yes_counts():
    (act,) = answer("Yes, but on my gift card", PROPOSAL, RETURN).acts

    assert act["arguments"] == {**RETURN.accepted[0], "payment_method_id": "gift_card_3333333"}


def test_a_no_may_name_what_is_right():
    assert answer("No, to my gift card", PROPOSAL, RETURN).acts == (
        {"act": "deny"},
        {"act": "correct", "slot": "payment_method_id", "value": "gift_card_3333333"},
    )


def test_a_yes_to_nothing_is_none():
    assert answer("yes", "How can I help you?", RETURN).acts == ()


def test_a_refusal_that_is_not_contradicted_is_accepted():
    turn = answer("What a pity.", "I'm sorry, this order cannot be cancelled.", FORBIDDEN)

    assert turn.acts == ({"act": "accept_no", "wish": 0},)


@pytest.mark.parametrize("lines", [(), ("",), ("  ",)])
def test_an_empty_line_or_the_end_of_input_hangs_up(lines):
    user, _ = human("Hello.", *lines)
    user.reset(goal(CANCEL), 1)

    assert user.respond("Yes?").ended


def test_a_snapshot_is_enough_to_go_on():
    user, _ = human("Hello.")
    user.reset(goal(RETURN), 1)
    other, _ = human("yes")
    other.restore(user.snapshot())

    assert other.respond(PROPOSAL).acts[0]["act"] == "affirm"


def test_without_an_episode_there_is_no_answer():
    with pytest.raises(UsageError, match="reset"):
        human("yes")[0].respond("Hello?")
