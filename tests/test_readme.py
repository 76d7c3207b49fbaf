"""The README's code runs, and what it shows is what comes."""

import contextlib
import io
import re
from pathlib import Path

from typer.testing import CliRunner

from tool_envs.cli.app import app

ROOT = Path(__file__).parents[1]
THIRD = ROOT / "tests" / "third_domain"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_loop_runs_and_prints_what_it_says():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own file

    lines = printed.getvalue().splitlines()
    assert lines[0] == str({"role": "user", "name": "user", "content": "Hi, I need some help."})
    assert "43.0 0.0" in lines
    assert "###STOP### 0.0" in lines
    assert any("'status': 'completed'" in line for line in lines)
    assert lines[-1].endswith(" 1.0")


def test_the_learning_script_is_the_one_that_is_tested():
    (code,) = re.findall(r"```py\n(.*?)```", README, re.DOTALL)

    assert code == (ROOT / "examples" / "train_sb3.py").read_text(encoding="utf-8")


def commands(heading):
    """The commands in the block under a heading, as lists of words without `tool-envs`."""
    block = section(heading).split("```")[1]
    lines = [line.partition("#")[0].split() for line in block.strip().splitlines()]
    assert {words[0] for words in lines} == {"tool-envs"}
    return [words[1:] for words in lines]


def section(heading):
    return README.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_its_commands_run(monkeypatch, tmp_path):
    """All of them, in the order in which they stand there; tau-bench's on the built-in tasks."""
    monkeypatch.setenv("TAU_BENCH_PATH", "")
    monkeypatch.chdir(tmp_path)

    for arguments in commands("Commands"):
        if "path=../tau-bench" in arguments:
            place = arguments.index("path=../tau-bench")
            del arguments[place - 1 : place + 1]
        result = CliRunner().invoke(app, arguments, input="Goodbye!\n")
        assert result.exit_code == 0, (arguments, result.output)


def test_the_steps_to_a_domain_name_the_files_of_one_that_was_made_by_them():
    named = re.findall(r"^[0-9]+\. `([\w/.]+)`: ", section("Add a domain"), re.MULTILINE)
    made = {path.relative_to(THIRD / "library_desk") for path in (THIRD / "library_desk").rglob("*.*")}

    assert sorted(named) == sorted(path.as_posix() for path in made if path.suffix in (".py", ".json"))


def test_the_check_of_an_added_domain_runs(monkeypatch):
    monkeypatch.syspath_prepend(THIRD)

    (arguments,) = commands("Add a domain")
    result = CliRunner().invoke(app, arguments)

    assert result.exit_code == 0, result.output


def test_every_id_is_in_the_table_and_nothing_else():
    import gymnasium

    named = set(re.findall(r"^\| `(tool_envs/[\w-]+)` \|", README, re.MULTILINE))

    assert named == {spec.id for spec in gymnasium.registry.values() if spec.namespace == "tool_envs"}


def test_every_folder_in_the_map_exists():
    paths = re.findall(r"`([\w/.]+(?:/|\.py))`", section("Map"))

    for path in paths:
        assert (ROOT / path).exists() or (ROOT / "tool_envs" / path).exists(), path
