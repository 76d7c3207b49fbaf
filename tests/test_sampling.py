import copy
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import calls, chooser, mutated_calls, seeded_chooser, shipped_schemas, values

from tool_envs.errors import UsageError
from tool_envs.schema import load_schema
from tool_envs.schema.patterns import sample_pattern
from tool_envs.schema.sampling import mutate_call, sample_call, sample_value

TEXT = {"type": "string"}
SCHEMAS = {
    "null": {"type": "null"},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer", "minimum": 3, "maximum": 4},
    "integer above": {"type": "integer", "minimum": 5000},
    "integer below": {"type": "integer", "maximum": -5000},
    "number": {"type": "number", "minimum": 0.5, "maximum": 0.75},
    "number exact": {"type": "number", "minimum": 0.125, "maximum": 0.125},
    "string": {"type": "string", "minLength": 2, "maxLength": 3},
    "string long": {"type": "string", "minLength": 80},
    "pattern": {"type": "string", "pattern": "^[a-z]+$", "minLength": 30, "maxLength": 40},
    "enum": {"enum": ["a", 1, None]},
    "const": {"const": False},
    "union": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
    "array": {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2},
    "set": {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "uniqueItems": True},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "keys": {
        "type": "object",
        "patternProperties": {"^[a-c]{2}$": TEXT},
        "additionalProperties": False,
    },
    "object": {"type": "object", "properties": {"a": TEXT, "b": {"type": "null"}}, "required": ["b"]},
    "untyped": {},
    "several types": {"type": ["string", "null"]},
    "required without schema": {"type": "object", "required": ["a"]},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@given(st.data())
def test_samples_are_valid(schema, data):
    value = data.draw(values(schema))

    jsonschema.Draft202012Validator(schema).validate(value)


@given(st.data())
def test_samples_of_every_shipped_result_are_valid(data):
    schema = data.draw(shipped_schemas)
    tool = data.draw(st.sampled_from(list(schema.tools.values())))
    value = data.draw(values(tool.result))

    jsonschema.Draft202012Validator(tool.result).validate(value)


def test_samples_differ_and_reach_every_choice():
    draw = seeded_chooser(0)
    call_names = {sample_call(load_schema("retail", "1.0.0"), draw)["name"] for _ in range(500)}
    texts = {sample_value({"type": "string", "maxLength": 10}, draw) for _ in range(500)}

    assert call_names == set(load_schema("retail", "1.0.0").tools)
    assert len(texts) > 300
    assert any(not text.isascii() for text in texts)
    assert "" in texts


PATTERNS = [
    "^#W[0-9]{7}$",
    "^(credit_card|gift_card|paypal)_[0-9]{7}$",
    "^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,100}\\.[A-Za-z]{2,10}$",
    "^[^a-z]{3}$",
    "^a?b*c+d{2,}$",
    "^(?:x|yz)+$",
    r"^\d\w\s.$",
    "^$",
    "^[\u00e0-\u00e5]$",
    "^[^b]$",
    "^[a-c]*?d$",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(st.data())
def test_texts_match_their_pattern(pattern, data):
    assert re.fullmatch(pattern, sample_pattern(pattern, chooser(data.draw), 0, 1000))


@pytest.mark.parametrize(("least", "most"), [(0, 0), (1, 1), (50, 50), (200, 300)])
def test_texts_of_a_pattern_keep_their_length(least, most):
    draw = seeded_chooser(0)

    assert all(least <= len(sample_pattern("^[a-z]*$", draw, least, most)) <= most for _ in range(20))


@pytest.mark.parametrize("pattern", [r"^(a)\1$", "^(?=a)a$", "(?i:a)", r"\ba", r"[\W]", "^[^ -~]$"])
def test_patterns_that_are_not_supported_say_so(pattern):
    with pytest.raises(UsageError, match="Cannot make texts for"):
        sample_pattern(pattern, lambda _: 0, 0, 10)


@pytest.mark.parametrize(
    ("pattern", "problem"), [("^abc$", "Found no text of 0 to 2"), ("(", "not a regular")]
)
def test_patterns_without_a_text_say_so(pattern, problem):
    with pytest.raises(UsageError, match=problem):
        sample_pattern(pattern, lambda _: 0, 0, 2)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "string", "oneOf": []}, "'oneOf'"),
        ({"$ref": "#/$defs/a"}, r"'\$ref'"),
        ({"type": "integer", "minimum": 0.2, "maximum": 0.8}, "No integer lies between"),
        ({"type": "array", "items": {"const": 1}, "minItems": 2, "uniqueItems": True}, "different items"),
    ],
)
def test_schemas_that_cannot_be_sampled_say_so(schema, problem):
    with pytest.raises(UsageError, match=problem):
        sample_value(schema, lambda _: 0)


def test_a_sample_shares_nothing_with_its_schema():
    schema = {"const": {"a": []}}
    sample_value(schema, lambda _: 0)["a"].append(1)

    assert schema == {"const": {"a": []}}


@given(st.data())
def test_a_mutation_leaves_the_given_call_alone(data):
    schema = data.draw(shipped_schemas)
    call = data.draw(calls(schema))
    before = copy.deepcopy(call)
    mutated = mutate_call(schema, call, chooser(data.draw))

    assert call == before
    assert mutated.keys() == {"name", "arguments"}


@given(st.data())
def test_mutated_calls_can_be_mutated_again(data):
    schema = data.draw(shipped_schemas)

    assert mutate_call(schema, data.draw(mutated_calls(schema)), chooser(data.draw)).keys() == {
        "name",
        "arguments",
    }


def test_mutations_make_both_wrong_and_other_valid_calls():
    schema, draw = load_schema("retail", "1.0.0"), seeded_chooser(0)
    mutated = [mutate_call(schema, sample_call(schema, draw), draw) for _ in range(1000)]
    known = [call for call in mutated if call["name"] in schema.tools]
    valid = [call for call in known if schema.tools[call["name"]].accepts(call["arguments"])]

    assert len(known) < len(mutated)
    assert 100 < len(valid) < len(known) - 100
