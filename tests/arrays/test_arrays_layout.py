"""From tool schema and arrays document to verbs and slots, and how arrays documents are checked and kept."""

import copy
import json
import shutil

import pytest
from toy_arrays import ARRAYS, DOCUMENT
from typer.testing import CliRunner

from tool_envs.array_view import SKIPPED, Slot, Verb, call_arguments, skip
from tool_envs.arrays.layout import layout_problems, make_layout, unknown_names
from tool_envs.cli.schema import schema_app
from tool_envs.errors import DataFileError, TamperedFileError, UnknownNameError
from tool_envs.schema import ToolSchema, load_arrays, load_schema, read_arrays
from tool_envs.schema.arrays_file import check_arrays
from tool_envs.schema.files import SchemaFiles, shipped_files
from tool_envs.schema.lock import lock_problems, unreleased, write_lock

SCHEMA = ToolSchema.from_document(DOCUMENT, "toy")


def changed(document, change):
    """A copy of a document, changed."""
    document = copy.deepcopy(document)
    change(document)
    return document


def layout(change=lambda _: None, schema=SCHEMA):
    document = changed(ARRAYS, change)
    check_arrays(document, "toy")
    return make_layout(schema, document)


def verb_of(made, name):
    return next(verb for verb in made.verbs if verb.name == name)


# Verbs and slots


def test_verbs_are_calls_proposals_of_writes_questions_and_other_speech():
    assert [(verb.name, verb.kind, verb.tool, verb.asked) for verb in layout().verbs] == [
        ("find_visitor", "call", "find_visitor", ""),
        ("look_at_hook", "call", "look_at_hook", ""),
        ("list_free_hooks", "call", "list_free_hooks", ""),
        ("move_coats", "call", "move_coats", ""),
        ("call_guard", "call", "call_guard", ""),
        ("propose_move_coats", "propose", "move_coats", ""),
        ("ask_name", "ask", "", "name"),
        ("tell_coat", "speech", "", ""),
        ("more", "speech", "", ""),
    ]


def test_an_array_is_several_slots_which_may_end_early_and_one_like_it_ends_with_it():
    slots = verb_of(layout(), "propose_move_coats").slots

    assert [(slot.name, slot.choices, slot.needs) for slot in slots] == [
        ("hook_ids[0]", 3, ""),
        ("hook_ids[1]", 4, ""),
        ("tag", 2, ""),
        ("new_hook_ids[0]", 3, ""),
        ("new_hook_ids[1]", 3, "hook_ids[1]"),
    ]
    assert slots[1].labels == ("0", "1", "2", "no more")
    assert slots[2].labels == ("plain", "gold")


def test_a_third_value_needs_the_second():
    slots = verb_of(layout(lambda d: d["tables"]["hook_ids"].update(most=3)), "move_coats").slots

    assert {slot.name: slot.needs for slot in slots if slot.needs} == {
        "hook_ids[2]": "hook_ids[1]",
        "new_hook_ids[1]": "hook_ids[1]",
        "new_hook_ids[2]": "hook_ids[2]",
    }


def test_proposals_have_the_slots_of_their_calls_and_all_slots_are_listed_once():
    made = layout()

    assert verb_of(made, "propose_move_coats").slots == verb_of(made, "move_coats").slots
    assert [slot.name for slot in made.slots] == [
        "hook_id",
        "hook_ids[0]",
        "hook_ids[1]",
        "tag",
        "new_hook_ids[0]",
        "new_hook_ids[1]",
    ]


def test_without_proposals_nothing_is_proposed():
    made = layout(lambda d: d["speech"].update(propose=False))

    assert {verb.kind for verb in made.verbs} == {"call", "ask", "speech"}


