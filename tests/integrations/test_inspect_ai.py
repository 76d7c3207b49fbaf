"""Inspect's own `eval` plays our slices and environments; what happened is read from its logs."""

import json
import math
import re
import subprocess
import sys
import threading
from importlib.metadata import entry_points
from pathlib import Path

import anyio
import pytest

pytest.importorskip(
    "inspect_ai", reason="needs an environment of its own: make test-integrations LIBRARIES=inspect_ai"
)

import blocking_desk
import inspect_ai
from chat_stub import completion, failure, serving
from inspect_ai.log import read_eval_log
from inspect_ai.model import get_model
from inspect_models import call, model_of, oracle, play_here, say, wild, written
from toy_domain import ENV_ID as DESK

from tool_envs.agents import load_agent
from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.evaluation.evaluate import evaluate_slice
from tool_envs.evaluation.slice_files import load_slice
from tool_envs.integrations.inspect_ai import frozen_slice, read_records, to_tool_info, unreleased_tasks
from tool_envs.schema import load_schema
from tool_envs.schema.files import shipped_files
from tool_envs.trajectory.record import ToolMessage, assistant_messages
from tool_envs.trajectory.replay import replay

SMOKE = "retail/smoke@1"
RETAIL = "tool_envs/Retail-v0"
KWARGS = {"difficulty": 1}
FEW = 3

pytestmark = pytest.mark.library("inspect-ai")


@pytest.fixture
def run(tmp_path):
    """Evaluates a task; returns the log as it was written."""

    def evaluate(task, model, **options):
        options = {"display": "none", "log_dir": str(tmp_path), **options}
        [log] = inspect_ai.eval(task, model=model, **options)
        return read_eval_log(log.location)

    return evaluate


def score_of(sample):
    [score] = sample.scores.values()
    return score


def metrics_of(log):
    [scores] = log.results.scores
    return {name: metric.value for name, metric in scores.metrics.items()}


# --- Slices


@pytest.mark.shows("a frozen slice, with its manifest in the log")
def test_a_slice_that_is_solved(run):
    frozen = load_slice(SMOKE)
    ours = evaluate_slice(frozen, load_agent("oracle"), trials=2, floors=False)

    model = oracle(frozen.env.id, frozen.env.kwargs, range(FEW), 2)
    log = run(frozen_slice(SMOKE), model, epochs=2, limit=FEW)

    assert log.status == "success"
    assert [score_of(sample).value for sample in log.samples] == [1.0] * 2 * FEW
    assert metrics_of(log) == {"mean": 1.0, "stderr": 0.0}
    assert log.eval.task_version == log.eval.metadata["digest"] == frozen.digest
    assert log.eval.metadata["schema"]["sha256"] == frozen.schema.sha256
    played = {(each.task.id, each.seed, each.outcome.steps) for each in read_records(log)}
    assert len(played) == 2 * FEW
    assert played <= {(each.task_id, each.seed, each.steps) for each in ours.results}


@pytest.mark.shows("a frozen slice, with its manifest in the log")
def test_a_slice_of_which_nothing_is_said(run):
    log = run(frozen_slice(SMOKE), model_of(lambda _: say("")), limit=FEW)

    assert log.status == "success"
    assert [score_of(sample).value for sample in log.samples] == [0.0] * FEW


