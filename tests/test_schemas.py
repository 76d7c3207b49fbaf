import copy
import json
import pickle
import shutil

import pytest
import rfc8785
from effort import effort
from hypothesis import given
from hypothesis import strategies as st
from strategies import SHIPPED, calls, json_values, mutated_calls, scalars, shipped_schemas
from typer.testing import CliRunner

from tool_envs.canonical import canonical_json, digest
from tool_envs.cli.schema import schema_app
from tool_envs.errors import DataFileError, TamperedFileError, UnknownNameError, UsageError
from tool_envs.schema import ToolSchema, load_schema
from tool_envs.schema.files import SchemaFiles, shipped_files
from tool_envs.schema.lock import lock_problems, unreleased, write_lock
from tool_envs.schema.tool_schema import read_schema

every_schema = pytest.mark.parametrize(("domain", "version"), SHIPPED)


@pytest.fixture
def folder(tmp_path):
    """A copy of the shipped schema files, all of them released, that a test may change."""
    shutil.copytree(shipped_files().root, tmp_path / "schemas")
    write_lock(SchemaFiles(tmp_path / "schemas"))
    return tmp_path / "schemas"


def minimal_document(**changes):
    text = {"type": "string", "minLength": 1}
    parameters = {
        "type": "object",
        "properties": {"content": text},
        "required": ["content"],
        "additionalProperties": False,
    }
    respond = {
        "name": "respond",
        "description": "Speak.",
        "effect": "message",
        "parameters": parameters,
        "result": {"type": "string"},
    }
    document = {
        "format": "tool_schema/1.0.0",
        "domain": "toy",
        "version": "1.0.0",
        "description": "A toy.",
        "tools": [respond],
    }
    return document | changes


def document_with(parameter, **changes):
    document = minimal_document(**changes)
    parameters = {
        "type": "object",
        "properties": {"x": parameter},
        "required": [],
        "additionalProperties": False,
    }
    tool = {
        "name": "look",
        "description": "Look.",
        "effect": "read",
        "parameters": parameters,
        "result": {"type": "string"},
    }
    return document | {"tools": [tool, *document["tools"]]}


