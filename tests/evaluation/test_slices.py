"""Frozen slices: what they freeze, what they refuse, and that released ones are as they were."""

import json
import shutil

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeping import only_in_sweep
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.errors import (
    DataFileError,
    SliceMismatchError,
    TamperedFileError,
    UnknownNameError,
    UsageError,
)
from tool_envs.evaluation import release, slice_files
from tool_envs.evaluation.slice import differences, freeze_again
from tool_envs.evaluation.slice_files import (
    FOREIGN,
    load_slice,
    parse_slice,
    read_slice,
    released_slices,
    slice_ids,
    verify_slice,
)
from tool_envs.schema.files import SchemaFiles

RELEASED = [each for each in slice_ids() if each not in FOREIGN]
SMOKE = read_slice("retail/smoke@1")


def test_the_built_in_slices_are_there():
    assert {"retail/test@1", "booking/test@1", "retail/smoke@1"} <= set(RELEASED)
    assert [len(read_slice(each).tasks) for each in ("retail/test@1", "booking/test@1")] == [200, 200]


@pytest.mark.parametrize("slice_id", RELEASED)
def test_a_released_slice_is_what_is_here(slice_id):
    frozen = load_slice(slice_id)
    assert frozen == freeze_again(frozen)
    of_domain = {"sandbox"} if slice_id.startswith("repo/") else {"user", "schema_version"}
    assert set(frozen.env.kwargs) >= {"split", "max_steps", "parallel_calls", *of_domain}


@pytest.mark.parametrize(
    "slice_id",
    [pytest.param(each, marks=only_in_sweep) if each.startswith("repo/") else each for each in RELEASED],
)
def test_nobody_earns_anything_for_nothing_on_a_released_slice(slice_id):
    assert list(release.release_problems(read_slice(slice_id))) == []


def test_all_difficulties_are_equally_frequent():
    tasks = [task.id for task in read_slice("retail/test@1").tasks]
    assert tasks == [f"retail/test/any/{index}" for index in range(200)]


# --- Every field counts


def fields_of(value, where=()):
    """The places of all leaves of a manifest."""
    if isinstance(value, dict):
        for name in value:
            yield from fields_of(value[name], (*where, name))
    elif isinstance(value, list):
        yield from fields_of(value[0], (*where, 0))
    else:
        yield where


FIELDS = [where for where in fields_of(SMOKE.fields()) if where not in [("format_version",), ("upstream",)]]


def other(value):
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case "run" | "refuse":
            return {"run": "refuse", "refuse": "run"}[value]
        case "ours":
            return "upstream"
        case str() if len(value) == 64:
            return ("1" if value[0] == "0" else "0") + value[1:]
        case str():
            return f"{value}x" if "@" not in value else "retail/other@1"
    return "other"


@pytest.mark.parametrize("where", FIELDS, ids=lambda where: "/".join(map(str, where)))
def test_a_change_of_any_field_changes_the_digest_and_is_named(where):
    value = SMOKE.fields()
    part = value
    for name in where[:-1]:
        part = part[name]
    part[where[-1]] = other(part[where[-1]])
    changed = msgspec.convert(value, type(SMOKE))

    assert changed.digest != SMOKE.digest
    found = [difference.field for difference in differences(SMOKE, changed)]
    assert found
    assert all(each.startswith(("tasks", "order") if where[0] == "tasks" else where[0]) for each in found)
    with pytest.raises(DataFileError, match="its digest says"):
        parse_slice({**value, "digest": SMOKE.digest}, "smoke.json")


@given(st.permutations(range(len(SMOKE.tasks))))
def test_the_order_of_tasks_counts(order):
    turned = msgspec.structs.replace(SMOKE, tasks=tuple(SMOKE.tasks[index] for index in order))
    same = list(order) == sorted(order)
    assert (turned.digest == SMOKE.digest) is same
    assert [each.field for each in differences(SMOKE, turned)] == ([] if same else ["order of tasks"])


def test_numbers_that_python_calls_equal_differ():
    kwargs = {**SMOKE.env.kwargs, "data_seed": False}
    changed = msgspec.structs.replace(SMOKE, env=msgspec.structs.replace(SMOKE.env, kwargs=kwargs))
    assert [each.field for each in differences(SMOKE, changed)] == ["env/kwargs/data_seed"]


def test_what_is_not_as_frozen_is_refused_and_named():
    changed = msgspec.structs.replace(SMOKE, grader_digest="another")
    with pytest.raises(SliceMismatchError, match=r"grader_digest: another and [0-9a-f]{12}"):
        verify_slice(changed)


def test_a_manifest_of_another_form_is_refused():
    with pytest.raises(DataFileError, match=r"smoke\.json: .*format_version"):
        parse_slice({**SMOKE.to_json(), "format_version": "9.0.0"}, "smoke.json")


