"""Compiled code: where it is kept and for how long; run as Python, and with its bounds checked."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from sweeping import only_in_sweep

from tool_envs.arrays.compiled import saying_when_slow
from tool_envs.rows import prefetch

CALLEE = """
from tool_envs.rows import kernel
from parcels.sizes import LARGEST

@kernel
def weight(size):
    return 100 * size if size < LARGEST else 5000
"""
SIZES = "LARGEST = 7\n"
ENTRY = """
from parcels.weights import weight
from tool_envs.rows import kernel

@kernel
def two(size):
    return weight(size) + weight(size + 1)

def total(sizes):
    found = 0
    for place in range(len(sizes)):
        found += two(sizes[place])
    return found
"""
PROGRAM = """
import numpy
from parcels.loading import total
from tool_envs.arrays.compiled import compiled

ready = compiled(total)
print(ready(numpy.array([1, 5])), sum(ready.stats.cache_hits.values()))
"""


@pytest.fixture
def parcels(tmp_path):
    """A package whose kernels stand in two files, and a constant of theirs in a third one."""
    folder = tmp_path / "code" / "parcels"
    folder.mkdir(parents=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    for name, text in {"__init__": "", "weights": CALLEE, "sizes": SIZES, "loading": ENTRY}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def environment(parcels, **changes):
    """Variables of a process with a home and a folder for temporary files of its own."""
    root = parcels.parents[1]
    own = {"HOME": str(root / "home"), "TMPDIR": str(root / "tmp"), "PYTHONPATH": str(parcels.parent)}
    path = os.environ.get("PYTHONPATH")
    own["PYTHONPATH"] = os.pathsep.join([own["PYTHONPATH"], *([path] if path else [])])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NUMBA_"))}
    merged = {**kept, **own, "PYTHONDONTWRITEBYTECODE": "1", **changes}
    return {name: value for name, value in merged.items() if value is not None}


def loaded(parcels, *before, **changes):
    """The total that a new process says, and whether the code was there already."""
    command = [*before, sys.executable, "-c", PROGRAM]
    output = subprocess.check_output(command, env=environment(parcels, **changes), text=True)
    total, hits = map(int, output.split())
    return total, bool(hits)


# --- Where it is kept


@pytest.mark.parametrize(
    ("name", "old", "new", "total"),
    [
        ("weights", "100", "10", 140),
        ("sizes", "7", "6", 5800),
        ("loading", "weight(size + 1)", "weight(size + 2)", 5900),
        ("loading", "found = 0", "found = 3", 1403),
    ],
)
def test_what_was_compiled_is_kept_until_something_changes(parcels, name, old, new, total):
    assert [loaded(parcels) for _ in range(2)] == [(1400, False), (1400, True)]
    file = parcels / f"{name}.py"
    text, times = file.read_text(), file.stat()
    file.write_text(text.replace(old, new))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert [loaded(parcels)[0], loaded(parcels)] == [total, (total, True)]
    file.write_text(text)
    assert loaded(parcels)[0] == 1400


def test_it_is_kept_in_the_users_cache(parcels):
    root = parcels.parents[1]
    loaded(parcels)
    assert list((root / "home/.cache/tool-envs/compiled").rglob("*.nbi"))
    loaded(parcels, XDG_CACHE_HOME=str(root / "other"))
    assert list((root / "other/tool-envs/compiled").rglob("*.nbi"))
    assert not list(root.joinpath("tmp").rglob("*.nbi"))
    assert not list(parcels.rglob("*.nbi"))


def is_in_temporary_files(parcels):
    return bool(list((parcels.parents[1] / "tmp").rglob("tool-envs*/compiled/**/*.nbi")))


def test_without_a_home_that_can_be_made_it_is_among_the_temporary_files(parcels):
    home = str(parcels / "__init__.py" / "home")

    assert [loaded(parcels, HOME=home) for _ in range(2)] == [(1400, False), (1400, True)]
    assert is_in_temporary_files(parcels)


def test_a_relative_home_is_none(parcels):
    assert loaded(parcels, XDG_CACHE_HOME="cache", HOME="home") == (1400, False)
    assert is_in_temporary_files(parcels)


def test_where_the_cache_is_read_only_it_is_among_the_temporary_files(parcels):
    """Root may write wherever it wants, as long as it has the capability to."""
    bare = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    loaded(parcels)
    cache = parcels.parents[1] / "home" / ".cache"
    folders = [cache, *(path for path in cache.rglob("*") if path.is_dir())]
    kept = {path for path in cache.rglob("*") if path.is_file()}
    for folder in folders:
        folder.chmod(0o500)
    (parcels / "weights.py").write_text(CALLEE.replace("100", "10"))

    assert [loaded(parcels, *bare) for _ in range(2)] == [(140, False), (140, True)]
    assert is_in_temporary_files(parcels)
    assert {path for path in cache.rglob("*") if path.is_file()} == kept
    for folder in folders:
        folder.chmod(0o700)


# --- How it runs


HERE = Path(__file__).parent
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy
from tool_envs.arrays.compiled import compiled
from stepper_lanes import first_beyond, short_run

is_python = not hasattr(compiled(first_beyond), "py_func")  # which what numba makes has
try:
    compiled(first_beyond)(numpy.zeros(3))
    is_checked = False
except IndexError:
    is_checked = True
print(is_python, is_checked, *(short_run(form) for form in sys.argv[2:]))
"""


