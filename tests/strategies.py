"""Hypothesis strategies over tool schemas; they drive the same walker that `ToolCallSpace.sample` does."""

import numpy as np
from hypothesis import strategies as st

from tool_envs.schema import load_schema
from tool_envs.schema.files import shipped_files
from tool_envs.schema.sampling import mutate_call, sample_call, sample_value

SHIPPED = [
    (domain, version) for domain in shipped_files().domains() for version in shipped_files().versions(domain)
]
"""Domain and version of every tool schema of this package."""

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
"""Any JSON values."""

shipped_schemas = st.sampled_from(SHIPPED).map(lambda name: load_schema(*name))
"""The schemas of this package."""


def chooser(draw):
    """The `Draw` of our walker made from a composite's `draw`."""
    return lambda n: draw(st.integers(0, n - 1))


def seeded_chooser(seed):
    """A `Draw` from a seeded generator."""
    generator = np.random.default_rng(seed)
    return lambda n: int(generator.integers(n))


@st.composite
def values(draw, schema):
    """Valid values of a JSON Schema."""
    return sample_value(schema, chooser(draw))


@st.composite
def calls(draw, schema):
    """Valid calls of a tool schema's tools."""
    return sample_call(schema, chooser(draw))


@st.composite
def mutated_calls(draw, schema):
    """Calls that were valid and then changed once or twice; some still are."""
    call = sample_call(schema, chooser(draw))
    for _ in range(draw(st.integers(1, 2))):
        call = mutate_call(schema, call, chooser(draw))
    return call
