import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import SHIPPED, shipped_schemas

from tool_envs.errors import UnknownNameError
from tool_envs.schema import ToolSchema, load_schema
from tool_envs.schema.diff import SchemaDiff, version_step

OPPOSITE = {"added": "removed", "removed": "added", "changed": "changed"}


def closed(properties, required=()):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def tool(name="look", effect="read", description="Look.", parameters=None, result=None, **more):
    return {
        "name": name,
        "description": description,
        "effect": effect,
        "parameters": parameters or closed({}),
        "result": result or closed({}),
        **more,
    }


def schema(*tools, **changes):
    respond = tool("respond", "message", "Speak.", closed({"content": {"type": "string"}}, ["content"]))
    document = {
        "format": "tool_schema/1.0.0",
        "domain": "toy",
        "version": "1.0.0",
        "description": "A toy.",
        "tools": [*tools, respond],
    }
    return ToolSchema.from_document(document | changes, "toy.json")


def with_parameter(sub, required=True):
    return schema(tool(parameters=closed({"x": sub}, ["x"] if required else [])))


def with_result(sub, required=True):
    return schema(tool(result=closed({"x": sub}, ["x"] if required else [])))


# Laws


@pytest.mark.parametrize(("domain", "version"), SHIPPED)
def test_a_schema_differs_in_nothing_from_itself(domain, version):
    same = ToolSchema.from_document(load_schema(domain, version).document, "copy")

    assert not load_schema(domain, version).diff(same)
    assert load_schema(domain, version).diff(same).demands == "none"


@given(shipped_schemas, shipped_schemas)
def test_added_and_removed_mirror_each_other(a, b):
    forth = {(c.kind, c.action, c.tool, c.path) for c in a.diff(b).changes}
    back = {(c.kind, OPPOSITE[c.action], c.tool, c.path) for c in b.diff(a).changes}

    assert forth == back


@given(shipped_schemas, shipped_schemas)
def test_before_and_after_mirror_each_other(a, b):
    forth = sorted(str((c.kind, c.tool, c.path, c.before, c.after)) for c in a.diff(b).changes)
    back = sorted(str((c.kind, c.tool, c.path, c.after, c.before)) for c in b.diff(a).changes)

    assert forth == back


@given(st.sampled_from(["1.0.0", "1.1.0", "2.0.0"]), st.data())
def test_a_dropped_tool_is_always_found(version, data):
    old = load_schema("retail", version)
    document = old.document
    names = [t["name"] for t in document["tools"] if t["name"] != "respond"]
    name = data.draw(st.sampled_from(names))
    document["tools"] = [t for t in document["tools"] if t["name"] != name]

    diff = old.diff(ToolSchema.from_document(document, "x"))

    assert [(c.kind, c.action, c.tool, c.breaking) for c in diff.changes] == [("tool", "removed", name, True)]


# The shipped versions


def test_retail_1_1_only_adds_a_tool():
    diff = load_schema("retail", "1.0.0").diff(load_schema("retail", "1.1.0"))

    assert [str(change) for change in diff.changes] == ["get_item_details: tool added"]
    assert diff.demands == "minor"


def test_retail_2_0_renames_zip():
    diff = load_schema("retail", "1.1.0").diff(load_schema("retail", "2.0.0"))
    lines = str(diff).splitlines()

    assert diff.demands == "major"
    assert "find_user_id_by_name_zip parameters.zip: parameter removed (breaking)" in lines
    assert "find_user_id_by_name_zip parameters.postal_code: parameter added (breaking)" in lines
    assert "get_user_details result.address.zip: result field removed (breaking)" in lines
    assert "get_user_details result.address.postal_code: result field added" in lines
    assert {c.path.split(".")[-1] for c in diff.changes if c.breaking} == {"zip", "postal_code"}


def test_other_domains_are_not_compatible():
    diff = load_schema("retail", "1.0.0").diff(load_schema("tau_retail", "1.0.0"))

    assert diff.demands == "major"
    assert diff.changes[0].kind == "domain"