def short_runs(*forms, **variables):
    """How a new process runs code, and how many episodes ended; and what it writes to stderr."""
    command = [sys.executable, "-c", RUN, str(HERE), *forms]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    is_python, is_checked, *ends = done.stdout.split()
    return is_python == "True", is_checked == "True", [int(each) for each in ends], done.stderr


def test_it_runs_as_python():
    is_python, _, ends, said = short_runs("sequential", "multidiscrete", NUMBA_DISABLE_JIT="1")

    assert is_python
    assert min(ends) > 4
    assert "compiling" not in said


@only_in_sweep
def test_it_never_leaves_its_arrays():
    is_python, is_checked, ends, said = short_runs("sequential", NUMBA_BOUNDSCHECK="1")

    assert (is_python, is_checked) == (False, True)
    assert min(ends) > 4
    for function in ("show_firsts", "run_choices"):
        assert f"tool_envs: compiling tool_envs.retail.stepper.moves.{function}, once ..." in said


def test_what_takes_long_is_told(capfd):
    with saying_when_slow("Counting sheep ...", 0.05):
        time.sleep(1)

    assert capfd.readouterr() == ("", "Counting sheep ...\n")


def test_what_is_quick_is_not_told(capfd):
    with saying_when_slow("Counting sheep ...", 60):
        pass
    with pytest.raises(ZeroDivisionError), saying_when_slow("Counting sheep ...", 0.2):
        1 / 0  # noqa: B018
    time.sleep(0.5)

    assert capfd.readouterr() == ("", "")


def _weight(rows):
    prefetch(rows[1])
    prefetch(rows[1].sizes)
    return rows[1].weight


def test_a_row_that_is_asked_for_takes_an_instruction_for_each_cache_line_and_changes_nothing():
    rows = np.zeros(3, np.dtype([("weight", "i4"), ("sizes", "i1", (130,))], align=True))
    rows["weight"], rows["sizes"] = [1, 2, 3], np.arange(390).reshape(3, 130) % 100
    before = rows.copy()
    weight = numba.njit(_weight)

    assert weight(rows) == 2
    assert (rows == before).all()
    lines = [[0, 64, 128, 135], [0, 64, 128, 129]]  # where each begins, and the last byte
    functions = weight.inspect_llvm(weight.signatures[0]).split("define ")
    counts = {function.count("call void @llvm.prefetch") for function in functions}
    assert counts == {0, sum(map(len, lines))}
