"""The environments of issues: two rewards, their ends and failures, and what the commands make of them."""

import asyncio
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest
from issue_repositories import make_instances
from sweeping import IN_SWEEP
from typer.testing import CliRunner

from tool_envs.agents import TRIVIAL, load_agent
from tool_envs.cli.app import app
from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import DataFileError, SliceMismatchError, ToolEnvsError, UnknownNameError, UsageError
from tool_envs.evaluation import evaluate
from tool_envs.evaluation.audit import audit
from tool_envs.evaluation.compare import compare_reports
from tool_envs.evaluation.conversation import conversation_of
from tool_envs.evaluation.runs import Stage
from tool_envs.repo import grading, rewards, site
from tool_envs.repo.sandbox import SandboxError, find_sandbox
from tool_envs.rollout import Engine, Plan, ScriptedPolicy, Versions
from tool_envs.trajectory import read_trajectories, record_episode, replay
from tool_envs.trajectory.record import PolicyVersion

TESTS, SIMILARITY = "tool_envs/RepoTests-v0", "tool_envs/RepoSimilarity-v0"
AT_ONCE = 50 if IN_SWEEP else 10
SUBMIT = {"name": "submit", "arguments": {}}


def edit(path, old, new):
    return {"name": "edit", "arguments": {"path": path, "old": old, "new": new}}


HALF = edit("shapes/area.py", "width + height", "width * height")


@pytest.fixture(scope="module")
def kwargs(tmp_path_factory):
    """Arguments for two issues, whose tests run under limits alone: they are ours."""
    return make_instances(tmp_path_factory.mktemp("issues"))


def read_rows(kwargs):
    """The rows of the instances."""
    return [json.loads(line) for line in Path(kwargs["path"]).read_text().splitlines()]


@pytest.fixture
def runner(monkeypatch, kwargs, tmp_path):
    """Runs a command on an environment of these issues."""
    monkeypatch.chdir(tmp_path)
    pairs = [word for name, value in kwargs.items() for word in ("-k", f"{name}={value}")]

    def run(*words, with_kwargs=True):
        result = CliRunner().invoke(app, [*words, *(pairs if with_kwargs else [])])
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


def tasks_of(env):
    tasks = unwrap(env).domain.tasks
    return [tasks[index] for index in range(len(tasks))]


def solve(env, **options):
    """Play the oracle; the outcome."""
    env.reset(seed=0, options=options)
    inner = unwrap(env)
    while inner.outcome is None:
        env.step(inner.domain.oracle(inner.episode))
    return inner.outcome


# --- Two rewards


@pytest.mark.parametrize(("env_id", "source"), [(TESTS, "tests"), (SIMILARITY, "similarity")])
@pytest.mark.parametrize("task", ["shapes-area", "shapes-names"])
def test_the_oracle_earns_everything_by_either_reward(kwargs, env_id, source, task):
    outcome = solve(make_env(env_id, kwargs), task_id=task)

    assert (outcome.status, outcome.reward, outcome.ended_by) == ("completed", 1.0, "agent")
    assert outcome.ledger.terminal_source == source


def test_half_of_a_change_solves_nothing_and_is_half_as_similar(kwargs):
    rewards = {}
    for env_id in (TESTS, SIMILARITY):
        env = make_env(env_id, kwargs)
        env.reset(seed=0, options={"task_id": "shapes-area"})
        env.step(HALF)
        _, rewards[env_id], terminated, *_ = env.step(SUBMIT)
        assert terminated

    assert rewards[TESTS] == 0.0
    assert 0.4 < rewards[SIMILARITY] < 1.0


def test_the_oracle_goes_on_from_any_state(kwargs):
    env = make_env(TESTS, kwargs)
    env.reset(seed=0, options={"task_id": "shapes-names"})
    for name, arguments in (
        ("create_file", {"path": "shapes/polygons.py", "content": "LEAST = 4\n"}),
        ("delete_file", {"path": "shapes/names.py"}),
        ("delete_file", {"path": "README.md"}),
        ("create_file", {"path": "README.md/now/a/folder", "content": ""}),
    ):
        assert env.step({"name": name, "arguments": arguments})[4]["error_code"] is None
    inner = unwrap(env)
    while inner.outcome is None:
        env.step(inner.domain.oracle(inner.episode))

    assert inner.outcome.reward == 1.0
    assert sorted(inner.episode.database.changes()) == [
        "shapes/names.py",
        "shapes/old.py",
        "shapes/polygons.py",
    ]