def edit(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


# The two validators


@given(st.data())
def test_sampled_calls_are_valid_for_both_validators(data):
    schema = data.draw(shipped_schemas)
    call = data.draw(calls(schema))
    tool = schema.tools[call["name"]]

    assert tool.accepts(call["arguments"])
    assert tool.accepts_reference(call["arguments"])


@given(st.data())
def test_validators_agree_on_mutated_calls(data):
    schema = data.draw(shipped_schemas)
    call = data.draw(mutated_calls(schema))

    for tool in [schema.tools[call["name"]]] if call["name"] in schema.tools else schema.tools.values():
        assert tool.accepts(call["arguments"]) == tool.accepts_reference(call["arguments"])


@given(shipped_schemas, json_values)
def test_validators_agree_on_any_json(schema, value):
    for tool in schema.tools.values():
        assert tool.accepts(value) == tool.accepts_reference(value)


@given(st.data())
def test_validators_agree_on_any_scalar_for_every_parameter(data):
    tool = data.draw(st.sampled_from(list(data.draw(shipped_schemas).tools.values())))
    arguments = {name: data.draw(scalars) for name in tool.parameters["properties"]}

    assert tool.accepts(arguments) == tool.accepts_reference(arguments)


@given(st.data())
def test_a_call_has_problems_exactly_when_it_is_not_accepted(data):
    schema = data.draw(shipped_schemas)
    call = data.draw(mutated_calls(schema))

    for tool in [schema.tools[call["name"]]] if call["name"] in schema.tools else schema.tools.values():
        problems = tool.problems(call["arguments"])
        assert tool.accepts(call["arguments"]) == (problems == "")
        assert "for the parameters of this tool" not in problems
        assert len(problems.splitlines()) <= 1


def test_newline_at_the_end_is_refused_by_both():
    tool = load_schema("retail", "1.0.0").tools["get_order_details"]

    assert not tool.accepts({"order_id": "#W1234567\n"})
    assert not tool.accepts_reference({"order_id": "#W1234567\n"})


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


ODD_VALUES = {
    "surrogate": {"content": "\ud800"},
    "surrogate_key": {"\ud800": 1, "content": "x"},
    "nan": {"content": float("nan")},
    "infinity": {"content": float("inf")},
    "deep": {"content": nested(100_000)},
    "deep_extra": {"content": "x", "more": nested(100_000)},
    "tuple": ("content",),
    "bytes": {"content": b"x"},
    "set": {"content": {1}},
    "int_key": {1: 2},
    "object": object(),
    "none": None,
}


@pytest.mark.parametrize("arguments", ODD_VALUES.values(), ids=ODD_VALUES)
@every_schema
def test_whatever_is_no_json_is_refused_without_an_exception(domain, version, arguments):
    tool = load_schema(domain, version).tools["respond"]

    assert not tool.accepts(arguments)
    assert not tool.accepts_reference(arguments)
    assert 0 < len(tool.problems(arguments)) < 200


@pytest.mark.parametrize("arguments", ODD_VALUES.values(), ids=ODD_VALUES)
def test_foreign_tools_without_limits_refuse_it_too(arguments):
    parameters = {"type": "object", "properties": {"content": {}}}
    schema = ToolSchema.from_openai("toy", "1", [openai_tool("say", parameters)], {"say": "read"})

    assert not schema.tools["say"].accepts(arguments)
    assert not schema.tools["say"].accepts_reference(arguments)


# Problems


@pytest.mark.parametrize(
    ("tool", "arguments", "problems"),
    [
        ("get_order_details", {}, "$.order_id: missing"),
        ("get_order_details", {"order_id": "W1"}, '$.order_id: "W1" does not match ^#W[0-9]{7}$'),
        ("get_order_details", {"order_id": 5}, "$.order_id: 5 is not a string"),
        ("get_order_details", {"order_id": "#W1234567", "x": 1}, "$.x: unknown"),
        ("get_order_details", [], "$: an array of 0 is not an object"),
        (
            "cancel_pending_order",
            {"order_id": "#W1234567", "reason": "bored\n"},
            '$.reason: "bored\\n" is not one of "no longer needed", "ordered by mistake"',
        ),
        (
            "return_delivered_order_items",
            {"order_id": "#W1234567", "item_ids": [], "payment_method_id": "paypal_1234567"},
            "$.item_ids: 0 items, but at least 1 needed",
        ),
        (
            "return_delivered_order_items",
            {"order_id": "#W1234567", "item_ids": ["1"], "payment_method_id": "paypal_1234567"},
            '$.item_ids[0]: "1" does not match ^[0-9]{10}$',
        ),
        ("respond", {"content": ""}, '$.content: "" has 0 characters, but at least 1 are needed'),
        (
            "modify_user_address",
            {"address2": "x", "zip": "1"},
            "$.address1: missing; $.city: missing; $.country: missing; $.state: missing; $.user_id: missing"
            "; and more",
        ),
    ],
)
def test_problems_read_like_this(tool, arguments, problems):
    assert load_schema("retail", "1.0.0").tools[tool].problems(arguments) == problems


@pytest.mark.parametrize("arguments", [{"content": "x" * 1_000_000}, {"content": ["x"] * 1_000_000}])
def test_problems_of_a_huge_value_are_short_and_fast(arguments):
    tool = load_schema("retail", "1.0.0").tools["respond"]

    assert len(tool.problems(arguments)) < 200
    assert effort(lambda: tool.problems(arguments)) < 30


def test_problems_of_many_unknown_names_are_short():
    tool = load_schema("retail", "1.0.0").tools["respond"]

    assert len(tool.problems({f"{i:06}" + "y" * 500: i for i in range(1000)})) < 1000


# Loading


@every_schema
def test_shipped_schemas_load_and_say_who_they_are(domain, version):
    schema = load_schema(domain, version)

    assert (schema.domain, schema.version) == (domain, version)
    assert load_schema(domain, version) is schema
    assert schema.tools["respond"].effect == "message"


@every_schema
def test_shipped_files_are_ascii(domain, version):
    assert shipped_files().path(f"{domain}/{version}").read_bytes().isascii()


def test_tools_keep_the_order_of_the_file():
    document = load_schema("retail", "1.0.0").document

    assert list(load_schema("retail", "1.0.0").tools) == [tool["name"] for tool in document["tools"]]


@pytest.mark.parametrize("domain", ["retial", "../retail", "meta", "", None, 5, ["retail"]])
def test_unknown_domain_names_the_known_ones(domain):
    with pytest.raises(
        UnknownNameError,
        match=r"Unknown schema domain .* Known: booking, repo, retail, tau_airline, tau_retail",
    ):
        load_schema(domain, "1.0.0")


@pytest.mark.parametrize("version", ["1.0", "9.9.9", "", None, 1.0, "../meta/tool_schema/1.0.0"])
def test_unknown_version_names_the_known_ones(version):
    with pytest.raises(UnknownNameError, match=r"1\.0\.0, 1\.1\.0, 2\.0\.0"):
        load_schema("retail", version)


def test_a_changed_file_is_refused_with_both_digests(folder):
    files = SchemaFiles(folder)
    before = read_schema(files, "retail", "1.0.0").sha256
    edit(folder / "retail/1.0.0.json", lambda document: document.update(description="Another."))
    after = digest(files.read("retail/1.0.0"))

    with pytest.raises(TamperedFileError, match=f"1.0.0.json: its sha256 is {after}.*{before}.*new version"):
        read_schema(files, "retail", "1.0.0")


def test_a_file_written_otherwise_is_the_same_file(folder):
    edit(folder / "retail/1.0.0.json", lambda _: None)

    assert read_schema(SchemaFiles(folder), "retail", "1.0.0") == load_schema("retail", "1.0.0")


def test_a_file_that_is_not_released_says_what_to_do(folder):
    edit(folder / "LOCK.json", lambda lock: lock.pop("retail/1.1.0"))

    with pytest.raises(DataFileError, match=r"not released.*tool-envs schema lock"):
        read_schema(SchemaFiles(folder), "retail", "1.1.0")


def test_a_released_file_that_is_gone(folder):
    (folder / "retail/1.1.0.json").unlink()

    with pytest.raises(DataFileError, match="missing"):
        read_schema(SchemaFiles(folder), "retail", "1.1.0")


def test_broken_json_is_reported_with_its_line(folder):
    (folder / "retail/1.1.0.json").write_text('{\n"format": 1,\n}')

    with pytest.raises(DataFileError, match=r"1.1.0.json, line [23]: not JSON"):
        read_schema(SchemaFiles(folder), "retail", "1.1.0")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', "[" * 100_000, "\udcff"])
def test_text_that_is_not_strict_json_is_refused(folder, text):
    (folder / "retail/1.1.0.json").write_text(text, errors="surrogateescape")

    with pytest.raises(DataFileError, match=r"1\.1\.0\.json: not JSON"):
        SchemaFiles(folder).read("retail/1.1.0")


def test_a_file_under_another_name_is_refused(folder):
    shutil.copy(folder / "retail/1.0.0.json", folder / "retail/1.0.1.json")
    edit(folder / "LOCK.json", lambda lock: lock.update({"retail/1.0.1": lock["retail/1.0.0"]}))

    with pytest.raises(DataFileError, match=r"says that it is retail 1\.0\.0"):
        read_schema(SchemaFiles(folder), "retail", "1.0.1")


# Files of other packages


def test_a_schema_outside_of_the_package_is_read_from_its_file(tmp_path):
    document = minimal_document()
    (tmp_path / "1.0.0.json").write_text(json.dumps(document))

    assert ToolSchema.from_file(tmp_path / "1.0.0.json") == ToolSchema.from_document(document, "toy.json")


@pytest.mark.parametrize(
    ("text", "problem"),
    [(None, "missing"), ("{", "not JSON"), ('{"a": 1, "a": 2}', "twice"), ('{"domain": "toy"}', "format")],
)
def test_a_file_that_holds_no_schema_is_named(tmp_path, text, problem):
    if text is not None:
        (tmp_path / "1.0.0.json").write_text(text)

    with pytest.raises(DataFileError, match=rf"1\.0\.0\.json.*{problem}"):
        ToolSchema.from_file(tmp_path / "1.0.0.json")


# Documents

REF = {"$ref": "#/$defs/a"}


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (minimal_document(tools=[]), r"\$\.tools: .*Exactly one tool has the effect message"),
        (minimal_document(tools=minimal_document()["tools"] * 2), r"\$\.tools: .*Exactly one"),
        (minimal_document(format="tool_schema/9.0.0"), r"\$\.format"),
        (minimal_document(version="1.0"), r"\$\.version"),
        (minimal_document(more=1), r"'more' was unexpected"),
        ([], r"\$: \[\] is not of type 'object'"),
        (minimal_document(description="\ud800"), "not a JSON value"),
        (document_with({"type": "string", "format": "date"}), r"\$\.tools\[0\]\.parameters.*format"),
        (document_with({"type": "string", "minimum": 1}), "minimum"),
        (document_with({"type": ["string", "null"]}), r"\$\.tools\[0\]\.parameters.*type"),
        (document_with({}), r"\$\.tools\[0\]\.parameters.properties.x"),
        (
            document_with({"type": "object", "properties": {}}),
            "'additionalProperties' is a required property",
        ),
        (document_with({"type": "array"}), "'items' is a required property"),
        (document_with({"$ref": "https://example.org/x.json"}), "Only a definition of the same file"),
        (document_with({"$ref": "#/$defs/a"}), r"#/\$defs/a leads nowhere"),
        (document_with(REF, **{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": REF}}), "a -> b"),
        (document_with({"type": "string"}, **{"$defs": {"a": {"type": "array", "items": REF}}}), "circle: a"),
        (document_with({"type": "string", "pattern": r"^\d$"}), r"\\d"),
        (document_with({"type": "string", "pattern": "a"}), "anchored"),
        (document_with({"type": "string", "pattern": "^(?=a)$"}), "anchored"),
        (document_with({"type": "string", "pattern": "^[z-a]$"}), "not a regular expression"),
        (
            document_with({"type": "string", "minLength": 3, "maxLength": 2}),
            "minLength is greater than maxLength",
        ),
        (document_with({"type": "string", "enum": ["a", 1]}), "1 is no string"),
    ],
)
def test_a_document_that_breaks_the_rules_says_where(document, problem):
    with pytest.raises(DataFileError, match=f"^toy.json: .*{problem}"):
        ToolSchema.from_document(document, "toy.json")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"effect": "look"}, r"\$\.tools\[0\]\.effect: 'look' is not one of"),
        ({"effect": "message"}, r"\$\.tools"),
        ({"name": "respond"}, r"\$\.tools\[0\]\.effect"),
        ({"parameters": {"type": "string"}}, r"\$\.tools\[0\]\.parameters"),
        ({"result": 5}, r"\$\.tools\[0\]\.result"),
        ({"more": 1}, r"\$\.tools\[0\]: .*'more' was unexpected"),
    ],
)
def test_a_tool_that_breaks_the_rules_says_where(change, problem):
    document = document_with({"type": "string"})
    document["tools"][0] |= change

    with pytest.raises(DataFileError, match=problem):
        ToolSchema.from_document(document, "toy.json")


