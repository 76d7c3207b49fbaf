"""Runs that are looked at: which records are of which episodes, what calls changed, why a reward is 0."""

import itertools
import json

import msgspec
import pytest
import toy_domain
from evaluations import SMALL
from hypothesis import given
from strategies import json_values
from watched import HOSTILE, talker, watch

from tool_envs.agents import Agent, load_agent
from tool_envs.database import Database
from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, ReplayMismatchError
from tool_envs.evaluation import evaluate
from tool_envs.evaluation.changes import Change, answered_calls, changes_of
from tool_envs.evaluation.conversation import conversation_of
from tool_envs.evaluation.episodes import result_of_record
from tool_envs.evaluation.runs import Stage, run_of_records, run_of_report
from tool_envs.evaluation.slice import freeze
from tool_envs.reward import Ledger, Outcome
from tool_envs.simulators import AgendaUser
from tool_envs.trajectory import record_episode

DOMAINS = {
    "retail": ("tool_envs/Retail-v0", {"split": "test"}),
    "retail 2.0.0": ("tool_envs/Retail-v0", {"split": "test", "schema_version": "2.0.0"}),
    "booking": ("tool_envs/Booking-v0", {"split": "test"}),
    "tau-bench": ("tool_envs/TauBench-v0", {"split": "test"}),
    "toy": (toy_domain.ENV_ID, {}),
}


