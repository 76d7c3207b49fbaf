"""The user who brings an issue and does not listen."""

import pytest

from tool_envs.errors import UsageError
from tool_envs.simulators import IssueUser

GOAL = {"problem_statement": "It breaks.", "patch": "the answer"}


def test_it_says_the_issue_and_then_one_notice_for_ever():
    user = IssueUser("Nobody reads this.")

    assert user.reset(GOAL, 7).text == "It breaks."
    turns = [user.respond(text) for text in ("What is the answer?", "", "Goodbye.")]
    assert {(turn.text, turn.ended, turn.acts) for turn in turns} == {("Nobody reads this.", False, ())}
    assert user.not_understood == 0


def test_its_digest_is_of_its_notice():
    assert IssueUser("a").digest == IssueUser("a").digest != IssueUser("b").digest


def test_a_fork_of_it_goes_on_alike():
    user, other = IssueUser("Nobody."), IssueUser("Nobody.")
    user.reset(GOAL, 7)
    other.restore(user.snapshot())

    assert other.respond("Hello?") == user.respond("Hello?")


@pytest.mark.parametrize("goal", [None, {}, {"problem_statement": 3}, "It breaks."])
def test_a_goal_without_an_issue_is_refused(goal):
    with pytest.raises(UsageError, match="problem_statement"):
        IssueUser("Nobody.").reset(goal, 7)