def test_a_renamed_parameter_keeps_its_place_and_fills_the_one_that_there_is():
    renamed = ToolSchema.from_document(
        json.loads(
            json.dumps(DOCUMENT)
            .replace('"name": {"t', '"visitor_name": {"t')
            .replace('["name"]', '["visitor_name"]')
        ),
        "toy",
    )
    old, new = (verb_of(layout(schema=schema), "find_visitor").told[0] for schema in (SCHEMA, renamed))

    assert (old.name, new.name) == ("name", "name")
    assert (old.parameter, new.parameter) == ("name", "visitor_name")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d.update(domain="kitchen"), "not for the domain cloakroom"),
        (lambda d: d["told"].clear(), "does not say how the parameter name of find_visitor"),
        (lambda d: d["left_out"].clear(), "does not say how the parameter thought of think"),
        (lambda d: d["told"].update(hook_id="hook"), "in several ways how the parameter hook_id of look_at"),
        (lambda d: d["texts"].update(call_guard={"reason": 7}), "not valid for the parameter reason.*: 7"),
        (lambda d: d["tables"]["hook_id"].update(most=2), "for parameters that are arrays.*hook_id of look"),
        (lambda d: d["tables"]["hook_ids"].pop("most"), "for parameters that are arrays.*hook_ids of move"),
        (lambda d: d["tables"]["new_hook_ids"].update(like="hook_id"), "no array of that name stands before"),
        (lambda d: d["tables"]["hook_id"].update(size=2), "different sizes are called own"),
        (lambda d: d["tables"]["hook_id"].update(table="tag", size=2), "different sizes are called tag"),
        (lambda d: d["speech"]["others"].append({"verb": "ask_name"}), "two verbs are called ask_name"),
        (lambda d: d["speech"]["others"][1].update(slots=["coat"]), "more: coat is chosen in no call"),
        (lambda d: d["speech"]["others"][1].update(slots=["new_hook_ids"]), "no array of that name stands"),
    ],
)
def test_a_document_that_does_not_fit_the_schema_is_refused(change, problem):
    with pytest.raises(DataFileError, match=problem):
        layout(change)


def test_names_that_no_version_has_are_found():
    document = changed(ARRAYS, lambda d: (d["left_out"].append("fly"), d["told"].update({"a|name": "x"})))

    assert unknown_names(ARRAYS, [SCHEMA]) == ["visitor_name"]
    assert unknown_names(document, [SCHEMA]) == ["a", "fly", "visitor_name"]


# Choices


@pytest.mark.parametrize(
    ("chosen", "after"),
    [
        ((), ()),
        ((0,), (0,)),
        ((0, 3, 1, 2), (0, 3, 1, 2, SKIPPED)),
        ((0, 1, 1, 2), (0, 1, 1, 2)),
    ],
)
def test_what_is_not_there_is_skipped(chosen, after):
    assert skip(verb_of(layout(), "move_coats"), chosen) == after


def test_all_that_needs_what_is_not_there_is_skipped_at_once():
    slots = [Slot("a", 1, optional=True), Slot("b", 1, needs="a"), Slot("c", 1, needs="b"), Slot("d", 1)]

    assert skip(Verb("v", "call", slots=tuple(slots)), (1,)) == (1, SKIPPED, SKIPPED)


def test_arguments_are_filled_with_what_was_chosen_told_and_fixed():
    made = layout()
    name = "{0.name}{1}".format

    def filled(verb, *chosen):
        return call_arguments(verb_of(made, verb), chosen, name, lambda told: f"<{told.slot}>")

    assert filled("find_visitor") == {"name": "<name>"}
    assert filled("call_guard") == {"reason": "The visitor is not served."}
    assert filled("move_coats", 2, 3, 1, 0, SKIPPED) == {
        "hook_ids": ["hook_ids[0]2"],
        "tag": "gold",
        "new_hook_ids": ["new_hook_ids[0]0"],
    }
    assert len(filled("move_coats", 2, 1, 1, 0, 2)["new_hook_ids"]) == 2


# Files


@pytest.fixture
def folder(tmp_path):
    """The shipped schema files, and a released arrays document of retail that a test may change."""
    shutil.copytree(shipped_files().root, tmp_path / "schemas")
    (tmp_path / "schemas/retail/arrays-9.json").write_text(json.dumps(RETAIL))
    write_lock(SchemaFiles(tmp_path / "schemas"))
    return tmp_path / "schemas"


RETAIL = {
    "format": "arrays/1",
    "domain": "retail",
    "left_out": ["calculate", "think"],
    "texts": {"transfer_to_human_agents": {"summary": "Something else."}},
    "told": {
        **dict.fromkeys(["first_name", "last_name"], "name"),
        **dict.fromkeys(["address1", "address2", "city", "state", "country"], "address"),
        "email": "email",
        "zip|postal_code": "zip",
        "user_id": "user_id",
    },
    "tables": {
        "order_id": {"table": "orders", "size": 5},
        "item_ids": {"table": "lines", "size": 5, "most": 2},
        "new_item_ids": {"table": "variants", "size": 14, "like": "item_ids"},
        "item_id": {"table": "variants", "size": 14},
        "product_id": {"table": "products", "size": 50},
        "payment_method_id": {"table": "methods", "size": 3},
    },
    "speech": {"ask": ["email"], "propose": True, "others": [{"verb": "more"}]},
}


