"""The folder of a run: what goes on in it, and what is refused."""

import asyncio
import json

import msgspec
import pytest
import toy_domain
from rollout_policies import GOLD, TASKS, Attempt, Faulty, engine, evaluated, versions
from virtual_clock import run_virtually

from tool_envs.agents import load_agent
from tool_envs.canonical import canonical_json, digest
from tool_envs.errors import DataFileError, UsageError
from tool_envs.evaluation import evaluate
from tool_envs.rollout import Engine, Plan, ScriptedPolicy, Versions
from tool_envs.trajectory import TrajectoryWriter, read_trajectories, record_episode
from tool_envs.trajectory.record import PolicyVersion

PLAN = Plan(range(TASKS), 2, seed=3)


def play(out, plan=PLAN, policy=None):
    return run_virtually(engine(policy, plan, out=out).run())


def lines(out):
    return [record.to_line() for record in read_trajectories(out)]


def manifest(out):
    return json.loads((out / "run.json").read_text())


def test_a_manifest_says_what_is_run_in_canonical_json(tmp_path):
    play(tmp_path / "x")
    play(tmp_path / "y")

    found = manifest(tmp_path / "x")
    fields = {name: value for name, value in found.items() if name != "digest"}
    assert found["digest"] == digest(fields)
    assert (tmp_path / "x" / "run.json").read_bytes() == canonical_json(found) + b"\n"
    assert manifest(tmp_path / "y") == found
    assert found["schema_sha256"] == toy_domain.load().toolkit.schema.sha256
    assert (found["policy"], found["policy_version"]) == (GOLD.name, GOLD.version)
    assert (found["tasks"], found["group_size"], found["seed"]) == (list(range(TASKS)), 2, 3)


def test_a_cancelled_run_keeps_what_ended_and_the_same_command_goes_on(tmp_path):
    scripts = {e.key: [Attempt(latency=1.0 if e.sample else 30.0)] for e in PLAN}
    policy = Faulty(scripts)

    async def cancelled():
        run = asyncio.create_task(engine(policy, PLAN, out=tmp_path).run())
        await asyncio.sleep(20)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert policy.running == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtually(cancelled())
    kept = set(lines(tmp_path))
    assert kept == evaluated([e for e in PLAN if e.sample])
    summary = play(tmp_path, policy=policy)

    assert set(lines(tmp_path)) == evaluated(PLAN)
    assert (summary.recorded, summary.resumed, summary.failed) == (2 * TASKS, TASKS, 0)
    assert policy.begun == {e.key: 1 if e.sample else 2 for e in PLAN}


def test_what_failed_is_played_by_the_next_command(tmp_path):
    (lost, *_) = PLAN
    policy = Faulty({lost.key: [Attempt("lost"), Attempt("lost"), Attempt("lost"), Attempt()]})

    first, second, third = (play(tmp_path, policy=policy) for _ in range(3))

    assert (first.recorded, first.failed, first.failed_attempts) == (7, 1, {"InfrastructureError": 3})
    assert (first.graded, first.mean_reward) == (7, 1.0)
    assert (second.recorded, second.resumed, second.failed_attempts) == (8, 7, {})
    assert (third.recorded, third.resumed) == (8, 8)
    told = [json.loads(line) for line in (tmp_path / "failures.jsonl").read_text().splitlines()]
    assert [(f["attempt"], f["is_last"], f["error"]) for f in told] == [
        (1, False, "InfrastructureError"),
        (2, False, "InfrastructureError"),
        (3, True, "InfrastructureError"),
    ]
    assert {(f["task"], f["sample"], f["seed"], f["task_id"]) for f in told} == {
        (lost.task, lost.sample, lost.seed, toy_domain.TASKS[lost.task].id)
    }
    assert {f["message"] for f in told} == {"the line is dead"}
    assert len(lines(tmp_path)) == 8


