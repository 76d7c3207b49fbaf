"""Events of conversations for tests of rules, and what tests must know of a domain to try its rules."""

import json
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tool_envs.messages import ToolCall
from tool_envs.rules import Called, Event, Heard, Rule, Said

# --- What customers say


def heard(*acts, text=""):
    return Heard(acts, text)


def inform(slot, value):
    return heard({"act": "inform", "slot": slot, "value": value})


def correct(slot, value):
    return heard({"act": "correct", "slot": slot, "value": value})


def wish(kind, number=0, **told):
    return heard({"act": "wish", "kind": kind, "tool": "", "wish": number, "told": told})


def yes(tool, **arguments):
    return heard({"act": "affirm", "tool": tool, "arguments": arguments})


DENY = heard({"act": "deny"})
ASK = heard({"act": "ask", "wish": 1})
INSIST = heard({"act": "insist"})
ACCEPT_NO = heard({"act": "accept_no", "wish": 0})


# --- What agents do


def caller(result):
    """Makes calls; `result(name, arguments)` is what one answers that succeeds."""

    def called(name, code=None, **arguments):
        return Called(ToolCall(name, arguments), code, json.dumps({} if code else result(name, arguments)))

    return called


TRANSFER = Called(ToolCall("transfer_to_human_agents", {"summary": "wants a loan"}), None, "{}")
NOT_TRANSFERRED = Called(ToolCall("transfer_to_human_agents", {"summary": "wants a loan"}), "not_run", "{}")
TRANSFER_KEPT = [
    [wish("out_of_scope"), TRANSFER],
    [wish("cancel"), wish("out_of_scope"), Said("One moment"), INSIST, TRANSFER],
    [wish("cancel"), ACCEPT_NO, wish("out_of_scope", 1), DENY, TRANSFER],
    [NOT_TRANSFERRED],
]
"""Conversations that keep the rule `transfer_last` of every domain."""
TRANSFER_BROKEN = [
    ([TRANSFER], 0),
    ([wish("cancel"), TRANSFER], 1),
    ([inform("kind", "out_of_scope"), TRANSFER], 1),
    ([wish("out_of_scope"), ACCEPT_NO, TRANSFER], 2),
    ([wish("out_of_scope"), wish("cancel"), TRANSFER], 2),
    ([wish("out_of_scope"), ASK, TRANSFER], 2),
]
"""Conversations that break it, and where."""


# --- Rules over events


def memory_after(rule, happened):
    """What a rule remembers of a conversation."""
    memory = rule.start
    for event in happened:
        memory, _ = rule.after(memory, event)
    return memory


def broken_each(rule, memory, happened):
    """For each event whether it breaks a rule, from a memory on."""
    found = []
    for event in happened:
        memory, broken = rule.after(memory, event)
        found.append(broken)
    return found


def breaches(rule, happened):
    """Numbers of the events at which a rule is broken."""
    return [number for number, broken in enumerate(broken_each(rule, rule.start, happened)) if broken]


# --- The rules of a domain under test


class Reading(NamedTuple):
    """A conversation that keeps every rule, in whichever order the agent reads.

    Attributes:
        start: What comes before the first read.
        find: The read that finds the customer.
        anybody: Reads that need no customer.
        own: Reads of what is the customer's.
        end: What comes after the last read.
    """

    start: list[Event]
    find: Called
    anybody: list[Called]
    own: list[Called]
    end: list[Event]


class RuleBook(NamedTuple):
    """The rules of a domain, with examples and strategies of its events.

    Attributes:
        domain: Name of its schema.
        rules: All of them.
        policy_text: Makes the text for the agent.
        writes: The tools that the rules take for writes.
        transfer: The tool that they take for the transfer.
        customers_own: The tools that they take for what is a customer's.
        refusals: All codes with which its tools refuse calls.
        finders: Tools by whose result it is known whether a call was about somebody else.
        kept: Conversations that keep a rule, by its id.
        broken: Conversations that break it, with the number of the only event that does.
        reading: A correct agent.
        calls: Calls of all kinds, most of which succeed.
        others: Anything else that happens.
        says: What an agent may say.
    """

    domain: str
    rules: tuple[Rule, ...]
    policy_text: Callable[[], str]
    writes: tuple[str, ...]
    transfer: str
    customers_own: Collection[str]
    refusals: Collection[str]
    finders: Collection[str]
    kept: dict[str, list[list[Event]]]
    broken: dict[str, list[tuple[list[Event], int]]]
    reading: Reading
    calls: st.SearchStrategy[Called]
    others: st.SearchStrategy[Event]
    says: st.SearchStrategy[str]

    @property
    def happenings(self) -> st.SearchStrategy[Any]:
        """Conversations."""
        return st.lists(self.calls | affirms(self.calls) | self.others | self.says.map(Said), max_size=12)


@st.composite
def affirms(draw, calls):
    """A yes to some call, with some of its arguments."""
    call = draw(calls).call
    return yes(call.name, **{slot: value for slot, value in call.arguments.items() if draw(st.booleans())})


@st.composite
def calls_of(draw, called, arguments, codes):
    """Calls of tools by the strategies of their arguments, which fail with one of the codes or None."""
    name = draw(st.sampled_from(sorted(arguments)))
    return called(name, draw(codes), **{slot: draw(values) for slot, values in arguments[name].items()})