def test_an_upper_limit_alone_is_fine():
    document = document_with({"type": "number", "maximum": -5})

    assert ToolSchema.from_document(document, "toy.json").tools["look"].accepts({"x": -6})


def test_required_names_must_exist():
    document = document_with({"type": "string"})
    document["tools"][0]["parameters"]["required"] = ["y"]

    with pytest.raises(
        DataFileError, match=r'\$\.tools\[0\]\.parameters\.required: there is no property "y"'
    ):
        ToolSchema.from_document(document, "toy.json")


def test_two_tools_of_one_name_are_refused():
    document = document_with({"type": "string"})
    document["tools"].append(document["tools"][0])

    with pytest.raises(DataFileError, match="two tools are called look"):
        ToolSchema.from_document(document, "toy.json")


def test_references_are_put_in_their_place_and_a_description_beside_one_wins():
    definitions = {"a": {"type": "string", "description": "Old.", "x-entity": "book"}}
    document = document_with({"$ref": "#/$defs/a", "description": "New."}, **{"$defs": definitions})

    parameter = ToolSchema.from_document(document, "toy.json").tools["look"].parameters["properties"]["x"]

    assert parameter == {"type": "string", "description": "New.", "x-entity": "book"}


def test_a_schema_does_not_change_with_the_document_it_was_made_from():
    document = document_with({"type": "string"})
    schema = ToolSchema.from_document(document, "toy.json")
    document["tools"][0]["parameters"]["properties"].clear()
    schema.document["tools"].clear()

    assert schema.tools["look"].accepts({"x": "y"})
    assert len(schema.document["tools"]) == 2


