"""The benchmark of learning: its controls hide what they should, and it writes down what it measures."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs an environment of its own: make test-integrations")
pytest.importorskip("matplotlib", reason="needs an environment of its own: make test-integrations")

import gymnasium
import learn
from by_hand import ENV_ID, make_vec, sample_possible
from gymnasium.vector import AutoresetMode

SCRIPT = Path(learn.__file__)
LANES = 4

kinds = pytest.mark.parametrize("kind", ["features", "tables"])
modes = pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])


def both(control, kind, mode):
    """The environment under a control, and as it is."""
    where = learn.said(ENV_ID, observation=kind)
    make = {"observation": kind, "mode": mode, "max_steps": 9}
    return learn.CONTROLS[control](make_vec(LANES, **make), where), make_vec(LANES, **make), where


def steps(first, second, count=150):
    """What both show, in the same episodes: observations, and last observations of episodes by lane."""
    (one, _), (other, _) = first.reset(seed=0), second.reset(seed=0)
    yield one, other, []
    for _ in range(count):
        each = [{name: values[lane] for name, values in other.items()} for lane in range(LANES)]
        actions = np.array([sample_possible(first.single_action_space, seen) for seen in each])
        (one, *_, infos), (other, *_, others) = first.step(actions), second.step(actions)
        ended = np.flatnonzero(infos.get("_final_obs", ()))
        ends = [(infos["final_obs"][lane], others["final_obs"][lane]) for lane in ended]
        yield one, other, ends


@kinds
@modes
def test_blanked_shows_all_but_what_was_said(kind, mode):
    controlled, plain, where = both("blanked", kind, mode)

    ended = 0
    for one, other, ends in steps(controlled, plain):
        for mine, its in [(one, other), *ends]:
            for name, values in its.items():
                hidden = where.get(name, np.zeros((), np.bool_))
                np.testing.assert_array_equal(mine[name], np.where(hidden, 0, values))
                assert mine[name].dtype == values.dtype
        ended += len(ends)
    assert (ended > 0) == (mode is AutoresetMode.SAME_STEP)


@kinds
@modes
def test_shuffled_shows_what_another_lane_was_told(kind, mode):
    controlled, plain, where = both("shuffled", kind, mode)

    differing = 0
    for one, other, ends in steps(controlled, plain):
        for name, values in other.items():
            hidden = where.get(name, np.zeros((), np.bool_))
            np.testing.assert_array_equal(one[name], np.where(hidden, np.roll(values, 1, axis=0), values))
            differing += (one[name] != values).any()
        for mine, its in ends:
            for name, values in its.items():
                kept = ~where.get(name, np.zeros((), np.bool_))
                np.testing.assert_array_equal(mine[name] * kept, values * kept)
    assert differing > 100


def test_nothing_but_words_is_shown_first():
    """So with the words blanked all episodes begin alike."""
    where = learn.said(ENV_ID, observation="tables")
    env = gymnasium.make(ENV_ID, difficulty=3)
    starts = [env.reset(seed=seed)[0] for seed in range(30)]

    for name in where:
        hidden = {(start[name] * ~where[name]).tobytes() for start in starts}
        assert len(hidden) == 1, name
    assert len({start["conversation"].tobytes() for start in starts}) > 3


def test_what_is_left_does_not_change_by_what_the_customer_says():
    """Beside the agent's own part: what it proposed, what it has to report, and the choices it made."""
    where = learn.said(ENV_ID, observation="tables")
    env = gymnasium.make(ENV_ID, difficulty=3).unwrapped
    env.action_space.seed(0)
    fields = env.observations.fields
    own = ("proposed", "to be reported")
    kept = {
        name: ~where[name] & np.array([not field.endswith(own) for field in fields[name]])
        for name in set(where) - {"partial", "left", "invalid"}
    }

    replies = 0
    for seed in range(20):
        before, _ = env.reset(seed=seed)
        ended = False
        while not ended:
            heard = len(env.json_env.episode.history)
            after, _, *ends, _ = env.step(sample_possible(env.action_space, before))
            ended = any(ends)
            if any(message.role == "user" for message in env.json_env.episode.history[heard:]):
                replies += 1
                for name, part in kept.items():
                    np.testing.assert_array_equal(before[name] * part, after[name] * part, err_msg=name)
            before = after
    assert replies > 100


def test_every_field_that_is_named_is_one():
    fields = gymnasium.make(ENV_ID).unwrapped.observations.fields

    for table, names in learn.NOT_SAID.items():
        for name in names.split("|"):
            assert any(learn._fits(field, name) for field in fields[table]), (table, name)


def test_it_writes_down_curves(tmp_path):
    out = tmp_path / "curves"
    command = [sys.executable, SCRIPT, "--reference", "--lanes", "8", "--minutes", "0.1", "--trials", "2"]
    command += ["--episodes", "8", "--learner", "ppo", "sb3", "--out", out]

    for seed in ("1", "2"):
        subprocess.run([*command, "--seeds", seed], check=True, capture_output=True)

    rows = list(csv.DictReader(out.with_suffix(".csv").read_text(encoding="utf-8").splitlines()))
    assert tuple(rows[0]) == learn.COLUMNS
    assert [(row["learner"], row["seed"]) for row in rows] == [
        (learner, seed) for seed in "12" for learner in ("ppo", "sb3") for _ in range(3)
    ]
    for first, *later in (rows[start : start + 3] for start in range(0, 12, 3)):
        assert (first["choices"], first["minutes"]) == ("0", "0.000")
        assert 0 < int(later[0]["choices"]) < int(later[1]["choices"])
        assert 0.1 <= float(later[1]["minutes"]) < 0.4
        assert all(0 <= float(row["test_success"]) <= 1 for row in (first, *later))
        assert "--learner ppo sb3" in first["command"]
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