def test_there_are_no_gold_actions_to_play(kwargs):
    with pytest.raises(UsageError, match="`oracle` finds those"):
        evaluate(TESTS, kwargs, load_agent("gold"))


def test_both_environments_show_an_agent_the_same(kwargs):
    seen = []
    for env_id in (TESTS, SIMILARITY):
        env = make_env(env_id, kwargs)
        seen.append([env.reset(seed=3), env.step("Is anybody there?")[0], env.step(HALF)[0]])
        seen[-1].append(unwrap(env).schema.to_openai())

    assert seen[0] == seen[1]
    assert seen[0][1]["content"].startswith("Nobody reads this.")
    assert "respond" not in [tool["function"]["name"] for tool in seen[0][3]]


def test_a_task_has_one_digest_under_both_rewards(kwargs):
    tests, similarity = (tasks_of(make_env(env_id, kwargs)) for env_id in (TESTS, SIMILARITY))

    assert [task.digest for task in tests] == [task.digest for task in similarity]


@pytest.mark.parametrize("column", ["base_commit", "patch", "test_patch", "FAIL_TO_PASS", "PASS_TO_PASS"])
def test_the_digest_of_a_task_covers_what_decides_its_rewards(kwargs, tmp_path, column):
    rows = read_rows(kwargs)
    changed = {"FAIL_TO_PASS": ["x"], "PASS_TO_PASS": [], "base_commit": "0" * 40}.get(
        column, rows[1][column]
    )
    path = tmp_path / "changed.jsonl"
    path.write_text(json.dumps({**rows[0], column: changed}) + "\n")

    before, after = (
        unwrap(make_env(TESTS, {**kwargs, "path": str(file)})).domain.tasks[0]
        for file in (kwargs["path"], path)
    )
    assert before.id == after.id
    assert before.digest != after.digest


# --- What has no reward, and failures that are none of the agent's


def without(kwargs, tmp_path, **changed):
    """Arguments for the first issue with some columns changed, and the second as it is."""
    rows = read_rows(kwargs)
    rows[0] = {name: value for name, value in {**rows[0], **changed}.items() if value is not None}
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {**kwargs, "path": str(path)}


@pytest.mark.parametrize(
    ("env_id", "changed", "why"),
    [
        (TESTS, {"FAIL_TO_PASS": None}, "no FAIL_TO_PASS"),
        (TESTS, {"PASS_TO_PASS": None}, "never guessed"),
        (SIMILARITY, {"patch": None}, "no patch"),
        (SIMILARITY, {"patch": "no diff at all"}, "no patch"),
        (SIMILARITY, {"patch": "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"}, "no patch"),
    ],
)
def test_an_instance_without_a_reward_is_no_task_and_asking_for_it_says_why(
    kwargs, tmp_path, env_id, changed, why
):
    env = make_env(env_id, without(kwargs, tmp_path, **changed))

    assert [task.id for task in tasks_of(env)] == ["shapes-names"]
    with pytest.raises(UsageError, match=f"shapes-area has no reward by .*{why}"):
        env.reset(seed=0, options={"task_id": "shapes-area"})


def test_no_task_at_all_is_refused(kwargs, tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({**read_rows(kwargs)[0], "FAIL_TO_PASS": None}))

    with pytest.raises(UsageError, match="No instance has a reward by tests"):
        make_env(TESTS, {**kwargs, "path": str(path)})


def test_instances_are_chosen_by_their_split(kwargs, tmp_path):
    of_train = without(kwargs, tmp_path, split="train")

    assert len(unwrap(make_env(TESTS, of_train)).domain.tasks) == 1
    assert len(unwrap(make_env(TESTS, {**of_train, "split": "train"})).domain.tasks) == 2


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"sandbox": "docker"}, UnknownNameError),
        ({"path": "missing.jsonl"}, DataFileError),
        ({"path": 3}, UsageError),
        ({"mirrors": 3}, UsageError),
        ({"python": 3}, UsageError),
        ({"process": "sub_goals"}, UsageError),
    ],
)
def test_wrong_arguments_are_refused(kwargs, changed, error):
    with pytest.raises(error):
        make_env(TESTS, {**kwargs, **changed})


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(["cydifflib", "re2", "unidiff", "yaml"]))
import gymnasium, tool_envs
try:
    gymnasium.make(sys.argv[1])
except tool_envs.ToolEnvsError as error:
    print(error)