# Canonical JSON and digests


@given(st.data())
def test_key_order_does_not_change_the_digest(data):
    value = data.draw(json_values.filter(has_canonical_form))

    assert digest(reordered(value)) == digest(value)
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


def has_canonical_form(value):
    try:
        canonical_json(
            json.loads(canonical_json(value))
        )  # 2.0**53 has one, the integer that it reads as has none
    except rfc8785.CanonicalizationError:
        return False
    return True


def reordered(value):
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@every_schema
def test_a_schema_survives_reordering_copying_and_pickling(domain, version):
    schema = load_schema(domain, version)
    schema.tools["respond"].accepts({})
    copies = [
        ToolSchema.from_document(reordered(schema.document), "copy"),
        pickle.loads(pickle.dumps(schema)),  # noqa: S301
        copy.deepcopy(schema),
    ]

    assert all(other == schema and hash(other) == hash(schema) for other in copies)
    assert all(other.sha256 == digest(other.document) for other in copies)
    assert all(other.tools == schema.tools for other in copies)


def test_a_tool_can_be_pickled_after_use():
    tool = load_schema("retail", "1.0.0").tools["think"]
    tool.accepts({})
    tool.accepts_reference({})

    assert pickle.loads(pickle.dumps(tool)) == tool  # noqa: S301


