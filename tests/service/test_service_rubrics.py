"""The own rubrics of tasks: the oracle meets them, who shirks or breaks a rule does not, and they stay."""

from pathlib import Path
from typing import NamedTuple

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import outputs
from service.rubric_checks import failed
from service_domains import SUBJECTS, VERSIONS

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.agents import TRIVIAL, load_agent, play
from tool_envs.canonical import digest
from tool_envs.errors import UnknownNameError
from tool_envs.rules import events, succeeded
from tool_envs.service.desk import goal_of
from tool_envs.service.progress import alternatives
from tool_envs.service.tasks import DIFFICULTIES
from tool_envs.simulators.letters import LETTER, facts_of, letter_of


class Kind(NamedTuple):
    """Tasks to look at: of which domain, and of which family."""

    domain: str
    kwargs: dict

    def make(self, **kwargs):
        return gymnasium.make(SUBJECTS[self.domain].env_id, split="test", **self.kwargs, **kwargs).unwrapped


KINDS = {
    "retail": Kind("retail", {}),
    "letter": Kind("retail", {"family": LETTER}),
    "booking": Kind("booking", {}),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_version = pytest.mark.parametrize("version", VERSIONS)
difficulties = st.sampled_from(DIFFICULTIES)
indexes = st.integers(0, 2000)


def play_solver(env, index, solver=None):
    env.reset(seed=0, options={"task_index": index})
    while env.outcome is None:
        env.step((solver or env.domain.oracle)(env.episode))
    return env.domain.rubric(env.task, "filter")


def turns_of(env):
    """Task indexes in which each family of wishes comes up twice."""
    return range(2 * len({env.domain.tasks[index].family for index in range(60)}))


# --- Who meets them


@each_kind
@each_version
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_oracle_meets_every_checkpoint_with_the_expected_tools(kind, version, difficulty):
    env = kind.make(schema_version=version, difficulty=difficulty)
    for index in turns_of(env):
        rubric = play_solver(env, index)
        called = {event.call.name for _, event in events(env.episode.history) if succeeded(event)}

        assert failed(env, rubric) == [], env.task.id
        assert set(rubric["expected_tools"]) <= called


@each_kind
@pytest.mark.parametrize("name", TRIVIAL)
def test_a_trivial_agent_fails_what_is_looked_up_done_or_said(kind, name):
    env = kind.make()
    for index in turns_of(env):
        observation, _ = env.reset(seed=0, options={"task_index": index})
        play(env, load_agent(name), observation, index)
        missed = failed(env, env.domain.rubric(env.task, "filter"))

        assert [point for point in missed if point.startswith("wish_")], env.task.id


@each_kind
@each_version
def test_a_saboteur_fails_the_checkpoint_of_its_rule(kind, version):
    env = kind.make(schema_version=version)
    for rule, solver in env.domain.saboteurs.items():
        for index in turns_of(env):
            rubric = play_solver(env, index, solver)
            broken = {found["rule"] for found in env.outcome.violations}

            assert broken <= {rule}
            assert (f"rule_{rule}" in failed(env, rubric)) == bool(broken)


@pytest.mark.parametrize("kind", [KINDS["retail"], KINDS["booking"]], ids=["retail", "booking"])
def test_a_write_on_another_record_fails(kind):
    env = kind.make(difficulty=1)
    desk = SUBJECTS[kind.domain].grader.desk
    tried = 0
    for index in range(60):
        rubric = play_solver(env, index)
        wished = [point for point in rubric["checkpoints"] if point["id"].endswith("_done")]
        for point in wished:
            for wanted in point["check"].get("arguments", ()):
                if desk.record in wanted:
                    wanted[desk.record] = "another"
                    tried += 1

            assert (point["id"] in failed(env, rubric)) == ("another" in str(point["check"]))
    assert tried > 10


@pytest.mark.parametrize("family", ["items", "return"])
def test_items_may_be_named_in_any_order(family):
    env = KINDS["retail"].make(difficulty=1, family=family)
    turned = 0

    def turn(episode):
        action = env.domain.oracle(episode)
        lists = {name: value[::-1] for name, value in action["arguments"].items() if name.endswith("_ids")}
        return {**action, "arguments": action["arguments"] | lists}

    for index in range(20):
        rubric = play_solver(env, index, turn)
        turned += any(len(call.arguments.get("item_ids", ())) > 1 for call in env.task.actions)

        assert failed(env, rubric) == []
    assert turned > 3


def test_other_items_fail():
    env = KINDS["retail"].make(difficulty=1, family="return")
    rubric = play_solver(env, 0)
    (done,) = (point for point in rubric["checkpoints"] if point["id"].endswith("_done"))
    for wanted in done["check"]["arguments"]:
        wanted["item_ids"] = ["0000000000"]

    assert failed(env, rubric) == [done["id"]]


# --- What stands in them


@each_kind
@given(difficulty=difficulties, index=indexes)
def test_a_filter_has_what_a_filter_needs(kind, difficulty, index):
    domain = kind.make(difficulty=difficulty).domain
    desk, task = SUBJECTS[kind.domain].grader.desk, domain.tasks[index]
    rubric = domain.rubric(task, "filter")
    ids = [point["id"] for point in rubric["checkpoints"]]

    assert (rubric["kind"], rubric["name"], rubric["items"]) == ("filter", task.id, [])
    assert len(set(ids)) == len(ids)
    assert {f"rule_{rule.id}" for rule in desk.rules} <= set(ids)
    assert set(rubric["expected_tools"]) == {call.name for call in task.actions}
    for number, wish in enumerate(goal_of(task).wishes, 1):
        own = [name for name in ids if name.startswith(f"wish_{number}_")]
        assert ("refused" in str(own)) == wish.forbidden
        assert str(own).count("_told_") == len(facts_of(wish))
        assert ("_looked_up_" in str(own)) >= any(desk.record in each for each in wish.accepted)
        assert ("_done" in str(own)) == any(each.tool and not each.forbidden for each in alternatives(wish))


@each_kind
@given(difficulty=difficulties, index=indexes)
def test_no_text_names_an_id_that_is_not_needed(kind, difficulty, index):
    domain = kind.make(difficulty=difficulty).domain
    desk, task = SUBJECTS[kind.domain].grader.desk, domain.tasks[index]
    wishes = [each for wish in goal_of(task).wishes for each in alternatives(wish)]
    said = [text for wish in wishes for text in (wish.opening, wish.fact.question if wish.fact else "")]
    records = [str(each[desk.record]) for wish in wishes for each in wish.accepted if desk.record in each]
    needed = ids_in(desk, [*said, *records, *task.facts])

    for rubric in filter(None, (domain.rubric(task, "filter"), domain.rubric(task, "reward"))):
        assert ids_in(desk, texts_of(rubric)) <= needed


def ids_in(desk, texts):
    return {one for text in texts for one in desk.facts.values_in(text, "id")}


def texts_of(rubric):
    parts = [*rubric["items"], *rubric.get("checkpoints", ())]
    return [*rubric.get("success_criteria", ()), *(part["text"] for part in parts)]


@given(difficulty=difficulties, index=indexes)
def test_the_items_of_a_letter_are_its_facts_and_what_must_not_be_promised(difficulty, index):
    domain = KINDS["letter"].make(difficulty=difficulty).domain
    task = domain.tasks[index]
    rubric = domain.rubric(task, "reward")
    items = {item["id"]: item["text"] for item in rubric["items"]}
    letters = [letter_of(wish) for wish in goal_of(task).wishes]

    assert (rubric["kind"], "checkpoints" in rubric) == ("reward", False)
    assert len(items) == len(rubric["items"])
    assert {item["group"] for item in rubric["items"]} == {"task"}
    assert sum("_fact_" in name for name in items) == len(task.facts) == sum(len(it.tells) for it in letters)
    assert all(any(fact in text for text in items.values()) for fact in task.facts)
    assert sum("_no_" in name for name in items) == len(letters)
    assert sum(name.startswith("demand_") for name in items) == len(goal_of(task).conditions)


@pytest.mark.parametrize("name", SUBJECTS)
def test_what_rules_grade_has_no_rubric_for_rewards(name):
    domain = KINDS[name].make().domain

    assert domain.rubric(domain.tasks[0], "reward") is None
    with pytest.raises(UnknownNameError, match="rubric"):
        domain.rubric(domain.tasks[0], "taste")


@each_kind
@each_version
def test_checks_name_what_the_version_has(kind, version):
    domain = kind.make(schema_version=version, difficulty=1).domain
    tools, named = domain.toolkit.schema.tools, set()
    for index in range(60):
        for point in domain.rubric(domain.tasks[index], "filter")["checkpoints"]:
            if "tool" in point["check"]:
                tool = tools[point["check"]["tool"]]
                for arguments in point["check"].get("arguments", ()):
                    assert arguments.keys() <= tool.parameters["properties"].keys()
                    named |= arguments.keys()

    assert ("postal_code" in named) == (kind == KINDS["retail"] and version == "2.0.0")


# --- They stay the same, and nobody is shown them


GOLDEN = {"retail": "f4e0b13fa7dbd51a", "letter": "56d001610ec35e99", "booking": "30c76470a1aa1fc9"}


def digest_of(name, version="1.0.0"):
    domain = KINDS[name].make(schema_version=version).domain
    tasks = [domain.tasks[index] for index in range(30)]
    return digest([domain.rubric(task, kind) for task in tasks for kind in ("filter", "reward")])[:16]


@pytest.mark.parametrize("name", GOLDEN)
def test_rubrics_stay_as_they_are(name):
    assert digest_of(name) == GOLDEN[name]


def test_rubrics_are_the_same_in_every_process():
    code = (
        "import sys; sys.path += [sys.argv[1], sys.argv[1] + '/..'];"
        "from test_service_rubrics import digest_of; print(digest_of('retail'))"
    )

    assert outputs(code, Path(__file__).parent) == {f"{digest_of('retail')}\n".encode()}


@each_kind
def test_nothing_that_an_agent_sees_tells_of_a_rubric(kind):
    env = kind.make()
    observation, info = env.reset(seed=0)
    shown = [observation, info]
    while env.outcome is None:
        shown.append(env.step(env.domain.oracle(env.episode)))
    rubric = env.domain.rubric(env.task, "filter")

    assert not any(text in str(shown) for text in rubric["success_criteria"])
    assert "checkpoints" not in str(shown)
