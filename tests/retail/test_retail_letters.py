"""Letters: what is asked for, what the oracle writes, and that nothing of it moves a rate or another task."""

from collections import Counter
from string import Formatter

import gymnasium
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tool_envs  # noqa: F401 - registers the ids
from tool_envs import compliance
from tool_envs.agents import TRIVIAL, load_agent, play
from tool_envs.credit import group_advantages, step_values
from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.evaluation import evaluate
from tool_envs.evaluation.audit import audit
from tool_envs.retail.data import retail_base
from tool_envs.retail.desk import RETAIL_DESK, RETAIL_GRADER
from tool_envs.retail.letters import FORMS
from tool_envs.retail.tasks import retail_tasks
from tool_envs.retail.wishes import FAMILIES
from tool_envs.service.desk import goal_of
from tool_envs.service.tasks import DIFFICULTIES, SPLITS
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.letters import LETTER, is_letter, letter_of
from tool_envs.simulators.phrasing import has_contraction
from tool_envs.simulators.retail_openings import LETTER_OPENINGS
from tool_envs.simulators.understanding import read
from tool_envs.trajectory import record_episode
from tool_envs.trajectory.stats import summarize

ID = "tool_envs/Retail-v0"
BASE = retail_base()
LANGUAGE = RETAIL_DESK.phrases.language
VERSIONS = ("1.0.0", "1.1.0", "2.0.0")
ASKED = "Please write me a letter"

difficulties = st.sampled_from(DIFFICULTIES)
indexes = st.integers(0, 5000)


def make(**kwargs):
    return gymnasium.make(ID, **{"split": "test", "family": LETTER, **kwargs}).unwrapped


def letters(split="test", difficulty=None):
    return retail_tasks(BASE, split, difficulty, family=LETTER)


def play_oracle(env, index, change=lambda action: action):
    env.reset(seed=0, options={"task_index": index})
    while env.outcome is None:
        env.step(change(env.domain.oracle(env.episode)))
    return env.outcome


def play_agent(env, name, index=0):
    observation, _ = env.reset(seed=0, options={"task_index": index})
    assert play(env, load_agent(name), observation, 0)
    return env.outcome


def read_plainly(text):
    return read(text, LANGUAGE, {})


# --- The tasks


@given(split=st.sampled_from(SPLITS), difficulty=difficulties, index=indexes)
def test_every_wish_is_for_a_letter_about_an_order_of_its_own(split, difficulty, index):
    task = letters(split, difficulty)[index]
    wishes = goal_of(task).wishes
    orders = [wish.evidence[0] for wish in wishes]

    assert (task.family, task.graded) == (LETTER, False)
    assert all(letter_of(wish).kind in FORMS for wish in wishes)
    assert len(set(orders)) == len(orders)
    assert all(letter_of(wish).tells[0].value == wish.evidence[0] for wish in wishes)


def test_all_kinds_are_asked_for_about_as_often():
    wishes = [wish for index in range(600) for wish in goal_of(letters()[index]).wishes]
    counts = Counter(letter_of(wish).kind for wish in wishes)

    assert counts.keys() == FORMS.keys()
    assert min(counts.values()) > 0.25 * counts.total()


def test_tasks_are_different_and_those_of_train_are_other_peoples():
    made = {split: [letters(split)[index] for index in range(300)] for split in SPLITS}
    people = [{str(sorted(goal_of(task).knows.items())) for task in tasks} for tasks in made.values()]

    assert all(len({task.digest for task in tasks}) > 285 for tasks in made.values())
    assert not people[0] & people[1]


def test_a_letter_is_found_by_its_id_and_is_no_task_of_the_others():
    made = letters(difficulty=2)
    task = made[7]

    assert task.id == "retail/test/2/letter/7"
    assert made.find(task.id) is task
    with pytest.raises(UnknownNameError):
        retail_tasks(BASE, "test", 2).find(task.id)


def test_the_ids_of_another_split_are_those_of_letters():
    env = make(difficulty=1)

    assert env.task_ids("train", 1) == ["retail/train/1/letter/0"]


def test_a_goal_is_a_json_value():
    goal = goal_of(letters()[4])

    assert msgspec.convert(msgspec.to_builtins(goal), UserGoal) == goal


GOLDEN = {
    None: "6901d68a31448142 a748c4c5248af0c0 523158dc47112e07 fba5de0e03ac4f02 9b769134d0d5bbf8",
    LETTER: "31136a038174594a a7e4fa0a01b9c209 3de5b05b2a8aa339 ccbb95c4ae15d52a a1daf6f48df984f1",
}


@pytest.mark.parametrize("family", GOLDEN)
def test_tasks_stay_as_they_are(family):
    tasks = retail_tasks(BASE, "test", None, family=family)

    assert " ".join(tasks[index].digest[:16] for index in (0, 1, 7, 8, 10)) == GOLDEN[family]