def test_other_documents_make_other_schemas():
    assert load_schema("retail", "1.0.0") != load_schema("retail", "1.1.0")
    assert load_schema("retail", "1.0.0") != "retail"


# OpenAI form


def openai_tool(name, parameters):
    return {
        "type": "function",
        "function": {"name": name, "description": "A tool.", "parameters": parameters},
    }


@every_schema
def test_openai_form_has_the_listed_tools_without_our_keywords(domain, version):
    schema = load_schema(domain, version)
    tools = schema.to_openai()

    assert [tool["function"]["name"] for tool in tools] == [t.name for t in schema.tools.values() if t.listed]
    assert all(tool.keys() == {"type", "function"} and tool["type"] == "function" for tool in tools)
    assert all(tool["function"].keys() == {"name", "description", "parameters"} for tool in tools)
    assert "$ref" not in json.dumps(tools)
    assert "x-entity" not in json.dumps(tools)


def test_openai_form_is_fresh():
    schema = load_schema("retail", "1.0.0")
    schema.to_openai()[0]["function"]["parameters"]["properties"].clear()

    assert schema.to_openai()[0]["function"]["parameters"]["properties"]


def test_a_property_that_looks_like_an_annotation_stays():
    document = document_with({"type": "string", "x-entity": "book"})
    properties = document["tools"][0]["parameters"]["properties"]
    properties["x-y"] = {"type": "string"}

    shown = ToolSchema.from_document(document, "toy.json").to_openai()[0]["function"]["parameters"][
        "properties"
    ]

    assert shown == {"x": {"type": "string"}, "x-y": {"type": "string"}}


def test_foreign_tools_come_out_as_they_went_in():
    parameters = {"type": "object", "properties": {"x": {"type": "string", "x-other": 1}}, "$defs": {"a": {}}}
    tools = [openai_tool("b", parameters), {"type": "function", "function": {"name": "a", "strict": True}}]
    schema = ToolSchema.from_openai("toy", "59a200c", tools, {"a": "end", "b": "write"})

    assert json.dumps(schema.to_openai()) == json.dumps(tools)
    assert [(t.name, t.effect, t.listed) for t in schema.tools.values()] == [
        ("b", "write", True),
        ("a", "end", True),
        ("respond", "message", False),
    ]
    assert pickle.loads(pickle.dumps(schema)).to_openai() == tools  # noqa: S301
    assert schema.sha256 == digest(schema.document)


def test_foreign_tools_accept_what_their_schema_does():
    tools = [
        openai_tool("look", {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]})
    ]
    schema = ToolSchema.from_openai("toy", "1", tools, {"look": "read"})

    assert schema.tools["look"].accepts({"x": "a", "more": [1]})
    assert schema.tools["look"].problems({}) == "$.x: missing"
    assert schema.tools["respond"].accepts({"content": ""})