# Narrower and wider values: what breaks for a parameter does not for a result, and the other way round

TEXT = {"type": "string"}
NARROWED = {
    "number to integer": ({"type": "number"}, {"type": "integer"}),
    "enum added": (TEXT, {"type": "string", "enum": ["a"]}),
    "enum shorter": ({"enum": ["a", "b"]}, {"enum": ["a"]}),
    "enum to const": ({"enum": ["a", "b"]}, {"const": "a"}),
    "pattern added": (TEXT, {"type": "string", "pattern": "^a$"}),
    "minLength up": (TEXT, {"type": "string", "minLength": 1}),
    "maxLength down": ({"type": "string", "maxLength": 9}, {"type": "string", "maxLength": 8}),
    "maxLength added": (TEXT, {"type": "string", "maxLength": 8}),
    "minimum up": ({"type": "number"}, {"type": "number", "minimum": 0}),
    "maximum down": ({"type": "number", "maximum": 2}, {"type": "number", "maximum": 1}),
    "minItems up": ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT, "minItems": 1}),
    "uniqueItems": ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT, "uniqueItems": True}),
    "items narrower": (
        {"type": "array", "items": TEXT},
        {"type": "array", "items": {"type": "string", "maxLength": 1}},
    ),
    "map closed": ({"type": "object", "additionalProperties": TEXT}, closed({})),
    "map values narrower": (
        {"type": "object", "additionalProperties": {"type": "number"}},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ),
    "keys fewer": (
        {
            "type": "object",
            "patternProperties": {"^a$": TEXT, "^b$": TEXT},
            "additionalProperties": False,
        },
        {"type": "object", "patternProperties": {"^a$": TEXT}, "additionalProperties": False},
    ),
    "form removed": (
        {"anyOf": [TEXT, {"type": "null"}, {"type": "integer"}]},
        {"anyOf": [TEXT, {"type": "null"}]},
    ),
    "union to one": ({"anyOf": [TEXT, {"type": "null"}]}, TEXT),
    "form narrower": (
        {"anyOf": [TEXT, {"type": "null"}]},
        {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
    ),
}


@pytest.mark.parametrize(("wide", "narrow"), NARROWED.values(), ids=NARROWED)
def test_parameters_may_only_get_wider(wide, narrow):
    assert with_parameter(wide).diff(with_parameter(narrow)).demands == "major"
    assert with_parameter(narrow).diff(with_parameter(wide)).demands == "minor"


@pytest.mark.parametrize(("wide", "narrow"), NARROWED.values(), ids=NARROWED)
def test_results_may_only_get_narrower(wide, narrow):
    assert with_result(wide).diff(with_result(narrow)).demands == "minor"
    assert with_result(narrow).diff(with_result(wide)).demands == "major"


CHANGED = {
    "type": (TEXT, {"type": "integer"}),
    "enum": ({"enum": ["a", "b"]}, {"enum": ["a", "c"]}),
    "pattern": ({"type": "string", "pattern": "^a$"}, {"type": "string", "pattern": "^b$"}),
    "union": (
        {"anyOf": [TEXT, {"type": "null"}]},
        {"anyOf": [TEXT, {"type": "boolean"}, {"type": "integer"}]},
    ),
}


@pytest.mark.parametrize(("one", "other"), CHANGED.values(), ids=CHANGED)
@pytest.mark.parametrize("place", [with_parameter, with_result])
def test_what_is_neither_wider_nor_narrower_breaks_everywhere(place, one, other):
    assert place(one).diff(place(other)).demands == "major"
    assert place(other).diff(place(one)).demands == "major"


EQUAL = {
    "minLength 0": (TEXT, {"type": "string", "minLength": 0}),
    "enum order": ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
    "const": ({"const": "a"}, {"enum": ["a"]}),
    "enum type": ({"enum": ["a"]}, {"type": "string", "enum": ["a"]}),
}