"""


def test_without_the_libraries_of_the_domain_it_says_what_to_install():
    told = subprocess.run([sys.executable, "-c", WITHOUT, TESTS], capture_output=True, text=True, check=True)

    assert "pip install 'tool-envs[repo]'" in told.stdout


@pytest.fixture
def without_bubblewrap(monkeypatch, tmp_path):
    """A machine without bubblewrap."""
    find_sandbox.cache_clear()
    (tmp_path / "git").symlink_to(shutil.which("git"))
    monkeypatch.setenv("PATH", str(tmp_path))
    yield
    find_sandbox.cache_clear()


@pytest.mark.usefixtures("without_bubblewrap")
def test_without_a_sandbox_files_are_worked_on_and_only_running_fails(kwargs):
    env = make_env(TESTS, {**kwargs, "sandbox": "bubblewrap"})
    for last in ({"name": "run_tests", "arguments": {"paths": ["."]}}, SUBMIT):
        env.reset(seed=0, options={"task_id": "shapes-area"})
        assert env.step(HALF)[4]["error_code"] is None
        with pytest.raises(SandboxError):
            env.step(last)
        outcome = unwrap(env).outcome
        assert (outcome.status, outcome.reward, outcome.ended_by) == ("infrastructure", None, "SandboxError")
        assert outcome.ledger.terminal_source == "tests"


@pytest.mark.usefixtures("without_bubblewrap")
def test_a_similarity_needs_no_sandbox(kwargs):
    assert solve(make_env(SIMILARITY, {**kwargs, "sandbox": "bubblewrap"})).reward == 1.0


def test_a_repository_that_is_not_at_hand_says_what_to_provide(kwargs, tmp_path):
    env = make_env(TESTS, {**kwargs, "mirrors": str(tmp_path)})

    assert len(unwrap(env).domain.tasks) == 2
    with pytest.raises(ToolEnvsError, match="acme/shapes"):
        env.reset(seed=0)


def test_a_change_that_is_too_large_to_be_compared_cannot_be_handed_in(kwargs):
    env = make_env(SIMILARITY, kwargs)
    env.reset(seed=0)
    env.step({"name": "create_file", "arguments": {"path": "large.txt", "content": "line\n" * 100_000}})

    *_, terminated, truncated, info = env.step(SUBMIT)

    assert (info["error_code"], terminated, truncated) == ("change_too_large", False, False)


# --- Grading


def test_equal_files_of_an_instance_are_graded_once_and_others_anew(kwargs, monkeypatch):
    env, graded = make_env(TESTS, kwargs), []

    def grade_by_tests(workspace, *arguments, **options):
        graded.append(workspace.digest())
        return grading.grade_by_tests(workspace, *arguments, **options)

    monkeypatch.setattr(rewards, "grade_by_tests", grade_by_tests)
    area, names = "shapes-area", "shapes-names"
    for task, action in ((area, HALF), (area, HALF), (area, None), (names, HALF)):
        env.reset(seed=0, options={"task_id": task})
        for each in filter(None, (action, SUBMIT)):
            env.step(each)
        assert unwrap(env).outcome.reward == 0.0

    assert len(graded) == 3


def test_a_failed_sandbox_is_tried_again(kwargs, monkeypatch):
    env = make_env(TESTS, kwargs)
    with monkeypatch.context() as broken:
        broken.setattr(site.Site, "sandbox", property(lambda _: 1 / 0))
        env.reset(seed=0, options={"task_id": "shapes-area"})
        with pytest.raises(ZeroDivisionError):
            env.step(SUBMIT)

    env.reset(seed=0, options={"task_id": "shapes-area"})
    assert env.step(SUBMIT)[1:3] == (0.0, True)


def test_bubblewrap_grades_as_limits_alone_do(kwargs):
    try:
        find_sandbox("bubblewrap")
    except SandboxError as problem:
        pytest.skip(str(problem))
    env = make_env(TESTS, {**kwargs, "sandbox": "bubblewrap"})

    assert solve(env, task_id="shapes-area").reward == 1.0
    env.reset(seed=0, options={"task_id": "shapes-area"})
    assert env.step(SUBMIT)[1] == 0.0


# --- Running tests


def test_tests_are_run_on_the_files_as_they_are_and_hidden_ones_are_nowhere(kwargs):
    env = make_env(TESTS, kwargs)
    env.reset(seed=0, options={"task_id": "shapes-names"})

    def run(*paths):
        return env.step({"name": "run_tests", "arguments": {"paths": list(paths)}})[0]["content"]

    assert run(".").startswith("1 passed")
    assert run("tests/test_area.py::test_a_rectangle_without_height_has_its_width").startswith("1 passed")
    assert "test_names" not in run(".")
    env.step(edit("shapes/area.py", "width + height", "width - height"))
    failed = run("tests")
    assert failed.startswith("1 failed")
    assert failed == run("tests")
    assert "tool-envs-" not in failed


# --- Commands, records, and many episodes at once


@pytest.mark.parametrize("env_id", [TESTS, SIMILARITY])
def test_an_audit_finds_nothing(kwargs, env_id):
    findings = list(audit(env_id, kwargs, range(2)))

    assert [finding for finding in findings if finding.problems] == []
    agents = {finding.agent for finding in findings}
    assert agents >= {"oracle", *TRIVIAL}
    assert ("cheat: pass all" in agents) == (env_id == TESTS)


@pytest.mark.parametrize("env_id", [TESTS, SIMILARITY])
def test_records_replay_and_show_what_changed(kwargs, env_id):
    env = make_env(env_id, kwargs)
    solve(env, task_id="shapes-names")

    record = record_episode(env, "oracle", "1", 0)

    replay(record)
    told = conversation_of(record, Stage())
    calls = [call for message in told["messages"] for call in message.get("calls", ())]
    changed = {change["key"]: change for call in calls for change in call["changes"]}
    assert set(changed) == {"shapes/names.py", "shapes/old.py", "shapes/polygons.py"}
    assert changed["shapes/old.py"]["after"] is None
    assert told["notes"] == []


def test_the_commands_work_as_for_other_domains(runner):
    assert "shapes-area" in runner("tasks", TESTS)
    shown = runner("eval", TESTS, "--agent", "oracle", "--records", "runs")
    assert "1.000" in shown
    assert "comes from tests" in shown
    assert "2" in runner("replay", "runs", with_kwargs=False)
    shown = runner("eval", SIMILARITY, "--agent", "oracle")
    assert "mean similarity" in shown
    assert "success" not in shown
    assert "no: " not in runner("audit", SIMILARITY, "--tasks", "2")
    runner("rollout", SIMILARITY, "--policy", "oracle", "--episodes", "2", "--out", "rolled")
    assert {record.outcome.reward for record in read_trajectories("rolled")} == {1.0}


def test_the_two_rewards_are_not_compared(kwargs):
    reports = [evaluate(env_id, kwargs, load_agent("transfer")) for env_id in (TESTS, SIMILARITY)]

    with pytest.raises(
        SliceMismatchError, match=r"never stand in one table: .* from tests, .* from similarity"
    ):
        compare_reports(*reports)
    assert {"path", "mirrors", "python"}.isdisjoint(reports[0].slice.env.kwargs)


def test_vector_environments_are_made_of_both(kwargs):
    for env_id in (TESTS, SIMILARITY):
        vector = gymnasium.make_vec(env_id, num_envs=2, **kwargs)
        vector.reset(seed=0, options={"task_id": ["shapes-area", "shapes-names"]})
        _, rewards, ended, _, _ = vector.step([SUBMIT, SUBMIT])
        assert (rewards.tolist(), ended.tolist()) == ([0.0, 0.0], [True, True])
        vector.close()


def test_a_pickled_environment_carries_what_was_changed_and_no_repository(kwargs):
    env = make_env(TESTS, kwargs)
    env.reset(seed=0, options={"task_id": "shapes-area"})
    env.step(HALF)

    data = pickle.dumps(env)
    again = pickle.loads(data)  # noqa: S301 - made above

    assert len(data) < 20_000
    assert unwrap(again).data_digest() == unwrap(env).data_digest()
    assert unwrap(again).episode.database.diff() == unwrap(env).episode.database.diff()


def test_many_episodes_at_once_are_each_what_they_are_alone(tmp_path):
    kwargs = make_instances(tmp_path, copies=AT_ONCE // 2)
    agent = load_agent("oracle")
    versions = Versions(PolicyVersion(version=agent.version, number=0))
    plan = Plan(range(AT_ONCE), 1, 0)

    engine = Engine(
        TESTS,
        kwargs,
        ScriptedPolicy(agent),
        versions,
        plan,
        out=tmp_path / "run",
        concurrency=AT_ONCE,
        retries=0,
    )
    summary = asyncio.run(engine.run())

    assert (summary.episodes, summary.recorded, summary.mean_reward) == (AT_ONCE, AT_ONCE, 1.0)
    finals = {}
    for record in read_trajectories(tmp_path / "run"):
        assert record.outcome.ledger.components == {"trusted": 1.0, "fail_to_pass": 1.0, "pass_to_pass": 1.0}
        finals.setdefault(record.task.id.rpartition("-")[0] or record.task.id, set()).add(
            record.data.final_digest
        )
    assert len({digest for digests in finals.values() for digest in digests}) == 2
