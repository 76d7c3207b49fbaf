"""What a filter's rubric lists, read off the record of an episode: no model is asked."""

from collections.abc import Iterator, Sequence

from tool_envs.facts import FactReader
from tool_envs.judging.rubric import Check, Rubric, RuleKept, Said, Told, ToolCalled, ToolNotCalled
from tool_envs.messages import CONTENT, RESPOND
from tool_envs.trajectory.record import (
    AssistantMessage,
    Call,
    ToolMessage,
    Trajectory,
    UserMessage,
)

_FACTS = FactReader()


def unmet(trajectory: Trajectory, rubric: Rubric) -> list[str]:
    """What of a filter's rubric a completed episode does not meet, as reasons to drop it.

    Looked at are the expected tools and the checkpoints; items and success criteria are for those who read.
    Reasons name tools and checkpoints, and nothing of what was the right answer: a record never holds it.
    """
    called = {call.name for call in successful_calls(trajectory)}
    missing = [f"no call of `{tool}` succeeded" for tool in rubric.expected_tools or () if tool not in called]
    failed = [
        f"checkpoint `{point.id}` is not met"
        for point in rubric.checkpoints
        if not meets(trajectory, point.check)
    ]
    return missing + failed


def meets(trajectory: Trajectory, check: Check) -> bool:
    """Whether the record of a completed episode meets one check; see `schemas/meta/rubric`."""
    match check:
        case ToolCalled():
            return any(_is_call(call, check) for call in successful_calls(trajectory))
        case ToolNotCalled():
            return all(call.name != check.tool for call in successful_calls(trajectory))
        case Said():
            return any(_FACTS.values_in(text, "word", check.texts) for text in said(trajectory))
        case Told():
            return _FACTS.is_told(check.type, check.value, said(trajectory))
        case RuleKept():
            return all(violation["rule"] != check.rule for violation in trajectory.outcome.violations)


def successful_calls(trajectory: Trajectory) -> Iterator[Call]:
    """The calls of tools that were carried out, in order."""
    for call, answer in _answered_calls(trajectory):
        if isinstance(answer, ToolMessage) and answer.code is None:
            yield call


def said(trajectory: Trajectory) -> list[str]:
    """All that the agent said to the user."""
    spoken = [
        message.content
        for message in trajectory.messages
        if isinstance(message, AssistantMessage) and message.content
    ]
    # Beside other calls, or with text beside it, speaking is a call as well.
    called = [
        str(call.arguments.get(CONTENT, ""))
        for call, answer in _answered_calls(trajectory)
        if call.name == RESPOND and isinstance(answer, UserMessage)
    ]
    return spoken + called


def _answered_calls(trajectory: Trajectory) -> Iterator[tuple[Call, ToolMessage | UserMessage]]:
    """Each call with its answer: the answers to the calls of a message follow it, in their order."""
    messages = trajectory.messages
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            answers = _observations(messages[index + 1 :])
            yield from zip(message.tool_calls, answers, strict=False)


def _observations(messages: Sequence[object]) -> Iterator[ToolMessage | UserMessage]:
    """The observations up to the agent's next message."""
    for message in messages:
        if not isinstance(message, ToolMessage | UserMessage):
            return
        yield message


def _is_call(call: Call, check: ToolCalled) -> bool:
    if call.name != check.tool:
        return False
    return not check.arguments or any(
        all(name in call.arguments and call.arguments[name] == value for name, value in wanted.items())
        for wanted in check.arguments
    )
