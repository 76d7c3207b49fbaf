"""A domain of customer service made outside of the package, of public pieces only, is a whole environment."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tool_envs import compliance
from tool_envs.agents import TRIVIAL
from tool_envs.evaluation.audit import audit

PLACE = Path(__file__).parent / "third_domain"
FILES = sorted(PLACE.rglob("*.py"))
ENV_ID = "library_desk:library_tests/Library-v0"
OURS = ("retail", "booking", "tau")

EPISODE = """
import gymnasium
import library_desk

env = gymnasium.make(library_desk.ENV_ID, split="test").unwrapped
env.reset(seed=0)
while env.outcome is None:
    env.step(env.domain.oracle(env.episode))
print(library_desk.__file__, env.outcome.reward)
"""


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(PLACE)


@pytest.mark.parametrize("check", compliance.CHECKS)
def test_it_passes_every_check(check):
    compliance.CHECKS[check](ENV_ID, {})


def test_its_oracle_solves_all_no_trivial_agent_any_and_every_rule_counts():
    from library_desk.rules import RULES

    found = {finding.agent: finding.problems for finding in audit(ENV_ID, {"split": "test"}, range(20))}

    assert found == dict.fromkeys(["oracle", *TRIVIAL, *(f"saboteur: {rule.id}" for rule in RULES)], ())


def test_it_runs_in_a_fresh_interpreter_from_a_copy_outside_of_the_repository(tmp_path):
    shutil.copytree(PLACE / "library_desk", tmp_path / "library_desk")

    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", EPISODE],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        timeout=120,
    )

    assert ran.stderr == ""
    assert ran.stdout.split() == [str(tmp_path / "library_desk" / "__init__.py"), "1.0"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_it_takes_public_names_only_and_none_of_another_domain(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))

    assert [name for name in names_taken(tree) if is_private(name) or is_of_a_domain_of_ours(name)] == []


@pytest.mark.parametrize(
    "source",
    [
        "from tool_envs.facts import _amounts",
        "import tool_envs._facts",
        "from tool_envs.retail.data import retail_base",
        "from tool_envs.simulators import booking_language",
        "clerk._phrases",
    ],
)
def test_what_it_must_not_take_is_found(source):
    assert any(is_private(name) or is_of_a_domain_of_ours(name) for name in names_taken(ast.parse(source)))


def names_taken(tree):
    """What a file imports from `tool_envs`, in full, and the attributes of others that it uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") != "self":
            yield node.attr


def is_private(name):
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def is_of_a_domain_of_ours(name):
    return name.startswith("tool_envs.") and any(part.startswith(OURS) for part in name.split("."))
