"""Counts over records."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_records import played
from toy_domain import ENV_ID

from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError
from tool_envs.trajectory import Summary, Trajectory, record_episode, summarize
from tool_envs.trajectory.record import PolicyRun, PolicyVersion


def failed():
    """The record of an episode whose user failed."""
    env = make_env(ENV_ID, {"user": "dead_line"})
    env.reset(seed=1)
    with pytest.raises(InfrastructureError):
        env.step("Hello?")
    return record_episode(env, "phone", "v1", 1)


def acted(*actions, version="v1"):
    """The record of an episode that the step limit cuts after these actions."""
    env = make_env(ENV_ID, {"max_steps": len(actions)})
    env.reset(seed=1)
    for action in actions:
        env.step(action)
    return record_episode(env, "hand", version, 1)


def test_the_counts_of_episodes_that_are_known():
    gold = played("gold")
    bad = acted("{", {"name": "shout", "arguments": {}}, {"name": "shout", "arguments": {}}, version="v2")

    summary = summarize([*gold, bad, failed()])

    (gold_version,) = {record.agent.version for record in gold}
    assert summary == Summary(
        episodes=6,
        statuses={"completed": 4, "infrastructure": 1, "truncated": 1},
        environments={gold[0].env.id: 6},
        schemas={gold[0].schema.sha256: 6},
        policy_versions={f"gold {gold_version}": 4, "hand v2": 1, "phone v1": 1},
        graded=4,
        mean_rewards={"rules": 1.0},
        steps=sum(record.outcome.steps for record in gold) + 3 + failed().outcome.steps,
        tool_errors={"unknown_tool": 2, "malformed_call": 1},
    )
    assert json.loads(json.dumps(summary.to_json())) == summary.to_json()


def test_only_completed_and_graded_episodes_are_in_the_mean_of_their_kind_of_reward():
    values = [record.to_json() for record in (*played("gold"), acted("Hello?"), failed())]
    values[1]["outcome"]["reward"] = 0.0
    values[2]["outcome"]["reward"] = None  # not graded
    values[3]["outcome"]["reward"] = values[3]["outcome"]["ledger"]["terminal"] = 0.25
    values[3]["outcome"]["ledger"]["terminal_source"] = "similarity"

    summary = summarize(map(Trajectory.from_json, values))

    assert (summary.graded, summary.mean_rewards) == (3, {"rules": 0.5, "similarity": 0.25})


def test_an_episode_of_several_versions_counts_for_each():
    record = acted("Hello?", "Hello?")
    *before, second, answer = record.messages
    second = msgspec.structs.replace(second, policy_version=(PolicyRun(version="v2", count=None),))
    published = (*record.policy_versions, PolicyVersion(version="v2", number=1))
    record = msgspec.structs.replace(record, policy_versions=published, messages=(*before, second, answer))

    assert summarize([record]).policy_versions == {"hand v1": 1, "hand v2": 1}


def test_nothing_has_no_mean():
    summary = summarize([])

    assert (summary.episodes, summary.mean_rewards, summary.tool_errors) == (0, {}, {})


@given(st.permutations([*played("gold"), *played("random"), acted("{"), failed()]))
def test_the_order_of_records_does_not_matter(records):
    summary = summarize(records)

    assert json.dumps(summary.to_json()) == json.dumps(summarize(sorted(records, key=repr)).to_json())
