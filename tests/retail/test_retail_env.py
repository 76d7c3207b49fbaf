"""`Retail-v0`: rewards on every path, what they say about themselves, and who may see what."""

import gymnasium
import pytest

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.errors import UnknownNameError, UsageError

ID = "tool_envs/Retail-v0"


def make(**kwargs):
    return gymnasium.make(ID, **{"split": "test", **kwargs}).unwrapped


def play(env, index, change=lambda action: action):
    """The oracle's episode, each action passed through `change`; returns all rewards."""
    env.reset(seed=0, options={"task_index": index})
    rewards = []
    while env.outcome is None:
        rewards.append(env.step(change(env.domain.oracle(env.episode)))[1])
    return rewards


def first(env, fits):
    """Index of the first task that fits."""
    return next(index for index in range(500) if fits(env.domain.tasks[index]))


def replace_words(action, new):
    if action["name"] != "respond":
        return action
    return {"name": "respond", "arguments": {"content": new(action["arguments"]["content"])}}


def test_the_reward_is_at_the_end_and_one_or_nothing():
    env = make()
    for index in range(20):
        *before, last = play(env, index)

        assert set(before) <= {0.0}
        assert last == 1.0


def test_an_end_state_that_is_not_accepted_earns_nothing():
    env = make(difficulty=1)
    index = first(env, lambda task: task.family == "cancel")
    env.reset(seed=0, options={"task_index": index})
    while env.outcome is None:
        action = env.domain.oracle(env.episode)
        env.step("Done. Is there anything else?" if action["name"].startswith("cancel") else action)

    assert env.outcome.ledger.components["end_state"] == 0.0
    assert env.explain()["end_state"]["missing"]


@pytest.mark.parametrize("answer", ["I do not know.", "It is $99,999.99."])
def test_a_question_without_the_right_answer_earns_nothing(answer):
    env = make(difficulty=1)
    index = first(env, lambda task: bool(task.facts))
    fact = env.domain.tasks[index].facts[0]
    play(env, index, lambda action: replace_words(action, lambda text: answer if fact in text else text))

    assert env.outcome.reward == 0.0
    assert env.outcome.ledger.components["facts_told"] == 0.0
    assert env.explain()["not_told"]


def test_an_answer_that_was_not_looked_up_earns_nothing():
    env = make(difficulty=1)
    index = first(env, lambda task: bool(task.facts))
    env.reset(seed=0, options={"task_index": index})
    while env.outcome is None:
        env.step(env.task.facts[0])

    assert env.outcome.ledger.components["facts_told"] == 0.0


def test_a_refusal_without_a_look_earns_nothing():
    env = make(difficulty=1)
    index = first(env, lambda task: task.family == "forbidden")
    env.reset(seed=0, options={"task_index": index})
    while env.outcome is None:
        env.step("I am sorry, but I cannot do that. Is there anything else I can help you with?")

    assert env.outcome.ledger.components["told_no"] == 0.0


def test_answers_longer_than_the_customer_wants_earn_nothing():
    env = make(difficulty=5)
    index = first(env, lambda task: "max_characters" in task.goal.conditions)
    play(env, index, lambda action: replace_words(action, lambda text: text + " " * 900 + "."))

    assert env.outcome.ledger.components["conditions"] == 0.0


def test_other_figures_than_the_total_earn_nothing():
    env = make(difficulty=5)
    index = first(env, lambda task: "only_the_total" in task.goal.conditions)
    play(env, index, lambda action: replace_words(action, lambda text: f"{text} ($1.11 and $2.22)"))

    assert env.outcome.ledger.components["conditions"] == 0.0


def test_contractions_earn_nothing_where_the_customer_wants_none():
    env = make(difficulty=5)
    index = first(env, lambda task: "formal" in task.goal.conditions)
    play(env, index, lambda action: replace_words(action, lambda text: f"{text} I'm here."))

    assert env.outcome.ledger.components["conditions"] == 0.0


