"""Canonical JSON and digests."""

import hashlib
import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.canonical import canonical_json, digest

SAFE = 2**53 - 1
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def _reordered(value):
    if isinstance(value, dict):
        return {key: _reordered(value[key]) for key in reversed(value)}
    return [_reordered(item) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_the_order_of_keys_does_not_matter(value):
    assert canonical_json(_reordered(value)) == canonical_json(value)


@given(JSON)
def test_it_reads_back_as_the_same_value(value):
    # Large floats are written without a point, so they read back as integers.
    assert json.loads(canonical_json(value), parse_int=float) == value


@given(JSON, JSON)
def test_digests_are_equal_when_the_values_are(one, other):
    assert (digest(one) == digest(other)) == (canonical_json(one) == canonical_json(other))


def test_the_example_of_the_rfc():
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 1e-27],
        "literals": [None, True, False],
        "\u20ac": "\n",
    }

    assert canonical_json(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"\u20ac":"\\n"}'
    )


def test_one_and_one_point_zero_are_one_number():
    assert canonical_json([1, 1.0, -0.0]) == b"[1,1,0]"


def test_keys_are_sorted_as_utf_16():
    assert canonical_json({"\U0001f600": 1, "\ufb33": 2}).decode() == '{"\U0001f600":1,"\ufb33":2}'


def test_a_digest_is_the_sha256_of_the_canonical_bytes():
    assert digest({"b": 1, "a": []}) == hashlib.sha256(b'{"a":[],"b":1}').hexdigest()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1, "\ud800", {1: 2}, {"a": object()}])
def test_what_is_not_i_json_is_refused(value):
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json(value)