# --- Released files never change


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the released slices, in place of them."""
    folder = shutil.copytree(released_slices().root, tmp_path / "slices")
    files = SchemaFiles(folder)
    for module in (slice_files, release):
        monkeypatch.setattr(module, "released_slices", lambda: files)
    return folder


def test_editing_a_released_slice_is_found(copied):
    path = copied / "retail" / "smoke@1.json"
    edited = msgspec.structs.replace(SMOKE, seed=1)  # with a digest of its own that is right
    path.write_text(json.dumps(edited.to_json()))
    with pytest.raises(TamperedFileError, match="never changes"):
        load_slice("retail/smoke@1")


def test_a_slice_is_released_once(copied):
    frozen = msgspec.structs.replace(SMOKE, id="retail/smoke@2", tasks=SMOKE.tasks[:3])
    path = release.release_slice(frozen)
    assert path == copied / "retail" / "smoke@2.json"
    assert load_slice("retail/smoke@2") == frozen
    with pytest.raises(UsageError, match="never changes"):
        release.release_slice(frozen)


def test_a_slice_on_which_a_trivial_agent_earns_is_not_released(copied, monkeypatch):
    monkeypatch.setattr(release, "TRIVIAL", ["silent", "oracle"])  # as if that were trivial
    frozen = msgspec.structs.replace(SMOKE, id="retail/smoke@2", tasks=SMOKE.tasks[:2])
    with pytest.raises(
        UsageError, match="cannot be released: `oracle` earns something on retail/test/any/0, "
    ):
        release.release_slice(frozen)
    assert not (copied / "retail" / "smoke@2.json").exists()


@pytest.mark.usefixtures("copied")
def test_a_slice_that_cannot_be_solved_is_not_released(monkeypatch):
    monkeypatch.setattr(release, "_solver_of", lambda _: "silent")
    frozen = msgspec.structs.replace(SMOKE, id="retail/smoke@2", tasks=SMOKE.tasks[:1])
    with pytest.raises(UsageError, match="`silent` does not solve retail/test/any/0"):
        release.release_slice(frozen)


# --- Foreign slices


def test_a_foreign_slice_says_which_state_and_how_much_of_it(tau_bench_path):
    airline = load_slice("tau_bench/airline/test", {"path": str(tau_bench_path)})
    assert (airline.coverage, airline.schema.interface) == ("25 of 50 tasks", "ours")
    assert airline.upstream.state.startswith("tau-bench ")
    retail = load_slice("tau_bench/retail/test", {"path": str(tau_bench_path)})
    assert (retail.coverage, retail.upstream.state) == ("115 tasks", "tau-bench d631fa0 (2025-01-21)")
    assert "path" not in retail.env.kwargs
    verify_slice(retail, {"path": str(tau_bench_path)})


def test_fewer_foreign_tasks_are_another_slice(tau_bench_path, tmp_path):
    whole = load_slice("tau_bench/retail/test", {"path": str(tau_bench_path)})
    folder = shutil.copytree(tau_bench_path, tmp_path / "copy")
    file = folder / "tasks" / "retail_test.json"
    value = json.loads(file.read_text())
    file.write_text(json.dumps({**value, "tasks": value["tasks"][:40]}))
    fewer = load_slice("tau_bench/retail/test", {"path": str(folder)})
    assert (fewer.coverage, fewer.upstream.state) == ("40 of 115 tasks", whole.upstream.state)
    assert fewer.digest != whole.digest


def test_changed_foreign_tasks_are_of_no_known_state(tau_bench_path, tmp_path):
    folder = shutil.copytree(tau_bench_path, tmp_path / "copy")
    file = folder / "tasks" / "airline_test.json"
    file.write_text(file.read_text().replace("New York", "Newark", 1))
    changed = load_slice("tau_bench/airline/test", {"path": str(folder)})
    assert (changed.upstream, changed.coverage) == (None, "25 tasks")


def test_a_foreign_slice_needs_a_path_and_a_released_one_takes_none():
    with pytest.raises(UsageError, match="say where they lie"):
        load_slice("tau_bench/retail/test")
    with pytest.raises(UsageError, match="takes no path"):
        load_slice("retail/smoke@1", {"path": "somewhere"})
    with pytest.raises(UnknownNameError, match="Did you mean: `retail/smoke@1`"):
        load_slice("retail/smoke")


# --- The commands


def run(*words):
    return CliRunner().invoke(app, ["slice", *words])


def test_slices_are_listed_shown_and_verified(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert "retail/smoke@1" in run("list").output
    assert json.loads(run("show", "retail/smoke@1", "--json").output) == SMOKE.to_json()
    assert SMOKE.digest[:12] in run("show", "retail/smoke@1").output
    verified = run("verify")
    assert verified.exit_code == 0
    assert verified.output.count("as frozen") == len(RELEASED)


def test_a_slice_that_is_not_what_was_frozen_fails_to_verify(monkeypatch):
    changed = msgspec.structs.replace(SMOKE, data_digest="another")
    monkeypatch.setattr(slice_files, "read_slice", lambda _: changed)
    result = run("verify", "retail/smoke@1")
    assert result.exit_code == 2
    assert "data_digest" in result.output
