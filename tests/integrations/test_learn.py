"""The benchmark of learning: its controls hide what they should, and it writes down what it measures."""

import csv
import itertools
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib", reason="needs an environment of its own: make test-integrations")
pytest.importorskip("matplotlib", reason="needs an environment of its own: make test-integrations")

import learn

SCRIPT = Path(learn.__file__)
LANES = 4


def test_it_writes_down_curves(tmp_path):
    out = tmp_path / "curves"
    command = [sys.executable, SCRIPT, "--reference", "--lanes", "8", "--minutes", "0.1", "--trials", "2"]
    command += ["--episodes", "8", "--learner", "ppo", "sb3", "--out", out]

    for seed in ("1", "2"):
        subprocess.run([*command, "--seeds", seed], check=True, capture_output=True)

    rows = list(csv.DictReader(out.with_suffix(".csv").read_text(encoding="utf-8").splitlines()))
    assert tuple(rows[0]) == learn.COLUMNS
    runs = [list(run) for _, run in itertools.groupby(rows, lambda row: (row["learner"], row["seed"]))]
    assert [(run[0]["learner"], run[0]["seed"]) for run in runs] == [
        (learner, seed) for seed in "12" for learner in ("ppo", "sb3")
    ]
    for first, *later in runs:
        assert (first["choices"], first["minutes"]) == ("0", "0.000")
        assert 1 <= len(later) <= 2  # an update may take so long that two trials fall together
        counts = [int(row["choices"]) for row in (first, *later)]
        assert counts == sorted(set(counts))
        assert float(later[-1]["minutes"]) >= 0.1
        assert all(0 <= float(row["test_success"]) <= 1 for row in (first, *later))
        assert "--learner ppo sb3" in first["command"]
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_it_learns_from_words_alone(tmp_path):
    """A minute instead of ten: far more held-out tasks than by chance, and without words next to none."""
    out = tmp_path / "proof"
    command = [sys.executable, SCRIPT, "--control", "none", "blanked", "--minutes", "1", "--trials", "1"]
    command += ["--train-tasks", "4096", "--test-tasks", "512", "--episodes", "1024", "--out", out]

    subprocess.run(command, check=True, capture_output=True)

    rows = list(csv.DictReader(out.with_suffix(".csv").read_text(encoding="utf-8").splitlines()))
    success = [(row["control"], float(row["test_success"])) for row in rows]
    (_, random), (_, learned), (_, _), (_, unheard) = success
    assert [control for control, _ in success] == ["none", "none", "blanked", "blanked"]
    assert 5e-4 < random < 5e-2
    assert learned > 0.6
    assert unheard < 0.05


def test_controls_are_for_the_compiled_stepper():
    command = [sys.executable, SCRIPT, "--reference", "--control", "blanked"]

    said = subprocess.run(command, capture_output=True, text=True, check=False)

    assert said.returncode == 2
    assert "knows no controls" in said.stderr