def test_letters_come_only_where_they_are_asked_for():
    tasks = retail_tasks(BASE, "train", None)

    assert {tasks[index].family for index in range(500)} == set(FAMILIES)
    assert all(tasks[index].graded for index in range(50))


def test_any_family_can_be_asked_for():
    env = make(family="cancel", difficulty=3)

    assert {wish.kind for wish in goal_of(env.domain.tasks[0]).wishes} == {"cancel"}
    assert play_oracle(env, 0).reward == 1.0
    with pytest.raises(UnknownNameError, match="family"):
        make(family="poem")


@pytest.mark.parametrize("kind", FORMS)
def test_there_are_ten_ways_to_ask_for_a_letter(kind):
    pool = LETTER_OPENINGS[kind]
    wanted = {"order", "items"} if kind == "refusal" else {"order"}

    assert len(set(pool)) == len(pool) >= 10
    assert not any(has_contraction(opening) for opening in pool)
    for opening in pool:
        assert "letter" in opening
        assert {field for _, field, _, _ in Formatter().parse(opening) if field} == wanted


# --- What users take for a letter

BODY = (
    "Your return of the Desk Lamp was refused, because order #W1234567 has not been delivered yet, and only "
)
BODY += "items of a delivered order can be returned. "
LONG = BODY + "We looked at your order again today and saw that it is still on its way to you at this time."
TAKEN = [
    f"Dear Ms. Li,\n\n{BODY}\n\nKind regards,\nCustomer Service",
    f"Dear Ms. Li, {BODY} Sincerely, the store",
    f"Here you are:\n\n**Your order**\n\n{BODY}\n\nBest wishes\nthe store\n\nShall I change anything?",
    f"Dear Ms. Li,\n\n{LONG}",
    f"Dear Ms. Li,\n\nI will say it plainly: it cannot be returned. {LONG}",
    f"Your order #W1234567 holds a Desk Lamp for $45.00, {'a Kettle for $25.50, ' * 9} in all $70.50 or so.",
]
NOT_TAKEN = [
    "",
    "Kind regards",
    "Your order is delivered and you paid $45.00.",
    "I am sorry, but I cannot help you with that.",
    "Dear customer, could you please tell me your email address, so that I can find your order and write it? "
    "I need it to look up what you ordered, what it cost, and how it was sent, before I can write to you.",
    "I cannot write letters, and it is not possible to make an exception. " * 4,
    "One moment please, I will look up the order, its items and its prices, and then write to you. " * 3,
    "I am transferring you to a human agent, who writes letters all day long and does so very well. " * 3,
]


@pytest.mark.parametrize("text", TAKEN)
def test_a_letter_is_taken_for_one(text):
    assert is_letter(text, read_plainly(text))


@pytest.mark.parametrize("text", NOT_TAKEN)
def test_what_is_no_letter_is_not(text):
    assert not is_letter(text, read_plainly(text))


@given(text=st.text() | st.text(alphabet=" \n.>*dearsincerely"))
def test_any_text_is_a_letter_or_not(text):
    assert is_letter(text, read_plainly(text)) in (True, False)


def after_messages(*texts):
    env = make(difficulty=1)
    observation, _ = env.reset(seed=0, options={"task_index": 0})
    assert "letter" in observation["content"]
    for text in texts:
        observation, *_ = env.step({"name": "respond", "arguments": {"content": text}})
    return env, observation["content"]


def test_a_user_thanks_for_a_letter_and_goes():
    env, _ = after_messages(TAKEN[0])

    assert env.outcome.ended_by == "user"
    assert [act["act"] for act in env.episode.history[-1].acts] == ["thank", "bye"]


def test_a_user_asks_again_for_a_letter_when_there_is_none():
    env, answer = after_messages("Your order is delivered. You paid $45.00 for it.")

    assert env.outcome is None
    assert "letter" in answer


def test_a_user_insists_once_and_takes_a_no():
    env, _ = after_messages("I cannot do that.", "I cannot do that.")

    assert [act["act"] for act in env.episode.history[-1].acts] == ["accept_no", "bye"]


# --- What the oracle writes


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_oracle_writes_what_was_asked_for(version, difficulty):
    env = make(schema_version=version, difficulty=difficulty)
    for index in range(25):
        outcome = play_oracle(env, index)
        goal, wrote = goal_of(env.task), env.episode.said
        taken = [text for text in wrote if is_letter(text, read_plainly(text))]

        assert (outcome.status, outcome.ended_by, outcome.violations) == ("completed", "user", [])
        assert outcome.not_understood == 0
        assert len(taken) == len(goal.wishes)
        for text, wish in zip(taken, goal.wishes, strict=True):
            assert [fact for fact in letter_of(wish).tells if not is_told(fact, text)] == []
        assert RETAIL_GRADER._conditions(goal, env_progress(env)) in ({}, {"conditions": True})


def env_progress(env):
    return RETAIL_GRADER._read(env.episode)[1]


def is_told(fact, text):
    return RETAIL_DESK.facts.is_told(fact.type, fact.value, [text], RETAIL_DESK.words.get(fact.type, ()))


