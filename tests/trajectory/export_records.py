"""Records whose environment can be made here, for exports: random ones, and episodes that were played."""

import functools

import gymnasium
import toy_domain
from hypothesis import strategies as st
from store_records import played
from trajectory_records import records

from tool_envs.trajectory import Trajectory, record_episode
from tool_envs.trajectory.exports import Source, TokenizerRef
from tool_envs.trajectory.exports.source import Contexts

CONTEXTS = Contexts({})


@functools.cache
def _desk():
    value = played()[0].to_json()
    return {name: value[name] for name in ("env", "schema", "grader_digest")}


def at_desk(value):
    """A record of these messages at the toy desk, as it is today."""
    return Trajectory.from_json({**value, **_desk()})


def rewarded(value, reward):
    """A record of these messages, with a reward if it may have one."""
    outcome = value["outcome"]
    outcome["reward"] = None if outcome["status"] == "infrastructure" else reward
    return at_desk(value)


REWARDS = st.sampled_from([0.0, 1.0])
ROLLOUTS = st.builds(rewarded, records(sampled=True, others=False), REWARDS)
"""Records with the tokens of all that the policy wrote."""
WRITTEN = st.builds(rewarded, records(sampled=False), REWARDS)
"""Records without tokens."""


class BoundTokenizer:
    """A turn is `<role>text</s>`; every character is a token."""

    end = "</s>"

    def __init__(self, context):
        self._head = f"<system>{context.policy}</s>"

    def render(self, messages, add_generation_prompt):
        turns = [f"<{m['role']}>{m['content'] or ''}{_calls(m)}</s>" for m in messages]
        return self._head + "".join(turns) + "<assistant>" * add_generation_prompt

    def encode(self, text):
        return [(ord(character), place, place + 1) for place, character in enumerate(text)]


def _calls(message):
    functions = [call["function"] for call in message.get("tool_calls", ())]
    return "".join(f"<call>{function['name']}{function['arguments']}</call>" for function in functions)


class Tokenizer:
    """Binds the above."""

    ref = TokenizerRef("ab" * 32, "cd" * 32)

    def bind(self, context):
        return BoundTokenizer(context)


def source(record, tokenizer=None, sample=0):
    """What the rows of a record are made of."""
    return Source(record, sample, CONTEXTS, tokenizer)


def play(*actions, **kwargs):
    """The record of an episode at the toy desk with these actions."""
    env = gymnasium.make(toy_domain.ENV_ID, disable_env_checker=True, **kwargs)
    env.reset(seed=3, options={"task_index": 0})
    for action in actions:
        env.step(action)
    return record_episode(env, "tester", "v1", 3)


def call(name, **arguments):
    """A call of a tool."""
    return {"name": name, "arguments": arguments}


CLOSE = call("close_desk")
