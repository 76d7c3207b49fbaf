"""The format reward of DeepSeek-R1: whether what a policy writes has the form that was asked of it."""

import re
from collections.abc import Iterator

import msgspec

from tool_envs.errors import Code
from tool_envs.messages import CONTENT, RESPOND, Json
from tool_envs.trajectory.record import ToolMessage, Trajectory, assistant_messages

# One block at the start, with something in it and something behind it; and no other tag.
_ONE_THOUGHT = re.compile(r"\s*<think>(?P<thought>.*?\S.*?)</think>(?P<rest>.*\S.*)", re.DOTALL)
_TAG = re.compile("</?think>")


def format_reward(trajectory: Trajectory) -> float | None:
    """The share of the policy's messages that have the form that R1 was rewarded for.

    A message has it when it begins with its thought, in exactly one `<think>` block with something in it,
    something stands behind the block, and its calls are well-formed: the environment could read them (no
    `malformed_call`). Whether a tool exists, and takes these arguments, is no matter of form.

    Source: DeepSeek-AI, DeepSeek-R1, 2025, arXiv 2501.12948, section 2.2.2, which gives one bit for the one
    response; here it is the mean over the messages, each of which is one.

    Returns:
        0.0 to 1.0; None after an infrastructure failure, and where the policy wrote nothing.
    """
    if trajectory.outcome.status == "infrastructure":
        return None
    bits = list(_bits(trajectory))
    return sum(bits) / len(bits) if bits else None


def with_format(trajectory: Trajectory) -> Trajectory:
    """The record with its format reward in the ledger, apart from all other rewards; a new record."""
    outcome = trajectory.outcome
    ledger = msgspec.structs.replace(outcome.ledger, format=format_reward(trajectory))
    return msgspec.structs.replace(trajectory, outcome=msgspec.structs.replace(outcome, ledger=ledger))


def _bits(trajectory: Trajectory) -> Iterator[bool]:
    for index, message in assistant_messages(trajectory):
        if message.author == "policy":
            answer = trajectory.messages[index + 1] if index + 1 < len(trajectory.messages) else None
            malformed = isinstance(answer, ToolMessage) and answer.code == Code.MALFORMED_CALL
            yield not malformed and _has_one_thought(message.action)


def _has_one_thought(action: Json) -> bool:
    text, has_calls = _written(action)
    # Calls that stand beside the text are what the thought led to.
    found = _ONE_THOUGHT.fullmatch(f"{text} calls" if has_calls else text)
    return found is not None and not _TAG.search(found["thought"]) and not _TAG.search(found["rest"])


def _written(action: Json) -> tuple[str, bool]:
    """The text of an action as the policy wrote it, and whether there are calls beside it."""
    if isinstance(action, str):
        return action, False
    if not isinstance(action, dict):
        return "", False
    if isinstance(action.get("content"), str):
        return action["content"], bool(action.get("tool_calls"))
    arguments = action.get("arguments") if action.get("name") == RESPOND else None
    said = arguments.get(CONTENT) if isinstance(arguments, dict) else None
    return (said, False) if isinstance(said, str) else ("", False)
