"""The report's page: the value that it shows, and that nothing gets out of its data."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import msgspec
import pytest
from evaluations import SMALL, SMOKE, reports
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values
from watched import HOSTILE, saboteur, talker, watch

from tool_envs.agents import load_agent
from tool_envs.errors import SliceMismatchError, UsageError
from tool_envs.evaluation.conversation import conversation_of
from tool_envs.evaluation.page import as_data, page_of
from tool_envs.evaluation.runs import Stage, run_of_records, run_of_report
from tool_envs.evaluation.view import view_of

ANYTHING = st.text(st.characters(codec=None)) | st.sampled_from(HOSTILE)

_MARKUP = r"(inner|outer)HTML|insertAdjacent|document\.write|eval\(|Function\("
"""How scripts read markup or code."""


@given(reports())
def test_the_view_says_what_the_report_says(report):
    [shown] = view_of(run_of_report(report))["runs"]
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["score"] == msgspec.to_builtins(report.scores.success_rate)
    assert [cause["cause"] for cause in shown["causes"]] == list(report.scores.causes)[:3]
    for cause in shown["causes"]:
        assert cause["count"] == report.scores.causes[cause["cause"]]
        assert shown["episodes"][cause["episode"]]["cause"] == cause["cause"]
    assert [episode["reward"] for episode in shown["episodes"]] == [r.reward for r in report.results]
    assert shown["marks"] == list(report.marks)
    assert {group["name"] for group in shown["families"]} == set(report.scores.by_family)
    assert [point["k"] for point in shown["pass_hat"]] == list(report.scores.pass_hat)


def test_a_planted_cause_comes_first_and_leads_to_where_it_happened():
    report, records = watch(SMOKE, saboteur("explicit_yes", 0.7, rest="silent"))
    run = run_of_report(report, records)
    [shown] = view_of(run)["runs"]
    assert shown["causes"][0]["cause"] == "rule broken: explicit_yes"
    assert len(shown["causes"]) > 1
    told = conversation_of(run.records[shown["causes"][0]["episode"]], Stage())
    [breach, *_] = told["outcome"]["violations"]
    [step] = [message for message in told["messages"] if message.get("step") == breach["step"]]
    assert "explicit_yes" in step["broken"]
    assert any(call["changes"] for call in step["calls"])


def test_of_a_cause_an_episode_with_a_record_is_shown():
    report, records = watch(SMALL, load_agent("guess"))
    [shown] = view_of(run_of_report(report, records[3:]))["runs"]
    assert shown["causes"][0]["episode"] == 3


@given(reports(name="old"), reports(name="new"))
def test_two_runs_stand_side_by_side_task_by_task(first, second):
    shown = view_of(run_of_report(first), run_of_report(second))
    tasks = shown["comparison"]["tasks"]
    assert sorted(task["task"] for task in tasks) == sorted(task.id for task in SMALL.tasks)
    for task in tasks:
        for run, places in zip(shown["runs"], task["episodes"], strict=True):
            assert all(run["episodes"][place]["task"] == task["task"] for place in places)
    both = [task for task in tasks if None not in (task["first"], task["second"])]
    changes = [task["second"] - task["first"] for task in both]
    moved = [change for change in changes if change]
    assert moved == sorted(moved)
    assert changes[: len(moved)] == moved


def test_what_is_not_comparable_is_refused():
    report, records = watch(SMALL, load_agent("guess"))
    fewer = msgspec.structs.replace(SMALL, tasks=SMALL.tasks[:5])
    other, _ = watch(fewer, load_agent("guess"))
    with pytest.raises(SliceMismatchError, match=r"not comparable: .*tasks"):
        view_of(run_of_report(report), run_of_report(other))
    with pytest.raises(UsageError, match="by their reports"):
        view_of(run_of_report(report), run_of_records(records, Stage()))


def test_every_message_of_a_record_is_shown_once():
    for agent in (load_agent("oracle"), talker(*HOSTILE)):
        for record in watch(SMALL, agent)[1]:
            told = conversation_of(record, Stage())["messages"]
            answers = sum(call["answer"] is not None for message in told for call in message.get("calls", ()))
            assert len(told) + answers == len(record.messages)


# --- The page


class Elements(HTMLParser):
    """What a parser of HTML finds: scripts with their texts, the policy, the title, and all tags."""

    def __init__(self, page):
        super().__init__()
        self.scripts, self.tags, self.policy, self._open = [], [], "", None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self._open = tag
        attributes = dict(attributes)
        if tag == "script":
            self.scripts.append([attributes, ""])
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]

    def handle_endtag(self, _tag):
        self._open = None

    def handle_data(self, data):
        if self._open == "script":
            self.scripts[-1][1] += data


TAGS = Elements(page_of({"title": ""}, [])).tags


@given(json_values)
def test_data_come_back_from_their_text(value):
    text = as_data(value)
    assert text.isascii()
    assert "<" not in text
    assert json.dumps(json.loads(text)) == json.dumps(value)


@given(ANYTHING, st.lists(ANYTHING, min_size=1, max_size=3))
def test_no_text_gets_out_of_the_data(title, texts):
    page = Elements(page_of({"title": title, "x": texts}, [dict(enumerate({"text": t} for t in texts))]))
    data = [element for element in page.scripts if element[0].get("type") == "application/json"]
    assert json.loads(data[0][1]) == {"title": title, "x": texts}
    assert [json.loads(text)["text"] for _, text in data[1:]] == texts
    assert page.tags == [*TAGS[:-1], *["script"] * len(texts), TAGS[-1]]


def test_only_the_script_of_the_page_may_run():
    page = Elements(page_of({"title": "x"}, []))
    [script] = [text for attributes, text in page.scripts if not attributes]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.policy
    assert page.policy.startswith("default-src 'none'")
    assert "unsafe" not in page.policy


def test_the_page_names_no_place_outside_and_reads_no_markup():
    parts = [file.read_text() for file in (files("tool_envs.evaluation") / "page").iterdir()]
    assert len(parts) == 8
    for part in parts:
        places = set(re.findall(r"https?://[^\"']+|url\([^)]*\)|@import", part))
        assert places <= {"http://www.w3.org/2000/svg"}  # the name of a vocabulary, never fetched
        assert not re.search(
            r"inner" r"HTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(", part
        )
