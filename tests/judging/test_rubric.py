"""Rubrics: their form, their kinds, and the ones that are shipped."""

import json

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rubrics import CHECKS, ITEMS, filter_rubric, reward_rubric, rubrics

from tool_envs.canonical import digest
from tool_envs.errors import DataFileError, UsageError
from tool_envs.judging.rubric import Item, Rubric, read_rubric, shipped_rubric
from tool_envs.schema.files import shipped_files

KINDS = [check["kind"] for check in CHECKS]
FORM = jsonschema.Draft202012Validator(shipped_files().read("meta/rubric/1.0.0"))


@given(rubrics())
def test_a_rubric_has_its_form_and_comes_back(value):
    FORM.validate(value)

    rubric = Rubric.from_json(value, value["kind"])

    assert rubric.to_json() == value
    assert rubric.digest == digest(value)


@given(rubrics(), st.sampled_from(["reward", "filter"]))
def test_one_kind_is_never_loaded_as_the_other(tmp_path_factory, value, kind):
    path = tmp_path_factory.mktemp("rubric") / "rubric.json"
    path.write_text(json.dumps(value))

    if kind == value["kind"]:
        assert read_rubric(path, kind).to_json() == value
    else:
        with pytest.raises(
            DataFileError, match=f"expected a rubric of the kind '{kind}', not '{value['kind']}'"
        ):
            read_rubric(path, kind)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (reward_rubric(format_version="2.0.0"), "format_version '1.0.0', not '2.0.0'"),
        ([], "format_version '1.0.0', not None"),
        (reward_rubric(kind="verdict"), "kind"),
        (reward_rubric(version="1.0"), "version"),
        (reward_rubric(items=[]), "items"),
        (reward_rubric(items=[*ITEMS, ITEMS[0]]), "the id 'clear' stands in the rubric 'letter' twice"),
        (reward_rubric(items=[{**ITEMS[0], "group": "other"}]), "items/0/group"),
        (reward_rubric(checkpoints=[]), "checkpoints"),
        (reward_rubric(more=1), "more"),
    ],
)
def test_what_is_no_rubric_is_refused_with_the_reason(value, problem):
    with pytest.raises(DataFileError, match=problem):
        Rubric.from_json(value, "reward")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"success_criteria": []}, "success_criteria"),
        ({"checkpoints": []}, "checkpoints"),
        ({"checks": [{"kind": "told", "type": "amount", "value": -1}]}, "checkpoints/0/check"),
        ({"checks": [{"kind": "said", "texts": []}]}, "checkpoints/0/check"),
        ({"checks": [{"kind": "looked"}]}, "checkpoints/0/check"),
        ({"checks": [{"kind": "tool_called", "tool": "x", "texts": ["y"]}]}, "checkpoints/0/check"),
    ],
)
def test_what_is_no_filter_is_refused_with_the_reason(changes, problem):
    with pytest.raises(DataFileError, match=problem):
        Rubric.from_json(filter_rubric(**changes), "filter")


@pytest.mark.parametrize("name", ["success_criteria", "expected_tools", "checkpoints"])
def test_a_filter_that_lacks_a_part_is_refused(name):
    value = filter_rubric()
    del value[name]

    with pytest.raises(DataFileError, match=name):
        Rubric.from_json(value, "filter")


@given(st.sampled_from(CHECKS), st.data())
def test_types_and_form_agree_on_checks(check, data):
    changed = dict(check)
    name = data.draw(st.sampled_from(sorted(changed)))
    changed[name] = data.draw(
        st.sampled_from([None, "", "x", 0, -1, [], ["x"], [{}], "amount", *map(dict, CHECKS)])
    )
    value = filter_rubric([changed])
    try:
        taken = msgspec.convert(value, Rubric).to_json() == value
    except msgspec.ValidationError:
        taken = False

    assert taken is FORM.is_valid(value)


def test_a_missing_file_and_a_broken_one_are_named(tmp_path):
    with pytest.raises(DataFileError, match="missing"):
        read_rubric(tmp_path / "none.json", "reward")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(DataFileError, match="not JSON"):
        read_rubric(tmp_path / "broken.json", "reward")


def test_the_rubric_of_letters_has_core_and_prescriptive_items_and_takes_those_of_a_task():
    letter = shipped_rubric("letter", "1.0.0", "reward")
    assert [item.group for item in letter.items] == ["core"] * 3 + ["prescriptive"] * 2

    own = letter.with_items([Item("date", "task", "It names the date of delivery.")])

    assert own.items[:-1] == letter.items
    assert own.digest != letter.digest
    with pytest.raises(UsageError, match="twice"):
        own.with_items(letter.items[:1])


def test_a_shipped_rubric_of_the_other_kind_is_refused():
    with pytest.raises(DataFileError, match="a filter is no reward"):
        shipped_rubric("letter", "1.0.0", "filter")
