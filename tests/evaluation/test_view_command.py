"""`tool-envs view`: what it writes, shows and refuses; and sessions of `play` that are kept."""

import json
import re

import msgspec
import pytest
from evaluations import SMALL
from typer.testing import CliRunner
from watched import HOSTILE, saboteur, talker, watch

from tool_envs.agents import load_agent
from tool_envs.cli.app import app
from tool_envs.errors import DataFileError
from tool_envs.evaluation import write_report
from tool_envs.trajectory import TrajectoryWriter, read_trajectories
from tool_envs.trajectory.record import assistant_messages


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TAU_BENCH_PATH", "")
    monkeypatch.chdir(tmp_path)
    return lambda *words, **rest: CliRunner().invoke(app, list(words), **rest)


@pytest.fixture
def stored(tmp_path):
    """Writes a report and the store of its records."""

    def write(name, agent, frozen=SMALL, **changes):
        report, records = watch(frozen, agent, floors=True)
        write_report(msgspec.structs.replace(report, **changes), tmp_path / f"{name}.json")
        with TrajectoryWriter(tmp_path / name, sync_every=99) as writer:
            for record in records:
                writer.append(record)
        return records

    return write


def test_a_report_becomes_one_file(run, stored, tmp_path):
    stored("a", talker(*HOSTILE))
    done = run("view", "a.json", "--records", "a", "--html", "page.html")
    assert done.exit_code == 0
    assert "6 episodes" in done.output
    data = re.findall(r'<script type="application/json" id="([^"]+)">', (tmp_path / "page.html").read_text())
    assert data == ["view", *(f"conversation-0-{place}" for place in range(6))]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "a.json", "page.html"]
    assert run("view", "a.json", "--html", "missing/page.html").exit_code == 2


def test_the_terminal_has_the_first_screen_too(run, stored):
    stored("a", saboteur("explicit_yes"), marks=("trained on retail 2.0.0",))
    shown = run("view", "a.json").output
    assert re.search(r"NOT COMPARABLE.*trained on retail 2\.0\.0", shown)
    assert re.search(r"cause of failure.*6 times: rule broken: explicit_yes; see --episode retail", shown)
    assert re.search(r"0 \*=*-*O 1", shown)
    assert "6 episodes have no record" in shown
    assert "retail/test/any/5#0" in shown


def test_one_episode_is_shown_on_the_terminal(run, stored):
    stored("a", saboteur("explicit_yes"))
    shown = run("view", "a.json", "--records", "a", "--episode", "retail/test/any/0").output
    assert "breaks the rule explicit_yes" in shown
    assert 'status: "pending" -> "cancelled"' in shown
    assert run("view", "a", "--episode", "retail/test/any/0#0").output == shown


def test_what_steers_a_terminal_is_shown_as_text(run, stored):
    stored("a", talker("\x1b[2J\x1b]0;owned\x07 [bold]x[/bold]"))
    shown = run("view", "a", "--episode", "retail/test/any/0").output
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert r"\x1b[2J\x1b]0;owned\x07 [bold]x[/bold]" in shown


def test_two_reports_are_shown_together_or_refused(run, stored, tmp_path):
    stored("a", load_agent("guess"))
    stored("b", load_agent("oracle"))
    assert "second minus first: +1.000" in run("view", "a.json", "b.json").output
    both = run("view", "a.json", "b.json", "--records", "a", "--second-records", "b", "--html", "p.html")
    assert "12 episodes" in both.output
    stored("c", load_agent("oracle"), frozen=msgspec.structs.replace(SMALL, seed=7))
    for more in ((), ("--html", "q.html")):
        refused = run("view", "a.json", "c.json", *more)
        assert refused.exit_code == 2
        assert "not comparable: seed: 0 and 7" in refused.output
    assert not (tmp_path / "q.html").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("gone.json",), "no such report"),
        (("a", "--records", "a"), "is for reports"),
        (("a.json", "--second-records", "a"), "for a second report"),
        (("a.json", "--episode", "x", "--html", "y"), "is for the terminal"),
        (("a", "--episode", "retail/test/any/9"), "Did you mean"),
        (("a.json", "--episode", "retail/test/any/0"), "no record of retail/test/any/0#0"),
        (("a", "a.json"), "by their reports"),
        (("empty.jsonl",), "holds no record"),
    ],
)
def test_what_cannot_be_shown_is_refused(run, stored, tmp_path, words, problem):
    stored("a", load_agent("guess"))
    (tmp_path / "empty.jsonl").touch()
    refused = run("view", *words)
    assert refused.exit_code == 2
    assert problem in refused.output


def test_a_session_at_the_terminal_is_kept_replayed_and_viewed(run, tmp_path):
    words = ("play", "tool_envs/Retail-v0", "-k", "split=test", "--task", "0", "--records", "mine")
    transfer = json.dumps({"name": "transfer_to_human_agents", "arguments": {"summary": "Done."}})
    done = run(*words, input=f"Please tell me your email address.\n{transfer}\n")
    assert done.exit_code == 0
    assert "recorded in mine" in done.output
    [record] = read_trajectories(tmp_path / "mine")
    assert not any(message.trainable for message in record.messages)
    assert {message.author for _, message in assistant_messages(record)} == {"human"}
    assert "1 episodes replayed" in run("replay", "mine").output
    assert "agent, step 0: Please tell me" in run("view", "mine", "--episode", "retail/test/any/0").output
    assert run(*words, input="/quit\n").exit_code == 0
    assert len(list(read_trajectories(tmp_path / "mine"))) == 1


def test_a_store_that_is_no_report_is_read_as_what_it_is(run, tmp_path):
    (tmp_path / "x.json").write_text("{}")
    refused = run("view", "x.json")
    assert refused.exit_code == 2
    with pytest.raises(DataFileError, match="no store"):
        list(read_trajectories(tmp_path))