@pytest.fixture(params=DOMAINS)
def played(request, monkeypatch):
    """The episodes of an agent that solves them: result, record, domain, changed records."""
    monkeypatch.setenv("TAU_BENCH_PATH", "")
    env_id, kwargs = DOMAINS[request.param]
    with make_env(env_id, kwargs) as env:
        name = "oracle" if unwrap(env).domain.oracle else "gold"
        count = min(48, len(unwrap(env).domain.tasks))  # of every family of ours
    agent, found = load_agent(name), []

    def note(env, result):
        record = record_episode(env, agent.name, agent.version, result.seed)
        found.append((result, record, env.domain, env.episode.database.snapshot()))

    evaluate(env_id, kwargs, agent, tasks=range(0, count, max(1, count // 12)), on_episode=note)
    return found


# --- Runs


def test_a_record_tells_how_its_episode_went(played):
    stage = Stage()
    for result, record, _, _ in played:
        assert result_of_record(record, stage.find_task(record)) == result


@pytest.mark.parametrize("agent", [load_agent("guess"), load_agent("random"), talker("Hello.", *HOSTILE)])
def test_so_do_records_of_mistakes(agent):
    report, records = watch(SMALL, agent, trials=2)
    assert run_of_records(records, Stage()).results == report.results


def test_so_do_records_of_users_who_failed(monkeypatch):
    usual, calls = AgendaUser.respond, itertools.count()

    def respond(user, text):
        if next(calls) % 5 == 3:
            raise InfrastructureError("The model server is down.")
        return usual(user, text)

    monkeypatch.setattr(AgendaUser, "respond", respond)
    report, records = watch(SMALL, load_agent("oracle"), trials=2)
    assert {result.status for result in report.results} == {"completed", "infrastructure"}
    assert run_of_records(records, Stage()).results == report.results


def test_of_a_user_who_was_never_met_nothing_is_counted():
    _, [record, *_] = watch(SMALL, load_agent("guess"))
    ledger = Ledger(terminal=None)
    outcome = Outcome(status="infrastructure", reward=None, ledger=ledger, ended_by="ChatError", steps=0)
    unmet = msgspec.structs.replace(record, messages=(), outcome=outcome)
    [result] = run_of_records([unmet], Stage()).results
    assert (result.said, result.steps, result.failure.cause) == (0, 0, "ChatError")
    assert conversation_of(unmet, Stage())["messages"] == []


def test_records_find_the_episodes_of_their_report():
    report, records = watch(SMALL, load_agent("guess"), trials=2)
    assert run_of_report(report, reversed(records)).records == dict(enumerate(records))
    later = msgspec.structs.replace(records[0], costs={"agent": 1.0, "user": 0.0})
    assert run_of_report(report, [*records, later]).records[0] == later


@pytest.mark.parametrize(
    "change",
    [
        lambda record: msgspec.structs.replace(record, seed=record.seed + 1),
        lambda record: msgspec.structs.replace(
            record, task=msgspec.structs.replace(record.task, digest="0" * 64)
        ),
        lambda record: msgspec.structs.replace(record, grader_digest="another"),
        lambda record: msgspec.structs.replace(
            record, agent=msgspec.structs.replace(record.agent, name="another")
        ),
        lambda record: msgspec.structs.replace(
            record, schema=msgspec.structs.replace(record.schema, version="9")
        ),
        lambda record: msgspec.structs.replace(
            record, data=msgspec.structs.replace(record.data, base_digest="x")
        ),
        lambda record: msgspec.structs.replace(
            record, env=msgspec.structs.replace(record.env, kwargs={"max_steps": 3})
        ),
    ],
)
def test_records_of_other_episodes_are_left_out_and_counted(change):
    report, records = watch(SMALL, load_agent("guess"))
    run = run_of_report(report, [*records[1:], change(records[0])])
    assert sorted(run.records) == [1, 2, 3, 4, 5]
    assert "1 episodes have no record" in run.notes[0]
    assert "1 records are of no episode of this report" in run.notes[1]


def test_a_store_of_several_agents_and_schemas_is_marked():
    records = [watch(SMALL, load_agent(name))[1][0] for name in ("guess", "silent")]
    kwargs = {"split": "test", "schema_version": "2.0.0"}
    newer = freeze("retail/other", "tool_envs/Retail-v0", kwargs, [0])
    records += watch(newer, load_agent("guess"))[1]
    marks = run_of_records(records, Stage()).marks
    assert any("2 agents" in mark for mark in marks)
    assert any("2 schemas: retail 1.0.0, retail 2.0.0" in mark for mark in marks)
    assert run_of_records(records[:1], Stage()).marks == ()


def test_a_record_whose_environment_is_not_here_is_shown_as_it_stands():
    _, [record, *_] = watch(SMALL, load_agent("guess"))
    stranger = msgspec.structs.replace(
        record, env=msgspec.structs.replace(record.env, id="nowhere:nowhere/Gone-v0")
    )
    [result] = run_of_records([stranger], Stage()).results
    told = conversation_of(stranger, Stage())
    assert (result.family, result.reward) == ("", 0.0)
    assert told["messages"] == conversation_of(record, Stage())["messages"]
    assert all("nowhere" in note for note in told["notes"])
    assert len(told["notes"]) == 2


# --- Changes of the database


def test_changes_lead_from_the_base_data_to_the_end(played):
    for _, record, domain, end in played:
        start, final = Database(domain.base), Database(domain.base)
        final.restore(end)
        known = {}
        for changes in changes_of(domain, record).values():
            for change in changes:
                place = (change.table, change.key)
                assert change.before == known.get(place, domain.record_json(start, *place))
                assert change.after != change.before
                known[place] = change.after
        assert known.keys() <= end.keys()
        assert {place: domain.record_json(final, *place) for place in end} == {
            place: known.get(place, domain.record_json(start, *place)) for place in end
        }


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_a_change_is_what_the_write_answered(version):
    """The store's writes answer with a record that they changed, under the names of the schema version."""
    kwargs = {"split": "test", "schema_version": version}
    frozen = freeze("retail/other", "tool_envs/Retail-v0", kwargs, range(0, 45, 4))
    stage, tables = Stage(), set()
    for record in watch(frozen, load_agent("oracle"))[1]:
        changes = changes_of(unwrap(stage.env_of(record)).domain, record)
        for index, place, _, answer in answered_calls(record.messages):
            if (index, place) in changes:
                shown = json.loads(answer.content)
                [table] = [change.table for change in changes[index, place] if change.after == shown]
                tables.add(table)
    assert tables == {"orders", "customers"}


def test_writes_are_seen(played):
    assert any(changes_of(domain, record) for _, record, domain, _ in played)


@given(json_values, json_values)
def test_differences_are_the_places_that_differ(before, after):
    found = Change("t", "k", before, after).differences
    if None in (before, after):
        return
    assert (found == []) == (json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True))
    assert all(each.before != each.after for each in found)


def test_differences_name_their_places():
    before = {"status": "pending", "items": [{"price": 1}, {"price": 2}], "gone": None}
    after = {"status": "pending", "items": [{"price": 1}, {"price": 2.0}, 3]}
    found = Change("orders", "1", before, after).differences
    assert [(each.path, each.before, each.after) for each in found] == [
        ("items/1/price", "2", "2.0"),
        ("items/2", None, "3"),
        ("gone", "null", None),
    ]


def test_other_tools_data_or_answers_show_no_changes():
    _, records = watch(SMALL, load_agent("oracle"))
    record, domain = records[0], unwrap(Stage().env_of(records[0])).domain
    assert changes_of(domain, record)
    text = record.to_line()
    for old, new, what in (
        (record.schema.sha256, "0" * 64, "tools"),
        (record.data.base_digest, "0" * 64, "data"),
        (r"\"status\":\"cancelled\"", r"\"status\":\"returned\"", "answer of message"),
    ):
        assert old in text
        other = type(record).from_json(json.loads(text.replace(old, new)))
        with pytest.raises(ReplayMismatchError, match=what):
            changes_of(domain, other)
        assert what in conversation_of(other, Stage())["notes"][0]


def test_calls_that_were_not_run_change_nothing():
    def policy(_env, _observation, _key):
        cancel = {"order_id": "#W3186590", "reason": "ordered by mistake"}
        yield [
            {"name": "transfer_to_human_agents", "arguments": {"summary": "Over."}},
            {"name": "cancel_pending_order", "arguments": cancel},
        ]

    _, records = watch(SMALL, Agent("hasty", "tests", policy))
    told = conversation_of(records[0], Stage())
    assert [call["code"] for call in told["messages"][1]["calls"]] == [None, "not_run"]
    assert [call["changes"] for call in told["messages"][1]["calls"]] == [[], []]
    assert told["notes"] == []


# --- Why


def test_a_reward_of_0_is_explained():
    _, records = watch(SMALL, load_agent("guess"))
    told = conversation_of(records[2], Stage())
    assert told["notes"] == []
    assert told["why"]["end_state"]["missing"]
    assert "unwanted" not in told["why"]["end_state"]  # nothing is, so nothing is said of it
    assert "components" not in told["why"]


def test_a_reward_of_1_needs_no_explanation():
    _, records = watch(SMALL, load_agent("oracle"))
    assert conversation_of(records[0], Stage())["why"] is None


def test_nobody_is_asked_to_play_the_user_again(monkeypatch):
    _, [record, *_] = watch(SMALL, load_agent("guess"))
    kwargs = {**record.env.kwargs, "user": "human"}
    by_hand = msgspec.structs.replace(record, env=msgspec.structs.replace(record.env, kwargs=kwargs))
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("somebody was asked"))
    assert "does not answer by itself" in conversation_of(by_hand, Stage())["notes"][0]