@pytest.mark.parametrize(("one", "other"), EQUAL.values(), ids=EQUAL)
@pytest.mark.parametrize("place", [with_parameter, with_result])
def test_two_ways_to_say_one_thing_do_not_differ(place, one, other):
    assert not place(one).diff(place(other))


# Properties


def test_parameters_that_come_and_go():
    without, optional, required = schema(tool()), with_parameter(TEXT, False), with_parameter(TEXT)

    assert without.diff(optional).demands == "minor"
    assert without.diff(required).demands == "major"
    assert optional.diff(without).demands == "major"
    assert optional.diff(required).demands == "major"
    assert required.diff(optional).demands == "minor"


def test_result_fields_that_come_and_go():
    without, optional, required = schema(tool()), with_result(TEXT, False), with_result(TEXT)

    assert without.diff(optional).demands == "minor"
    assert without.diff(required).demands == "minor"
    assert optional.diff(without).demands == "major"
    assert optional.diff(required).demands == "minor"
    assert required.diff(optional).demands == "major"


# Tools


@pytest.mark.parametrize(
    ("old", "new", "kind", "demands"),
    [
        (schema(tool()), schema(tool(), tool("b")), "tool", "minor"),
        (schema(tool(), tool("b")), schema(tool()), "tool", "major"),
        (schema(tool()), schema(tool(effect="write")), "effect", "major"),
        (schema(tool()), schema(tool(listed=False)), "listed", "major"),
        (schema(tool(listed=False)), schema(tool()), "listed", "minor"),
        (schema(tool()), schema(tool(description="See.")), "description", "patch"),
        (schema(tool()), schema(tool(), description="A game."), "description", "patch"),
        (schema(tool(), tool("b")), schema(tool("b"), tool()), "order", "minor"),
        (
            with_parameter(TEXT),
            with_parameter({"type": "string", "description": "D."}),
            "description",
            "patch",
        ),
        (with_parameter(TEXT), with_parameter({"type": "string", "x-entity": "book"}), "entity", "minor"),
    ],
)
def test_each_change_demands_its_step(old, new, kind, demands):
    diff = old.diff(new)

    assert [change.kind for change in diff.changes] == [kind]
    assert diff.demands == demands


def test_a_definition_in_another_place_is_no_difference():
    inlined = load_schema("retail", "1.0.0").document
    definitions = inlined["$defs"]
    definitions["unused"] = copy.deepcopy(definitions["amount"])

    assert not load_schema("retail", "1.0.0").diff(ToolSchema.from_document(inlined, "x"))


# Versions


@pytest.mark.parametrize(
    ("old", "new", "step"),
    [
        ("1.0.0", "1.0.1", "patch"),
        ("1.0.9", "1.1.0", "minor"),
        ("1.9.9", "2.0.0", "major"),
        ("1.9.0", "1.10.0", "minor"),
        ("1.0.0", "1.0.0", "none"),
        ("1.1.0", "1.0.1", "none"),
        ("2.0.0", "1.9.9", "none"),
    ],
)
def test_steps_of_a_version_number(old, new, step):
    assert version_step(old, new) == step


def test_a_step_must_be_as_large_as_the_changes_demand():
    diff = load_schema("retail", "1.0.0").diff(load_schema("retail", "1.1.0"))

    assert not diff.is_covered_by("1.0.0", "1.0.1")
    assert diff.is_covered_by("1.0.0", "1.1.0")
    assert diff.is_covered_by("1.0.0", "2.0.0")
    assert SchemaDiff(()).is_covered_by("1.0.0", "1.0.0")


@pytest.mark.parametrize("version", ["1", "1.0", "1.0.0.0", "01.0.0", "1.0.x", "", "v1.0.0"])
def test_versions_of_another_form_are_refused(version):
    with pytest.raises(UnknownNameError, match=r"major\.minor\.patch"):
        version_step(version, "1.0.0")