@pytest.mark.parametrize(
    ("tools", "effects", "problem"),
    [
        ([openai_tool("a", {})], {}, "effect of the tool a"),
        ([openai_tool("a", {})], {"a": "message"}, "Known: read, write, end"),
        ([openai_tool("a", {})], {"a": "read", "b": "read"}, "Unknown tool in the effects 'b'"),
        ([openai_tool("a", {}), openai_tool("a", {})], {"a": "read"}, "distinct names"),
        ([openai_tool("respond", {})], {"respond": "read"}, "none of them respond"),
        ([openai_tool("a", {"$ref": "file:///etc/hosts"})], {"a": "read"}, "references to other documents"),
        ([openai_tool("a", {"type": "text"})], {"a": "read"}, "no JSON Schema"),
        ([{"name": "a"}], {"a": "read"}, "Expected a tool of the form"),
        (["a"], {"a": "read"}, "Expected a tool of the form"),
    ],
)
def test_foreign_tools_of_another_form_are_refused(tools, effects, problem):
    with pytest.raises(UsageError, match=problem):
        ToolSchema.from_openai("toy", "1", tools, effects)


# The shipped schemas


def test_tau_retail_has_the_tools_of_tau_bench_in_order():
    names = list(load_schema("tau_retail", "1.0.0").tools)

    assert names[:-1] == sorted(names[:-1])
    assert len(names) == 17
    assert not load_schema("tau_retail", "1.0.0").tools["respond"].listed


def test_tau_retail_accepts_every_golden_call(tau_bench_path):
    schema = load_schema("tau_retail", "1.0.0")
    tasks = [
        t
        for s in ("test", "dev")
        for t in json.loads((tau_bench_path / f"tasks/retail_{s}.json").read_text())["tasks"]
    ]
    episodes = json.loads((tau_bench_path / "golden/retail_random.json").read_text())["episodes"]
    golden = [call for task in tasks for call in task["actions"]] + [c for e in episodes for c in e["calls"]]

    refused = [call for call in golden if not schema.tools[call["name"]].accepts(call["arguments"])]

    assert len(golden) > 1000
    assert refused == []


@pytest.mark.parametrize("order_id", ["W1234567", "", "#w1", "order 5"])
def test_tau_retail_leaves_wrong_ids_to_the_tools(order_id):
    assert load_schema("tau_retail", "1.0.0").tools["get_order_details"].accepts({"order_id": order_id})
    assert not load_schema("retail", "1.0.0").tools["get_order_details"].accepts({"order_id": order_id})


def test_result_schemas_of_retail_hold_for_tau_bench_records(tau_bench_path):
    tools = load_schema("retail", "1.0.0").tools
    for table, tool in (
        ("orders", "get_order_details"),
        ("users", "get_user_details"),
        ("products", "get_product_details"),
    ):
        records = json.loads((tau_bench_path / f"databases/retail/{table}.json").read_text()).values()
        reader = ToolSchema.from_openai(
            "x", "1", [openai_tool("x", tools[tool].result)], {"x": "read"}
        ).tools["x"]

        assert [reader.problems(record) for record in records if not reader.accepts(record)] == []


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "2.0.0"])
def test_every_id_parameter_of_retail_says_what_it_names(version):
    def has_entity(name, schema):
        schema = schema.get("items", schema)
        return "x-entity" in schema or not name.endswith(("_id", "_ids"))

    for tool in load_schema("retail", version).tools.values():
        assert all(has_entity(name, schema) for name, schema in tool.parameters["properties"].items())


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "2.0.0"])
def test_descriptions_of_retail_writes_ask_for_a_yes(version):
    for tool in load_schema("retail", version).tools.values():
        assert (tool.effect == "write") == ("explicit yes" in tool.description)


# The lock


def test_shipped_files_are_as_released():
    assert lock_problems(shipped_files()) == []
    assert unreleased(shipped_files()) == []


def test_the_lock_is_not_written_when_a_released_file_changed(folder):
    edit(folder / "retail/1.0.0.json", lambda document: document.update(description="Another."))
    before = (folder / "LOCK.json").read_bytes()

    with pytest.raises(TamperedFileError, match="new version"):
        write_lock(SchemaFiles(folder))
    assert (folder / "LOCK.json").read_bytes() == before


def test_the_lock_is_not_written_when_a_released_file_is_gone(folder):
    (folder / "meta/tool_schema/1.0.0.json").unlink()

    with pytest.raises(DataFileError, match="missing"):
        write_lock(SchemaFiles(folder))


