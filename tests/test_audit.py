"""The audit finds what must not be: an oracle that fails, a saboteur that earns, a rule that no task has."""

import dataclasses

import gymnasium
import msgspec
import pytest
from typer.testing import CliRunner

from tool_envs.agents import load_agent
from tool_envs.cli.app import app
from tool_envs.errors import UsageError
from tool_envs.evaluation import evaluate
from tool_envs.evaluation.audit import audit
from tool_envs.retail.env import RetailEnv
from tool_envs.reward import Verdict

ID = "tool_envs/Retail-v0"
TEST = {"split": "test"}


def say(text):
    return {"name": "respond", "arguments": {"content": text}}


class Lazy(RetailEnv):
    """The store with an oracle that only says hello, and a saboteur that breaks nothing."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        honest = self.domain.oracle
        self.domain = dataclasses.replace(
            self.domain, oracle=lambda _: say("Hello!"), saboteurs={"explicit_yes": honest}
        )


class Harmless(RetailEnv):
    """The store without rules: no saboteur is caught."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        grade = self.domain.grade

        def lenient(episode):
            verdict = grade(episode)
            return Verdict(msgspec.structs.replace(verdict.ledger, terminal=1.0), verdict.violations)

        self.domain = dataclasses.replace(self.domain, grade=lenient)


class Cheated(RetailEnv):
    """The store with a cheat that does the task, and one that only says hello."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        cheats = {"works": self.domain.oracle, "greets": lambda _: say("Hello!")}
        self.domain = dataclasses.replace(self.domain, cheats=cheats)


class CarelessLetters(RetailEnv):
    """Letters, by an oracle that makes up a number, with rewards of 0.0 where no rule grades."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs, family="letter")
        grade, careless = self.domain.grade, self.domain.saboteurs["no_made_up_facts"]

        def strict(episode):
            verdict = grade(episode)
            return Verdict(msgspec.structs.replace(verdict.ledger, terminal=0.0), verdict.violations)

        self.domain = dataclasses.replace(self.domain, oracle=careless, grade=strict)


gymnasium.register(id="tool_envs_tests/CarelessLetters-v0", entry_point="test_audit:CarelessLetters")
gymnasium.register(id="tool_envs_tests/Cheated-v0", entry_point="test_audit:Cheated")
gymnasium.register(id="tool_envs_tests/Lazy-v0", entry_point="test_audit:Lazy")
gymnasium.register(id="tool_envs_tests/Harmless-v0", entry_point="test_audit:Harmless")


def problems(env_id, tasks=3):
    return {finding.agent: finding.problems for finding in audit(env_id, TEST, range(tasks))}


def test_an_oracle_that_fails_is_found():
    assert len(problems("tool_envs_tests/Lazy-v0")["oracle"]) == 3


def test_a_saboteur_that_breaks_nothing_is_found():
    assert problems("tool_envs_tests/Lazy-v0")["saboteur: explicit_yes"] == ("no task has a place for it",)


def test_trivial_agents_and_saboteurs_that_earn_are_found():
    found = problems("tool_envs_tests/Harmless-v0")

    assert found["oracle"] == ()
    assert found["silent"]
    assert found["saboteur: authenticate_first"]


def test_a_cheat_that_earns_is_found():
    found = problems("tool_envs_tests/Cheated-v0", tasks=1)

    assert (len(found["cheat: works"]), found["cheat: greets"]) == (1, ())


def test_letters_with_a_reward_or_a_broken_rule_are_found():
    found = problems("tool_envs_tests/CarelessLetters-v0")

    assert all(found[agent] for agent in ("silent", "guess", "saboteur: one_customer"))
    assert all("no_made_up_facts at step 4" in problem for problem in found["oracle"])
    assert len(found["oracle"]) == 3


def test_the_command_fails_when_something_is_found():
    result = CliRunner().invoke(
        app, ["audit", "tool_envs_tests/Lazy-v0", "-k", "split=test", "--tasks", "2", "--choices", "0"]
    )

    assert result.exit_code == 1
    assert "oracle" in result.stdout


def test_the_command_lists_tasks():
    result = CliRunner().invoke(app, ["tasks", ID, "--split", "test", "--tasks", "9"])

    assert result.exit_code == 0
    assert "families: cancel 5, order_address 4" in result.stdout


def test_an_environment_without_an_oracle_cannot_be_audited():
    with pytest.raises(UsageError, match="no oracle"):
        list(audit("tool_envs/TauBench-v0", {}, range(1)))


def test_an_endless_split_needs_a_number():
    with pytest.raises(UsageError, match="Say how many"):
        evaluate(ID, TEST, load_agent("silent"))


def test_what_the_user_does_not_understand_is_counted_and_warned_of():
    result = CliRunner().invoke(app, ["eval", ID, "--split", "test", "--tasks", "3", "--agent", "silent"])

    assert "needs a user that is a language model" in result.stderr