def test_a_torn_line_of_the_sidecar_is_cut_off(tmp_path):
    play(tmp_path)
    (lost, *_) = other = Plan(range(TASKS), 1)
    sidecar = tmp_path / "y" / "failures.jsonl"
    policy = Faulty({lost.key: [Attempt("lost")]})
    play(tmp_path / "y", other, policy)
    whole = sidecar.read_bytes()
    sidecar.write_bytes(whole + whole[:40])

    play(tmp_path / "y", other, policy)

    assert sidecar.read_bytes() == whole * 2


# --- Folders that are refused


def make(env_id=toy_domain.ENV_ID, kwargs=None, agent=GOLD, plan=PLAN, known=None, out=None):
    return Engine(env_id, kwargs or {}, ScriptedPolicy(agent), known or versions(agent), plan, out=out)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"plan": Plan(range(TASKS), 3, seed=3)}, "group_size: 2 there, 3 here"),
        ({"plan": Plan(range(TASKS), 2, seed=4)}, "seed: 3 there, 4 here"),
        ({"plan": Plan(range(1, TASKS), 2, seed=3)}, "tasks: an array of 4 there, an array of 3 here"),
        ({"kwargs": {"max_steps": 11}}, "kwargs.max_steps: null there, 11 here"),
        ({"agent": load_agent("silent")}, 'policy: "gold" there, "silent" here'),
        ({"agent": msgspec.structs.replace(GOLD, version="2")}, 'policy_version: .* "2" here'),
        ({"env_id": "tool_envs/TauBench-v0", "plan": Plan([0])}, "schema_sha256"),
    ],
)
def test_the_folder_of_another_run_is_refused_and_left_alone(tmp_path, other, named):
    asyncio.run(make(out=tmp_path).run())
    with (tmp_path / "segment-000001.jsonl").open("a") as torn:
        torn.write('{"half a rec')
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    with pytest.raises(UsageError, match=named):
        asyncio.run(make(**other, out=tmp_path).run())

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_policy_that_was_trained_meanwhile_may_go_on(tmp_path):
    later = Versions(PolicyVersion(version="step-3", number=3))

    asyncio.run(make(out=tmp_path).run())
    first = manifest(tmp_path)
    summary = asyncio.run(make(known=later, out=tmp_path).run())

    assert summary.resumed == len(PLAN)
    assert manifest(tmp_path) == first


def test_a_folder_with_a_live_writer_is_refused(tmp_path):
    with TrajectoryWriter(tmp_path), pytest.raises(UsageError, match=r"process .* is writing"):
        play(tmp_path)


def test_a_store_that_no_run_made_is_refused(tmp_path):
    with TrajectoryWriter(tmp_path) as writer:
        evaluate(
            toy_domain.ENV_ID,
            {},
            GOLD,
            tasks=[0],
            on_episode=lambda env, r: writer.append(record_episode(env, GOLD.name, GOLD.version, r.seed)),
        )

    with pytest.raises(UsageError, match="no run made it"):
        play(tmp_path)


def test_a_record_of_no_episode_of_the_run_is_refused(tmp_path):
    play(tmp_path)
    stray = msgspec.structs.replace(next(read_trajectories(tmp_path)), seed=12345)
    with TrajectoryWriter(tmp_path) as writer:
        writer.append(stray)

    with pytest.raises(DataFileError, match="seed 12345: not of its run"):
        play(tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text.replace('"seed":3', '"seed":4'), "its digest is another one"),
        (lambda text: text.replace("1.0.0", "9.0.0"), "expected a manifest of the format"),
        (lambda text: text[:50], "no manifest of a run"),
        (lambda _: "[]", "expected a manifest of the format"),
    ],
)
def test_a_manifest_that_was_changed_is_refused(tmp_path, change, problem):
    play(tmp_path)
    file = tmp_path / "run.json"
    file.write_text(change(file.read_text()))

    with pytest.raises(DataFileError, match=problem):
        play(tmp_path)