@pytest.mark.shows("`inspect eval tool_envs/tasks` on the command line")
def test_the_command_line_finds_the_tasks(tmp_path):
    command = [str(Path(sys.executable).with_name("inspect")), "eval", "tool_envs/tasks"]
    command += ["-T", f"env_id={RETAIL}", "-T", "kwargs={split: test, difficulty: 2}", "-T", "count=3"]
    command += ["--model", "none/none", "--log-dir", str(tmp_path), "--display", "none"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    [log] = map(read_eval_log, tmp_path.glob("*.eval"))
    assert done.returncode == 0, done.stderr
    assert log.eval.dataset.samples == 3
    assert log.eval.metadata["env"]["kwargs"] == {"split": "test", "difficulty": 2}


def test_nothing_is_imported_before_it_is_asked_for():
    [entry] = (each for each in entry_points(group="inspect_ai") if each.name == "tool_envs")
    command = [sys.executable, "-c", "import sys, tool_envs; print('inspect_ai' in sys.modules)"]

    assert entry.value == "tool_envs.integrations.inspect_ai"
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


# --- Records


@pytest.mark.shows("records of the episodes in the log, which replay")
def test_records_replay_and_name_what_acted(run):
    log = run(
        unreleased_tasks(RETAIL, KWARGS, count=3),
        oracle(RETAIL, KWARGS, range(3)),
        temperature=0.5,
        seed=3,
    )

    records = list(read_records(log))
    for record in records:
        replay(record)
        assert record.agent.name == "mockllm/model"
        assert (record.sampling.temperature, record.sampling.top_p, record.sampling.seed) == (0.5, 1.0, 3)
        assert record.usage.agent.completion == 5 * len(list(assistant_messages(record)))
    assert [record.outcome.reward for record in records] == [1.0] * 3


@pytest.mark.shows("records of the episodes in the log, which replay")
@pytest.mark.parametrize("parallel_calls", ["run", "refuse"])
def test_whatever_a_model_does_each_call_is_answered(run, parallel_calls):
    names = list(load_schema("retail", "1.0.0").tools)
    kwargs = {**KWARGS, "parallel_calls": parallel_calls, "max_steps": 20}

    log = run(unreleased_tasks(RETAIL, kwargs, count=8), wild(names, 7), max_samples=1)

    records = list(read_records(log))
    messages = [message for record in records for message in record.messages]
    codes = {message.code for message in messages if isinstance(message, ToolMessage)}
    expected = {"several_calls"} if parallel_calls == "refuse" else set()
    assert log.status == "success", log.error
    assert codes >= {"malformed_call", "unknown_tool", "invalid_arguments"} | expected
    for record in records:
        replay(record)


def test_the_log_shows_what_was_said(run):
    _, observations = play_here(RETAIL, KWARGS, 0)

    log = run(unreleased_tasks(RETAIL, KWARGS, count=1), oracle(RETAIL, KWARGS, [0]))

    [sample] = log.samples
    env = unwrap(make_env(RETAIL, KWARGS))
    assert sample.messages[0].text == env.domain.policy_text
    assert [m.text for m in sample.messages if m.role in ("user", "tool")] == observations


# --- Users and tools that are waited for


def test_tools_that_block_run_beside_the_loop(run):
    def answer(messages):
        return call(("think", {})) if written(messages) == 0 else call(("close_desk", {}))

    blocking_desk.threads.clear()
    log = run(unreleased_tasks(blocking_desk.ENV_ID, count=2), model_of(answer))

    assert log.status == "success", log.error
    assert [sample.scores["terminal_reward"].explanation for sample in log.samples] == [
        "completed by agent after 2 steps"
    ] * 2
    assert len(blocking_desk.threads) == 2
    assert threading.main_thread() not in blocking_desk.threads


def test_a_model_plays_the_customer(run):
    def customer(request):
        is_over = b"Goodbye." in request.body
        said = {"say": "Bye." if is_over else "Hi.", "agrees_to": None, "ended": is_over}
        return completion(json.dumps(said))

    with serving(customer) as stub:
        user = {"user": "llm", "user_model": "m", "user_base_url": stub.url}
        task = unreleased_tasks(RETAIL, {**KWARGS, **user}, count=2)
        log = run(task, model_of(lambda _: say("Goodbye.")))

    outcomes = [record.outcome for record in read_records(log)]
    assert [(outcome.status, outcome.ended_by, outcome.reward) for outcome in outcomes] == [
        ("completed", "user", 0.0)
    ] * 2
    assert log.eval.metadata["simulator"]["model"]["name"] == "m"
    for record in read_records(log):
        replay(record)


# --- Tools


@pytest.mark.parametrize(
    "key", sorted(key for key in shipped_files().all_keys() if re.fullmatch(r"[a-z_]+/[0-9.]+", key))
)
def test_what_models_are_told_of_tools_is_what_the_schema_says(key):
    for tool in load_schema(*key.split("/")).to_openai():
        told = to_tool_info(tool)
        function = tool["function"]
        assert (told.name, told.description) == (function["name"], function["description"])
        without = dict(missing(function["parameters"], told.parameters.model_dump(exclude_unset=True)))
        assert set(without) <= {"minItems", "maxItems"}


def missing(schema, told):
    """The keywords of a schema that are not told, each with its value."""
    for name, value in schema.items():
        if name not in told:
            yield name, value
        elif isinstance(value, dict):
            yield from missing(value, told[name])
        elif told[name] != value:
            yield f"another {name}", value


# --- Failures and limits


def fails_for(openings):
    """A model of whose server nothing comes back in the episodes that begin so."""

    def answer(messages):
        if messages[1].text in openings:
            raise RuntimeError("The model's server is down.")
        return say("")

    return model_of(answer)


@pytest.mark.shows("an infrastructure failure as a sample's error, without a score")
def test_a_model_that_cannot_be_reached_is_an_error_and_the_others_go_on(run):
    _, [opening, *_] = play_here(RETAIL, KWARGS, 1)

    log = run(unreleased_tasks(RETAIL, KWARGS, count=3), fails_for([opening]))

    first, second, third = log.samples
    assert "The model's server is down." in second.error.message
    assert not second.scores
    assert [score_of(sample).value for sample in (first, third)] == [0.0, 0.0]
    assert log.status == "error"
    assert metrics_of(log)["mean"] == 0.0


@pytest.mark.shows("an infrastructure failure as a sample's error, without a score")
def test_a_user_whose_server_is_down_is_an_error_with_a_record(run):
    with serving([failure(500)]) as stub:
        client = {"retries": 0}
        user = {"user": "llm", "user_model": "m", "user_base_url": stub.url, "user_client": client}
        log = run(unreleased_tasks(RETAIL, {**KWARGS, **user}, count=1), model_of(lambda _: say("Hello?")))

    [sample] = log.samples
    assert "ChatStatusError" in sample.error.traceback
    assert not sample.scores


def test_a_customer_whose_line_dies(run):
    log = run(unreleased_tasks(DESK, {"user": "dead_line"}, count=1), model_of(lambda _: say("Hello?")))

    [sample], [record] = log.samples, read_records(log)
    assert "The line is dead." in sample.error.message
    assert not sample.scores
    assert (record.outcome.status, record.outcome.reward) == ("infrastructure", None)
    assert not any(message.trainable for _, message in assistant_messages(record))


def test_an_error_that_is_scored_all_the_same_is_unscored(run):
    log = run(
        unreleased_tasks(DESK, {"user": "dead_line"}, count=1),
        model_of(lambda _: say("Hello?")),
        score_on_error=True,
    )

    [sample] = log.samples
    assert sample.error
    assert math.isnan(score_of(sample).value)


def test_what_no_rule_grades_is_unscored(run):
    log = run(unreleased_tasks(RETAIL, {"family": "letter"}, count=2), model_of(lambda _: say("")))

    assert log.status == "success"
    assert all(math.isnan(score_of(sample).value) for sample in log.samples)


@pytest.mark.parametrize(
    ("limit", "kind"),
    [({"message_limit": 6}, "message"), ({"token_limit": 40}, "token"), ({"turn_limit": 3}, "turn")],
)
def test_a_budget_that_is_used_up_truncates(run, limit, kind):
    log = run(unreleased_tasks(RETAIL, KWARGS, count=1), model_of(lambda _: say("")), **limit)

    [sample], [record] = log.samples, read_records(log)
    assert sample.limit.type == kind
    assert score_of(sample).value == 0.0
    assert (record.outcome.status, record.outcome.ended_by) == ("truncated", "length")
    replay(record)


def test_time_that_is_up_is_no_reward_of_0(run):
    async def never(*_):
        await anyio.sleep_forever()

    model = get_model("mockllm/model", custom_outputs=never, memoize=False)
    log = run(unreleased_tasks(RETAIL, KWARGS, count=1), model, time_limit=1)

    [sample] = log.samples
    assert not sample.scores
    assert "stopped before it ended" in sample.error.message


@pytest.mark.parametrize(("stop", "ended_by"), [("max_tokens", "length"), ("model_length", "context")])
def test_a_turn_that_was_cut_truncates(run, stop, ended_by):
    def cut(_):
        output = say("I wi")
        output.choices[0].stop_reason = stop
        return output

    log = run(unreleased_tasks(RETAIL, KWARGS, count=1), model_of(cut))

    [sample], [record] = log.samples, read_records(log)
    assert score_of(sample).value == 0.0
    assert (record.outcome.ended_by, record.messages[-1].aside) == (ended_by, "I wi")


def test_what_is_said_by_a_call_is_said(run):
    def answer(messages):
        return call(("respond", {"content": "Who are you?"})) if written(messages) == 0 else say("Bye.")

    log = run(unreleased_tasks(RETAIL, KWARGS, count=1), model_of(answer))

    [sample], [record] = log.samples, read_records(log)
    assert record.messages[1].content == "Who are you?"
    assert (sample.messages[3].role, sample.messages[3].text) == ("tool", record.messages[2].content)


def test_arguments_that_the_library_could_not_read_are_the_agents_mistake(run):
    def answer(messages):
        broken = call(("think", {}), parse_error='Error parsing: {"thought": ')
        return broken if written(messages) == 0 else call(("close_desk", {}))

    log = run(unreleased_tasks(DESK, count=1), model_of(answer))

    [sample], [record] = log.samples, read_records(log)
    assert [getattr(message, "code", None) for message in record.messages[:3]] == [
        None,
        None,
        "malformed_call",
    ]
    assert (sample.messages[3].role, sample.messages[3].text) == ("tool", record.messages[2].content)
