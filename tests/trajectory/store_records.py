"""Records for the tests of stores: real ones, and any that their form allows."""

import functools

import toy_domain
from hypothesis import strategies as st

from tool_envs.agents import load_agent
from tool_envs.evaluation import evaluate
from tool_envs.trajectory import Trajectory, record_episode


@functools.cache
def played(agent="gold"):
    """The records of an agent's episodes at the toy desk, one for each of its four tasks."""
    found, agent = [], load_agent(agent)
    evaluate(
        toy_domain.ENV_ID,
        {},
        agent,
        on_episode=lambda env, r: found.append(record_episode(env, agent.name, agent.version, r.seed)),
    )
    return tuple(found)


def numbered(number, size=0):
    """A record with this seed, whose last message is at least so many characters long."""
    value = played()[number % 4].to_json()
    value["seed"] = number
    value["messages"][-1]["content"] += "x" * size
    return Trajectory.from_json(value)


TEXTS = st.text(st.characters(codec=None), max_size=12)
_NUMBERS = st.integers() | st.integers(2**62, 2**200) | st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def any_records(draw):
    """Records with lone surrogates, large integers and floats in all fields that may hold them."""
    value = draw(st.sampled_from([*played("gold"), *played("random")])).to_json()
    value["seed"] = draw(st.integers(0, 2**200))
    value["task"]["id"] = draw(TEXTS)
    value["env"]["kwargs"] = draw(st.dictionaries(TEXTS, _JSON, max_size=3))
    value["agent"]["name"] = draw(TEXTS.filter(bool))
    value["usage"]["user"] = draw(
        st.none() | st.fixed_dictionaries(dict.fromkeys(["prompt", "completion"], st.integers(0, 2**200)))
    )
    value["costs"]["agent"] = draw(st.floats(0, allow_nan=False, allow_infinity=False))
    value["outcome"]["steps"] = draw(st.integers(0, 2**200))
    value["outcome"]["reward"] = draw(st.none() | st.floats(allow_nan=False, allow_infinity=False))
    for message in value["messages"]:
        message["content"] = draw(TEXTS)
        if message["role"] == "assistant":
            message["action"] = draw(_JSON)
    return Trajectory.from_json(value)