def new_version(folder, version, change):
    shutil.copy(folder / "retail/2.0.0.json", folder / f"retail/{version}.json")
    edit(
        folder / f"retail/{version}.json",
        lambda document: (document.update(version=version), change(document)),
    )
    return SchemaFiles(folder)


def drop_tool(document):
    del document["tools"][0]


def reword(document):
    document["tools"][0]["description"] = "Work it out."


def test_a_new_file_is_added_to_the_lock(folder):
    files = new_version(folder, "2.0.1", reword)
    before = files.lock()

    assert unreleased(files) == ["retail/2.0.1"]
    assert write_lock(files) == ["retail/2.0.1"]
    assert files.lock() == before | {"retail/2.0.1": read_schema(files, "retail", "2.0.1").sha256}
    assert write_lock(files) == []


def test_other_kinds_of_files_are_locked_too(folder):
    (folder / "meta/trajectory").mkdir(exist_ok=True)
    (folder / "meta/trajectory/7.0.0.json").write_text("{}")
    (folder / "retail/layout-7.json").write_text("{}")
    files = SchemaFiles(folder)

    assert write_lock(files) == ["meta/trajectory/7.0.0", "retail/layout-7"]
    assert files.versions("retail") == ["1.0.0", "1.1.0", "2.0.0"]
    assert files.read_released("retail/layout-7") == {}


def test_a_first_lock_is_made_where_there_is_none(tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/1.0.0.json").write_text(json.dumps(minimal_document()))

    assert write_lock(SchemaFiles(tmp_path)) == ["toy/1.0.0"]
    assert read_schema(SchemaFiles(tmp_path), "toy", "1.0.0").domain == "toy"


@pytest.mark.parametrize(
    ("version", "change", "demanded"),
    [
        ("2.0.1", drop_tool, "major"),
        ("2.1.0", drop_tool, "major"),
        ("3.0.0", drop_tool, None),
        ("2.0.1", reword, None),
    ],
)
def test_a_version_number_must_say_enough(folder, version, change, demanded):
    files = new_version(folder, version, change)
    problems = [str(problem) for problem in lock_problems(files)]

    assert len(problems) == (1 if demanded else 0)
    assert all(
        f"since 2.0.0 demand a {demanded} step" in p and "calculate: tool removed" in p for p in problems
    )


# The command


def run(*arguments):
    return CliRunner().invoke(schema_app, list(arguments), env={"COLUMNS": "200"})


def test_command_list_names_every_version():
    output = run("list").output

    assert all(
        any({domain, version} <= set(line.split()) for line in output.splitlines())
        for domain, version in SHIPPED
    )


def test_command_show_prints_the_openai_form():
    output = run("show", "retail", "1.0.0", "--openai").output

    assert json.loads(output) == load_schema("retail", "1.0.0").to_openai()


def test_command_show_lists_the_tools():
    output = run("show", "tau_retail", "1.0.0").output

    assert all(name in output for name in load_schema("tau_retail", "1.0.0").tools)


def test_command_diff_says_what_the_changes_demand():
    assert "demands: minor" in run("diff", "retail", "1.0.0", "1.1.0").output
    assert json.loads(run("diff", "retail", "1.1.0", "2.0.0", "--json").output)["demands"] == "major"


def test_command_lets_errors_through():
    assert isinstance(run("show", "retail", "7.0.0").exception, UnknownNameError)


def test_command_lock_check_passes_on_the_shipped_files():
    assert run("lock", "--check").exit_code == 0


def test_command_lock_check_fails_on_a_new_file_and_lock_adds_it(folder):
    new_version(folder, "2.0.1", reword)

    checked = run("lock", "--check", "--root", str(folder))
    locked = run("lock", "--root", str(folder))

    assert checked.exit_code == 1
    assert "not released" in checked.output
    assert "released retail/2.0.1" in locked.output
    assert run("lock", "--check", "--root", str(folder)).exit_code == 0


def test_command_lock_refuses_a_changed_file(folder):
    edit(folder / "retail/1.0.0.json", drop_tool)

    assert run("lock", "--check", "--root", str(folder)).exit_code == 1
    assert isinstance(run("lock", "--root", str(folder)).exception, TamperedFileError)
