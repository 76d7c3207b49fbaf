"""Rules of a domain policy: a sentence for the agent and a check, made from the same parameters.

A rule is a *fold* over the events of an episode: it keeps a small memory, and says at which event it was
broken. The same fold feeds the ledger, and says beforehand whether a call would break it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import msgspec

from tool_envs.messages import CONTENT, RESPOND, Json, Message, ToolCall


class Said(msgspec.Struct, frozen=True, tag=True):
    """The agent said something to the user."""

    text: str


class Heard(msgspec.Struct, frozen=True, tag=True):
    """The user took their turn: the acts behind it (see `tool_envs.simulators.Turn`), and their words."""

    acts: tuple[Json, ...]
    text: str = ""


class Called(msgspec.Struct, frozen=True, tag=True):
    """The agent called a tool, which answered; `code` is None when it succeeded."""

    call: ToolCall
    code: str | None
    result: str


Event = Said | Heard | Called


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        id: Names it in ledgers.
        template: The sentence for the agent, with `{parameter}` fields.
        parameters: What text and check are both made from.
        enforced_by: The tools that refuse what breaks it; their refusal of a call breaks the rule, too.
        start: The memory before the first event.
        after: `(memory, event) -> (memory, broken)`.
        permits: `(memory, call) -> bool`: whether the call would keep the rule.
    """

    id: str
    template: str
    start: Any
    after: Callable[[Any, Event], tuple[Any, bool]]
    permits: Callable[[Any, ToolCall], bool]
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)
    enforced_by: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The sentence."""
        return self.template.format(**self.parameters)


class Names(tuple[str, ...]):
    """Names as a parameter of a rule: a tuple for the check, "a, b or c" in the sentence.

    What stands in a field after the colon is put around each name: "`a` or `b`" for "{names:`}".
    """

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        *first, last = (f"{spec}{name}{spec}" for name in self)
        return f"{', '.join(first)} or {last}" if first else last


def succeeded(event: Event) -> TypeGuard[Called]:
    """Whether the event is a call that did what it is for."""
    return isinstance(event, Called) and event.code is None


def fold(
    learn: Callable[[Any, Event], Any], permits: Callable[[Any, ToolCall], bool]
) -> Callable[[Any, Event], tuple[Any, bool]]:
    """The `after` of a rule that a call breaks when it succeeds without being permitted.

    Args:
        learn: `(memory, event) -> memory`.
        permits: As in `Rule`.
    """

    def after(memory: Any, event: Event) -> tuple[Any, bool]:  # noqa: ANN401 - each rule has its own memory
        return learn(memory, event), succeeded(event) and not permits(memory, event.call)

    return after


def events(history: Sequence[Message]) -> Iterator[tuple[int, Event]]:
    """The events of a conversation in order, each with the number of the action that it belongs to (from 0).

    The user's opening belongs to action 0, like the first action.
    """
    step = -1
    # By place, not by id: a model may give two calls of one action the same id.
    unanswered: list[ToolCall] = []
    for message in history:
        if message.role == "assistant":
            step += 1
            unanswered = list(reversed(message.tool_calls))
            if message.content and not message.tool_calls:
                yield step, Said(message.content)
            continue
        call = unanswered.pop() if unanswered else None
        if message.role == "user":
            if call is not None:
                yield step, Said(call.arguments[CONTENT])
            yield max(step, 0), Heard(message.acts, message.content)
        elif call is not None and message.name != RESPOND:
            yield step, Called(call, message.code, message.content)


def broken_rules(rules: Iterable[Rule], history: Sequence[Message]) -> list[dict[str, str | int]]:
    """Every breach of the rules in a conversation, in order: `{"rule": id, "step": number of the action}`."""
    happened = list(events(history))
    found: list[dict[str, str | int]] = []
    for rule in rules:
        memory = rule.start
        for step, event in happened:
            memory, broken = rule.after(memory, event)
            if broken:
                found.append({"rule": rule.id, "step": step})
    return sorted(found, key=lambda breach: (breach["step"], breach["rule"]))