def edit(folder, change):
    path = folder / "retail/arrays-9.json"
    path.write_text(json.dumps(changed(json.loads(path.read_text()), change)))
    return SchemaFiles(folder)


def test_arrays_documents_are_locked_and_are_no_versions(folder):
    files = SchemaFiles(folder)

    assert "retail/arrays-9" in files.arrays_keys()
    assert files.versions("retail") == ["1.0.0", "1.1.0", "2.0.0"]
    assert files.lock().keys() >= {"retail/arrays-9", "meta/arrays/1.0.0"}
    assert unreleased(files) == []


def test_a_released_arrays_document_never_changes(folder):
    files = edit(folder, lambda d: d["left_out"].append("get_user_details"))

    with pytest.raises(TamperedFileError, match="arrays-9"):
        write_lock(files)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d.update(format="arrays/2"), "arrays/1"),
        (lambda d: d.update(domain="booking"), "of the domain booking"),
        (lambda d: d.pop("speech"), "speech"),
        (lambda d: d["tables"].update({"a|": {"table": "orders", "size": 5}}), "tables"),
        (lambda d: d["tables"]["order_id"].update(size=0), "size"),
        (lambda d: d["speech"]["others"].append({}), "verb"),
    ],
)
def test_a_broken_arrays_document_is_not_released(folder, change, problem):
    (folder / "retail/arrays-9.json").rename(folder / "retail/arrays-9.txt")
    (folder / "retail/arrays-8.json").write_text(json.dumps(changed(RETAIL, change)))
    (folder / "LOCK.json").unlink()

    assert [str(found) for found in lock_problems(SchemaFiles(folder))] != []
    with pytest.raises(DataFileError, match=f"arrays-8.*{problem}"):
        write_lock(SchemaFiles(folder))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d["told"].pop("zip|postal_code"), "retail 1.0.0: .* does not say how the parameter zip"),
        (lambda d: d["told"].update(zip="zip") or d["told"].pop("zip|postal_code"), "retail 2.0.0: .*postal"),
        (lambda d: d["left_out"].append("get_nothing"), "no version of retail has get_nothing"),
    ],
)
def test_the_command_refuses_an_arrays_document_that_does_not_fit_all_versions(folder, change, problem):
    (folder / "retail/arrays-8.json").write_text(json.dumps(changed(RETAIL, change)))
    before = (folder / "LOCK.json").read_bytes()
    check, lock = (
        CliRunner().invoke(schema_app, ["lock", *arguments, "--root", str(folder)])
        for arguments in (["--check"], [])
    )

    with pytest.raises(DataFileError, match=problem):
        raise lock.exception
    assert "arrays-8" in check.output
    assert check.exit_code == 1
    assert (folder / "LOCK.json").read_bytes() == before


def test_an_arrays_document_that_fits_is_released(folder):
    (folder / "retail/arrays-8.json").write_text(json.dumps(RETAIL))

    assert layout_problems(SchemaFiles(folder)) == []
    assert CliRunner().invoke(schema_app, ["lock", "--root", str(folder)]).exit_code == 0
    assert "retail/arrays-8" in SchemaFiles(folder).lock()


@pytest.mark.parametrize(
    ("domain", "number"), [("retail", 0), ("kitchen", 1), ("../retail", 1), (None, None)]
)
def test_unknown_arrays_documents_are_told_apart(domain, number):
    with pytest.raises(UnknownNameError, match="arrays document"):
        load_arrays(domain, number)


def test_an_arrays_document_elsewhere_is_read_and_checked(tmp_path):
    (tmp_path / "good.json").write_text(json.dumps(ARRAYS))
    (tmp_path / "bad.json").write_text(json.dumps({**ARRAYS, "more": 1}))

    assert read_arrays(tmp_path / "good.json") == ARRAYS
    with pytest.raises(DataFileError, match=r"bad\.json: .*more"):
        read_arrays(tmp_path / "bad.json")


@pytest.mark.parametrize("key", shipped_files().arrays_keys())
def test_shipped_arrays_documents_lay_out_every_version(key):
    domain = key.split("/")[0]
    document = load_arrays(domain, int(key.rpartition("-")[2]))

    for version in shipped_files().versions(domain):
        assert make_layout(load_schema(domain, version), document).verbs