def test_another_language_earns_nothing_where_the_customer_wants_english():
    env = make(difficulty=5)
    index = first(env, lambda task: "language" in task.goal.conditions)
    play(
        env,
        index,
        lambda action: replace_words(action, lambda text: f"{text} \u8ba2\u5355"),
    )

    assert env.outcome.ledger.components["conditions"] == 0.0


def test_process_rewards_are_apart_and_add_up():
    env = make(process="sub_goals")
    for index in range(10):
        env.reset(seed=0, options={"task_index": index})
        steps = []
        while env.outcome is None:
            _, reward, _, _, info = env.step(env.domain.oracle(env.episode))
            steps.append(info["process_reward"])

        assert sum(steps) == pytest.approx(1.0)
        assert env.outcome.ledger.process == pytest.approx(1.0)
        assert reward == env.outcome.ledger.terminal == 1.0


def test_process_rewards_are_off_by_default():
    env = make()
    play(env, 0)

    assert env.outcome.ledger.process is None


def test_explain_says_whether_a_reason_was_named():
    env = make(difficulty=1)
    index = first(env, lambda task: task.family == "forbidden")
    play(env, index)

    assert env.explain()["reasons_named"] == {"0": True}


def test_the_ledger_names_rule_and_step():
    env = make(difficulty=1)
    index = first(env, lambda task: task.family == "return")
    env.reset(seed=0, options={"task_index": index})
    steps = 0
    while env.outcome is None:
        action = env.domain.saboteurs["explicit_yes"](env.episode)
        written = steps if action["name"].startswith("return") else None
        step = written if written is not None else locals().get("step")
        env.step(action)
        steps += 1

    assert env.outcome.violations == [{"rule": "explicit_yes", "step": step}]
    assert env.outcome.reward == 0.0


def test_task_ids():
    env = make(difficulty=2)

    assert env.task_ids("train", 2) == ["retail/train/2/0", "retail/train/2/1"]
    with pytest.raises(UnknownNameError):
        env.task_ids("dev", 1)


@pytest.mark.parametrize(
    ("kwargs", "problem"),
    [
        ({"schema_version": "9.9.9"}, "9.9.9"),
        ({"split": "dev"}, "split"),
        ({"difficulty": 6}, "difficulty"),
        ({"user": "llm"}, "user"),
        ({"customers": 0}, "customers"),
    ],
)
def test_unknown_arguments(kwargs, problem):
    with pytest.raises(UsageError, match=problem):
        make(**kwargs)


def test_the_policy_says_every_rule():
    env = make()
    _, info = env.reset(seed=0)

    assert all(
        word in info["domain_policy"] for word in ("find_user_id_by_email", "no longer needed", "gift card")
    )


def test_the_yes_of_a_recorded_user_counts():
    env = make(difficulty=1, user="replay")
    index = first(env, lambda task: task.family == "user_address")
    task = env.domain.tasks[index]
    read, write = task.actions[-2:]
    parts = (write.arguments[name] for name in ("address1", "address2", "city", "state", "zip", "country"))
    turns = ["I have moved.", task.goal.knows["email"], "Yes, please.", "Thanks, bye."]
    env.reset(seed=0, options={"task_index": index, "user_turns": turns})
    for action in [
        "Could you tell me your email address?",
        {"name": "find_user_id_by_email", "arguments": {"email": task.goal.knows["email"]}},
        {"name": read.name, "arguments": read.arguments},
        f"Shall I change the address in your profile to {', '.join(filter(None, parts))}?",
        {"name": write.name, "arguments": write.arguments},
        "It is done. Anything else?",
        "Goodbye.",
    ]:
        env.step(action)

    assert env.outcome.reward == 1.0, env.explain()


def test_a_replay_user_says_what_they_are_told():
    env = make(user="replay")
    observation, _ = env.reset(seed=0, options={"user_turns": ["Hi", "Bye"]})

    assert observation["content"] == "Hi"
    assert env.step("Hello")[0]["content"] == "Bye"
    assert env.step("Hello")[2]