def test_the_oracle_tells_what_it_looked_up():
    env = make(difficulty=1)
    env.reset(seed=0, options={"task_index": 0})
    while "get_order_details" not in str(env.episode.history[-1]):
        env.step(env.domain.oracle(env.episode))
    seen = env.episode.history[-1]
    other = seen.content.replace(env.task.facts[0], "#W9999999")
    env.episode.history[-1] = msgspec.structs.replace(seen, content=other)

    assert "#W9999999" in env.domain.oracle(env.episode)["arguments"]["content"]


# --- No rule grades it


@pytest.mark.parametrize("name", ["oracle", "gold", *TRIVIAL])
def test_nobody_has_a_reward(name):
    env = make(difficulty=1)
    outcome = play_agent(env, name)

    assert outcome.reward is outcome.ledger.terminal is None
    assert outcome.ledger.components == {}


def test_the_reward_of_gymnasium_is_zero_and_the_outcome_says_none():
    env = make(difficulty=1)
    env.reset(seed=0, options={"task_index": 0})
    step = env.step(env.domain.oracle(env.episode))
    while not (step[2] or step[3]):
        step = env.step(env.domain.oracle(env.episode))

    assert (step[1], type(step[1])) == (0.0, float)
    assert step[4]["outcome"]["reward"] is None
    assert step[4]["outcome"]["ledger"]["terminal"] is None


def test_a_letter_that_takes_too_long_has_no_reward_either():
    env = make(max_steps=2)
    outcome = play_oracle(env, 0)

    assert (outcome.status, outcome.reward) == ("truncated", None)


def test_a_letter_that_a_caller_cuts_has_no_reward_either():
    env = make()
    env.reset(seed=0)

    assert env.truncate("context").reward is None


def test_what_is_graded_is_zero_when_it_takes_too_long():
    env = make(family=None, max_steps=2)

    assert play_oracle(env, 0).reward == 0.0


def test_broken_rules_are_recorded():
    env = make(difficulty=1)
    for rule in ("authenticate_first", "one_customer", "no_made_up_facts"):
        env.reset(seed=0, options={"task_index": 0})
        while env.outcome is None:
            env.step(env.domain.saboteurs[rule](env.episode))

        assert {found["rule"] for found in env.outcome.violations} == {rule}
        assert env.outcome.reward is None


def test_it_stands_outside_of_every_rate():
    env = gymnasium.make(ID, split="test", family=LETTER)
    records = []

    def note(inner, result):
        records.append(record_episode(inner, "oracle", "1", result.seed))

    report = evaluate(ID, dict(env.spec.kwargs), load_agent("oracle"), tasks=[0, 1, 2], on_episode=note)

    assert (report.scores.episodes, report.scores.graded) == (3, 0)
    assert report.scores.success_rate is None
    assert report.scores.causes == report.scores.by_family == {}
    counted = summarize(records)
    assert (counted.episodes, counted.graded, counted.mean_rewards) == (3, 0, {})
    assert group_advantages(records[:1] * 3) == (None, None, None)
    values = step_values(env, records[0], load_agent("oracle"), 1, 0)
    assert {value.advantage for value in values} == {None}


def test_sub_goals_are_the_look_up_and_a_letter():
    env = make(process="sub_goals", difficulty=1)

    assert play_oracle(env, 0).ledger.process == pytest.approx(1.0)
    assert play_agent(env, "refuse").ledger.process == 0.0
    wordless = play_oracle(
        env, 0, lambda a: a if "Dear" not in str(a) else {**a, "arguments": {"content": "No."}}
    )
    assert wordless.ledger.process == pytest.approx(2 / 3)


def test_explain_takes_letters():
    env = make()
    play_oracle(env, 0)

    assert env.explain()["not_told"] == []
    assert env.explain()["components"] == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_audit(version):
    found = list(
        audit(ID, {"split": "test", "family": LETTER, "schema_version": version}, range(10), choices=9)
    )

    assert [finding.problems for finding in found] == [()] * len(found)
    assert {finding.graded for finding in found} == {0}


@pytest.mark.parametrize("check", compliance.CHECKS)
def test_compliance(check):
    compliance.CHECKS[check](ID, {"family": LETTER})


def test_lanes_side_by_side():
    envs = gymnasium.make_vec(ID, num_envs=2, split="test", family=LETTER, max_steps=1)
    envs.reset(seed=0)
    _, rewards, _, truncated, infos = envs.step(["Hello", "Hello"])

    assert rewards.tolist() == [0.0, 0.0]
    assert np.all(truncated)
    assert list(infos["outcome"]["reward"]) == [None, None]
    envs.close()


def test_there_is_no_array_view_of_letters():
    with pytest.raises(UsageError, match="array"):
        gymnasium.make("tool_envs/RetailArray-v0", family=LETTER)
    with pytest.raises(UsageError):
        gymnasium.make_vec("tool_envs/RetailArray-v0", num_envs=2, family=LETTER)
