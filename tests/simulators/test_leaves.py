"""Arguments taken apart: nothing is lost but sums, and every part knows whose it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import UsageError
from tool_envs.simulators.leaves import leaves_of, owners_of

scalars = st.one_of(st.text(max_size=3), st.integers(0, 9))
lists = st.lists(st.text(max_size=3), max_size=3)
plain = st.dictionaries(st.sampled_from("abc"), scalars | lists)


@st.composite
def objects(draw, members):
    """A list of objects with some of these members, all texts, and a number."""
    names = draw(st.lists(st.sampled_from(members), min_size=1, unique=True))
    one = st.fixed_dictionaries({name: st.text(max_size=3) for name in names} | {"sum": st.integers()})
    return draw(st.lists(one, min_size=1, max_size=3))


nested = st.fixed_dictionaries({}, optional={"x": objects("mn"), "y": objects("op")})


@given(plain)
def test_what_holds_no_objects_is_its_own_leaf(arguments):
    assert leaves_of(arguments) == arguments
    assert owners_of(arguments) == {name: name for name in arguments}


@given(plain, nested)
def test_objects_can_be_put_together_again(arguments, more):
    whole = {**arguments, **more}
    leaves, owners = leaves_of(whole), owners_of(whole)

    assert leaves.keys() == owners.keys()
    for name, value in more.items():
        columns = {leaf: leaves[leaf] for leaf, owner in owners.items() if owner == name}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        assert rows == [{member: one[member] for member in one if member != "sum"} for one in value]


def test_a_leaf_belongs_to_one_argument_only():
    with pytest.raises(UsageError, match="'payments' and 'payment_id' both have 'payment_id'"):
        owners_of({"payments": [{"payment_id": "a"}], "payment_id": "b"})
