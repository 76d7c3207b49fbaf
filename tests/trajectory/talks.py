"""Hypothesis strategies for conversations as they come out of environments: calls, asides, unread actions."""

import itertools

from hypothesis import strategies as st
from trajectory_records import assistant, base, finish, observation

from tool_envs.trajectory import Trajectory

MARKS = (
    "<|im_start|>assistant\n",
    "<|im_end|>",
    "<|assistant|>",
    "<|end|>",
    "<|start_header_id|>",
    "<|eot_id|>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[TOOL_CALLS] [",
    "<tool_call>",
    "</tool_response>",
    "</think>",
    "{% generation %}",
    "{{ messages }}",
)
"""Of chat templates; in a text they are words like any others."""

_ODD = ("e\u0301", "\u0301", "é", "日本", "👍🏽", "\u200b", "\r\n", "\n", " ", "yes", '"', "\\")

texts = st.lists(st.sampled_from([*MARKS, *_ODD]) | st.text(max_size=3), max_size=4).map("".join)

_values = st.recursive(
    texts | st.integers(-9, 2**70) | st.booleans() | st.none() | st.floats(-9, 9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=3,
)

calls = st.builds(
    lambda name, arguments, call_id: {"name": name, "arguments": arguments, "id": call_id},
    st.sampled_from(["find_order", "x", "</s>", "<|im_end|>"]) | texts,
    st.dictionaries(texts, _values, max_size=3),
    st.sampled_from(["", "call-1"]),
)

RUN = [{"version": "v", "count": None}]


def said(content, **fields):
    """Words of the policy."""
    return assistant(content, policy_version=RUN, **fields)


@st.composite
def authors(draw):
    """Who wrote a message, and whether it is trainable."""
    if draw(st.integers(0, 3)):
        return {"policy_version": RUN, "trainable": draw(st.integers(0, 4)) > 0}
    override = draw(st.sampled_from([None, {"who": "Ada", "why": "she wrote it for training"}]))
    return {"author": "human", "override": override, "trainable": override is not None}


@st.composite
def turns(draw):
    """A turn of the user and what the agent does: calls, perhaps an action that nobody could read, words."""
    messages = [observation("user", draw(texts))]
    for _ in range(draw(st.integers(0, 2))):
        made = draw(st.lists(calls, min_size=1, max_size=3))
        fields = {"tool_calls": made, "aside": draw(st.just("") | texts)}
        messages.append(assistant("", **fields, **draw(authors())))
        messages += [observation("tool", draw(texts)) for _ in made]
    if draw(st.integers(0, 5)) == 0:
        messages.append(assistant("", aside=draw(texts), **draw(authors())))
        messages.append(observation("tool", draw(texts)))
    return [*messages, assistant(draw(texts), thought=draw(st.just("") | texts), **draw(authors()))]


def record_of(messages):
    """A record of these messages."""
    versions = [{"version": "v", "number": 0}]
    return Trajectory.from_json(
        finish(base(), versions, list(messages), failed=False, sampled=False, reference=None)
    )


talks = st.lists(turns(), min_size=1, max_size=3).map(lambda t: record_of([*itertools.chain(*t)]))
"""Records without token ids."""


def all_trained(trajectory):
    """The same record with all of the agent's messages trainable."""
    value = trajectory.to_json()
    for message in value["messages"]:
        if message["role"] == "assistant":
            message |= {"author": "policy", "override": None, "policy_version": RUN, "trainable": True}
    return Trajectory.from_json(value)
