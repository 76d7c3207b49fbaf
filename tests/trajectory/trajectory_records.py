"""Hypothesis strategies for records, with the tokens of a conversation as a policy server would give them."""

import copy
import functools
import itertools
import json
from pathlib import Path

from hypothesis import strategies as st

from tool_envs.trajectory import Trajectory

RECORDS_1 = Path(__file__).parent / "records-1.0.0.jsonl"
"""Records that 1.0.0 wrote: two that were completed, one cut by its limit, one failed by infrastructure."""
RECORDS_2 = Path(__file__).parent / "records-2.0.0.jsonl"
"""Records that 2.0.0 wrote: two that were completed, one failed, and two whose `process` was a bool."""
RECORDS_3 = Path(__file__).parent / "records-3.0.0.jsonl"
"""Records that 3.0.0 wrote: three that were completed, one of them with tokens, and one that failed."""

END = 256
SPECIAL = {"<|user|>": 257, "<|tool|>": 258, "<|assistant|>": 259, "<|end|>": END}
MERGED = 260
"""From here on: tokens of two bytes, which the policy may sample where the tokeniser would give two."""


def encode(text):
    """The ids of a text: its bytes, but marks of the chat template as one id each, wherever they stand."""
    for mark, number in SPECIAL.items():
        if mark in text:
            before, _, after = text.partition(mark)
            return [*encode(before), number, *encode(after)]
    return list(text.encode("utf-8", "surrogatepass"))


def render(messages):
    """The ids of a conversation in a chat template that leaves out earlier thoughts."""
    return [i for m in messages for i in encode(f"<|{m['role']}|>{m['content']}<|end|>")]


texts = st.lists(
    st.sampled_from([*SPECIAL, "é", "日本", "\ud800", "👍🏽", "\r\n", "yes"]) | st.text(max_size=3),
    max_size=3,
).map("".join)
"""Texts of any characters, empty ones and marks of the chat template among them."""

SHA = "0123456789abcdef" * 4


@functools.cache
def _base_line():
    return RECORDS_1.read_text().splitlines()[0]


def base():
    """A record of today's format as JSON, without messages."""
    value = Trajectory.from_json(json.loads(_base_line())).to_json()
    return {**value, "messages": []}


@st.composite
def policy_versions(draw):
    """One to three versions, in order."""
    numbers = sorted(draw(st.sets(st.integers(0, 2**31 - 1), min_size=1, max_size=3)))
    return [{"version": f"step-{number}", "number": number} for number in numbers]


@st.composite
def runs(draw, names, position, total):
    """How `total` tokens are cut into runs of versions from a position on, and the position after it."""
    most = max(0, min(len(names) - position, total) - 1)
    cuts = draw(st.sets(st.integers(1, max(1, total - 1)), max_size=most))
    bounds = [0, *sorted(cuts), total]
    counts = [end - start for start, end in itertools.pairwise(bounds)]
    found = [{"version": name, "count": count} for name, count in zip(names[position:], counts, strict=False)]
    return found, position + len(found) - 1


@st.composite
def sampled_ids(draw, text):
    """What a policy may have sampled to say a text: other tokens than the tokeniser's, ended or cut off."""
    ids = encode(text)
    if draw(st.booleans()) and len(ids) > 1:
        ids = [MERGED + ids[0], *ids[2:]]
    return [*ids, END] if draw(st.booleans()) else ids


def observation(role, content):
    """A message of user or tool."""
    value = {"role": role, "name": role, "content": content, "tool_call_id": "", "trainable": False}
    return {**value, "code": None} if role == "tool" else value


def assistant(content, **fields):
    """A message of the agent."""
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [],
        "aside": "",
        "thought": "",
        "action": content,
        "author": "policy",
        "trainable": "author" not in fields,
        "override": None,
        "policy_version": [],
        "tokens": None,
        **fields,
    }


@st.composite
def records(draw, sampled=None, others=True):
    """Valid records as JSON, with tokens of all of the policy's messages (`sampled`) or of none.

    `others`: whether there may be trainable messages that the policy did not write.
    """
    sampled = draw(st.booleans()) if sampled is None else sampled
    versions, position = draw(policy_versions()), 0
    names = [version["version"] for version in versions]
    failed = draw(st.integers(0, 4)) == 0
    messages, context = [], []
    for role in draw(
        st.lists(st.sampled_from(["user", "tool", "assistant", "assistant", "human"]), max_size=7)
    ):
        text = draw(texts)
        if role in ("user", "tool"):
            messages.append(observation(role, text))
            context += render(messages[-1:])
        elif role == "human":
            messages.append(draw(human_messages(text, others and not failed)))
            context += render(messages[-1:])
        else:
            trainable = not failed and draw(st.integers(0, 4)) > 0
            prompt = [*context, *encode("<|assistant|>")]
            ids = draw(sampled_ids(text)) if sampled else [0] * draw(st.integers(0, 4))
            position = min(position + draw(st.integers(0, 1)), len(names) - 1)
            pieces, position = draw(runs(names, position, len(ids)))
            tokens = {
                "prompt_token_ids": prompt,
                "token_ids": ids,
                "logprobs": draw(st.lists(st.floats(-9, 0), min_size=len(ids), max_size=len(ids))),
            }
            if not sampled and len(pieces) == 1:
                pieces[0]["count"] = draw(st.sampled_from([None, len(ids)]))
            messages.append(
                assistant(
                    text, trainable=trainable, policy_version=pieces, tokens=tokens if sampled else None
                )
            )
            # The next prompt goes on with these ids, or is made from the texts again.
            context = [*prompt, *ids] if draw(st.integers(0, 2)) else render(messages)
    return finish(base(), versions, messages, failed, sampled, draw(st.sampled_from([None, "step-0"])))


@st.composite
def human_messages(draw, text, may_train):
    """What the policy did not write."""
    override = draw(st.sampled_from([None, {"who": "Ada", "why": "she wrote it for training"}]))
    author = draw(st.sampled_from(["human", "imported"]))
    trainable = may_train and override is not None and draw(st.booleans())
    return assistant(text, author=author, override=override, trainable=trainable)


def finish(value, versions, messages, failed, sampled, reference):
    """A record around messages."""
    value = copy.deepcopy(value)
    value["agent"]["version"] = versions[0]["version"]
    value |= {"policy_versions": versions, "messages": messages, "reference_policy": reference}
    if sampled:
        sampling = {"temperature": 1.0, "top_p": 0.9, "seed": None, "stop": ["<|end|>"]}
        value |= {"sampling": sampling, "tokenizer": SHA, "chat_template": SHA}
    if failed:
        value["outcome"] |= {"status": "infrastructure", "reward": None}
        value["outcome"]["ledger"]["terminal"] = None
    return value
