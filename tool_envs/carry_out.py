"""Carries out an action in an episode: runs its calls, says its words, and records what answers them."""

from tool_envs.actions import ParsedAction
from tool_envs.episode import Episode
from tool_envs.errors import Code
from tool_envs.messages import CONTENT, RESPOND, Message, ToolCall, ToolResult
from tool_envs.simulators import AwaitedUser
from tool_envs.toolkit import Toolkit, error


async def carry_out(
    parsed: ParsedAction,
    episode: Episode,
    toolkit: Toolkit,
    max_steps: int,
    refuse_several: bool,
    *,
    awaiting: bool,
) -> Message:
    """Record an action and carry it out.

    Args:
        parsed: The action.
        episode: The episode, which runs; its history, steps and data change.
        toolkit: Its tools.
        max_steps: Actions until the episode is truncated.
        refuse_several: Whether several calls in one action are a mistake.
        awaiting: Whether a user who is far away is awaited; else they are waited for.

    Returns:
        The answer to the last call that ran.

    Raises:
        InfrastructureError: Something outside of the episode failed.
    """
    calls = parsed.calls
    spoken = len(calls) == 1 and not parsed.aside and _is_speech(calls[0], toolkit)
    if spoken:
        # An id would have the user's answer shown as that of a call, and the agent's side shows none.
        calls = (ToolCall(RESPOND, calls[0].arguments),)
    else:
        calls = _with_ids(calls, first=len(episode.history))
    episode.history.append(_agent_message(parsed, () if spoken else calls))
    if parsed.problem:
        episode.steps += 1
        return _answer(episode, _NO_CALL, error(Code.MALFORMED_CALL, _MALFORMED.format(parsed.problem)))
    if len(calls) > 1 and refuse_several:
        episode.steps += 1
        return [_answer(episode, call, _ONE_CALL_ONLY) for call in calls][-1]
    last = await _run(calls[0], episode, toolkit, awaiting)
    for call in calls[1:]:
        if episode.ended_by or episode.steps >= max_steps:
            _answer(episode, call, _NOT_RUN)
        else:
            last = await _run(call, episode, toolkit, awaiting)
    return last


def _is_speech(call: ToolCall, toolkit: Toolkit) -> bool:
    return call.name == RESPOND and toolkit.check(call) is None


async def _run(call: ToolCall, episode: Episode, toolkit: Toolkit, awaiting: bool) -> Message:
    """Run one call: a message to the user, or a tool."""
    episode.steps += 1
    if call.name == RESPOND:
        problem = toolkit.check(call)
        return _answer(episode, call, problem) if problem else await _speak(episode, call, awaiting)
    result = toolkit.call(episode.database, call)
    if result.code is None and toolkit.schema.tools[call.name].effect == "end":
        episode.ended_by = "agent"
    return _answer(episode, call, result)


async def _speak(episode: Episode, call: ToolCall, awaiting: bool) -> Message:
    text, user = call.arguments[CONTENT], episode.user
    episode.said.append(text)
    if awaiting and isinstance(user, AwaitedUser):
        turn = await user.arespond(text)
    else:
        turn = user.respond(text)
    if turn.ended:
        episode.ended_by = "user"
    message = Message(role="user", name="user", content=turn.text, tool_call_id=call.id, acts=turn.acts)
    episode.history.append(message)
    return message


_NO_CALL = ToolCall("", {})
_MALFORMED = "This could not be read as a tool call: {}. Nothing was run."
_ONE_CALL_ONLY = error(Code.SEVERAL_CALLS, "One call at a time. Nothing was run.")
_NOT_RUN = error(Code.NOT_RUN, "The episode was over before this call.")


def _agent_message(parsed: ParsedAction, calls: tuple[ToolCall, ...]) -> Message:
    content = ""
    if not parsed.problem and not calls:
        content = parsed.calls[0].arguments[CONTENT]
    return Message(
        role="assistant",
        content=content,
        tool_calls=calls,
        aside=parsed.aside,
        thought=parsed.thought,
        action=parsed.action,
    )


def _with_ids(calls: tuple[ToolCall, ...], first: int) -> tuple[ToolCall, ...]:
    """The calls, those without an id numbered through the episode."""
    numbered = [
        call if call.id else ToolCall(call.name, call.arguments, f"call_{number}")
        for number, call in enumerate(calls, first)
    ]
    return tuple(numbered)


def _answer(episode: Episode, call: ToolCall, result: ToolResult) -> Message:
    message = Message(
        role="tool", name=call.name, content=result.content, code=result.code, tool_call_id=call.id
    )
    episode.history.append(message)
    return message
