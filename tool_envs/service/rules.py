"""Rules that every service desk has, as far as their checks go: each domain gives the sentence.

Calls are seen with the parameter names of the first schema version. Each rule is a fold over the events of an
episode; its memory is a small value that is replaced and never changed.
"""

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import orjson

from tool_envs.consent import Pairs, Yes, covering, heard, used
from tool_envs.facts import FactReader
from tool_envs.messages import CONTENT, RESPOND, Json, ToolCall
from tool_envs.rules import Called, Event, Heard, Rule, Said, fold, succeeded

Found: TypeAlias = Callable[[Called], str]
"""The user id that a successful call found; empty when it is no call that finds a customer."""


def policy_lines(rules: Iterable[Rule]) -> str:
    """The sentences of rules as a numbered list."""
    return "\n".join(f"{number}. {rule.text}" for number, rule in enumerate(rules, 1))


# --- Identify first: the memory is whether a customer was found


def identify_first(
    rule_id: str,
    template: str,
    found: Found,
    protected: Collection[str],
    **parameters: object,
) -> Rule:
    """Nothing of a customer's is looked up or changed before it is known who they are.

    Args:
        rule_id: Names the rule.
        template: Its sentence.
        found: What finds a customer.
        protected: The tools that wait for it.
        parameters: Of the sentence.
    """

    def learn(known: bool, event: Event) -> bool:
        return known or (succeeded(event) and bool(found(event)))

    def permits(known: bool, call: ToolCall) -> bool:
        return known or call.name not in protected

    return Rule(rule_id, template, False, fold(learn, permits), permits, parameters)


# --- One customer: the memory is whom the conversation is with, and whose the records are


class _Served(NamedTuple):
    """The customer who was found first, their records once their profile was seen, and records of others."""

    user: str = ""
    own: frozenset[str] | None = None
    others: frozenset[str] = frozenset()


class Ownership(NamedTuple):
    """How one sees whose a record is.

    Attributes:
        found: What finds a customer.
        profile: The tool that shows a customer's profile, by `user_id`.
        records: The member of the profile that lists the ids of their records.
        record: The argument, and member of results, that is such an id.
        tools: The tools that show or change what is a customer's.
    """

    found: Found
    profile: str
    records: str
    record: str
    tools: Collection[str]

    def meet(self, served: _Served, event: Event) -> _Served:
        """What is known after an event."""
        if not succeeded(event):
            return served
        served = served if served.user else served._replace(user=self.found(event))
        result = _result(event)
        if event.call.name == self.profile and text_argument(event.call, "user_id") == served.user:
            return served._replace(own=frozenset(result[self.records]))
        if self.record not in result or not served.user:
            return served
        if result["user_id"] != served.user:
            return served._replace(others=served.others | {result[self.record]})
        return served if served.own is None else served._replace(own=served.own | {result[self.record]})

    def permits(self, served: _Served, call: ToolCall) -> bool:
        """Whether a call is about the customer's own."""
        user, record = text_argument(call, "user_id"), text_argument(call, self.record)
        if not served.user or call.name not in self.tools:
            return True
        if record:
            return record not in served.others and (served.own is None or record in served.own)
        return user == served.user

    def after(self, served: _Served, event: Event) -> tuple[_Served, bool]:
        """The fold of the rule."""
        if not (succeeded(event) and served.user):
            return self.meet(served, event), False
        anothers = _result(event).get("user_id", served.user) != served.user
        return self.meet(served, event), anothers or not self.permits(served, event.call)


def one_customer(template: str, ownership: Ownership, **parameters: object) -> Rule:
    """A conversation is with one customer, the first one that was found."""
    return Rule("one_customer", template, _Served(), ownership.after, ownership.permits, parameters)


# --- Explicit yes: the memory is the open yeses


def explicit_yes(template: str, writes: Collection[str], pairs: Pairs = (), **parameters: object) -> Rule:
    """Each write needs a yes of the customer to just that; the sentence can name the `writes`."""

    def learn(open_yeses: tuple[Yes, ...], event: Event) -> tuple[Yes, ...]:
        if isinstance(event, Heard):
            return heard(open_yeses, event.acts)
        if succeeded(event) and event.call.name in writes:
            return used(open_yeses, event.call, pairs)
        return open_yeses

    def permits(open_yeses: tuple[Yes, ...], call: ToolCall) -> bool:
        return call.name not in writes or covering(open_yeses, call, pairs) is not None

    return Rule("explicit_yes", template, (), fold(learn, permits), permits, {"writes": writes, **parameters})


# --- No made-up facts: the memory is the ids that were shown

_EXAMPLE_FOLLOWS = re.compile(
    r"(?:\b(?:e\.\s?g\.|eg|for example|for instance|such as|looks? like)|\bformat)[\s,:(\"'`*]*$"
)


def no_made_up_facts(
    template: str,
    facts: FactReader,
    own_words: Collection[str],
    examples: Collection[str] = (),
    **parameters: object,
) -> Rule:
    """No id is told that has not come up before.

    Args:
        template: The sentence.
        facts: What an id is.
        own_words: The tools whose arguments are the agent's own words, and no source.
        examples: Ids in the descriptions of the tools.
        parameters: Of the sentence.
    """

    @functools.lru_cache(maxsize=8192)
    def ids(text: str) -> tuple[str, ...]:
        return tuple(map(str, facts.values_in(text, "id")))

    def look(shown: frozenset[str], event: Event) -> frozenset[str]:
        if isinstance(event, Heard):
            return shown.union(ids(event.text), *map(ids, _texts(event.acts)))
        if not succeeded(event):
            return shown
        arguments = () if event.call.name in own_words else _texts(event.call.arguments)
        return shown.union(ids(event.result), *map(ids, arguments))

    def is_sourced(shown: frozenset[str], text: str) -> bool:
        return all(one in shown or _is_example(one, text) for one in ids(text))

    def after(shown: frozenset[str], event: Event) -> tuple[frozenset[str], bool]:
        return look(shown, event), isinstance(event, Said) and not is_sourced(shown, event.text)

    def permits(shown: frozenset[str], call: ToolCall) -> bool:
        return call.name != RESPOND or is_sourced(shown, text_argument(call, CONTENT))

    return Rule("no_made_up_facts", template, frozenset(examples), after, permits, parameters)


def _is_example(one: str, text: str) -> bool:
    """Whether an id stands in a text only to show how such ids look ("such as #W1234567")."""
    lower = text.lower()
    places = [place.start() for place in re.finditer(re.escape(one.lower().lstrip("#")), lower)]
    return all(_EXAMPLE_FOLLOWS.search(lower[max(0, place - 20) : place].rstrip("#")) for place in places)


# --- Rules that the tools enforce: there is nothing to remember, the refusal is the breach


def enforced(
    rule_id: str, template: str, codes: Collection[str], tools: tuple[str, ...], **parameters: object
) -> Rule:
    """A rule of which `tools` refuse every breach with one of `codes`."""

    def after(memory: None, event: Event) -> tuple[None, bool]:
        return memory, isinstance(event, Called) and event.code in codes and event.call.name in tools

    return Rule(
        id=rule_id,
        template=template,
        parameters=parameters,
        enforced_by=tools,
        start=None,
        after=after,
        permits=lambda memory, call: True,  # noqa: ARG005 - what breaks it never succeeds
    )


# --- Transfer last: the memory is whether the wish at hand is open and beyond the tools


_TRANSFER = (
    "Call `{tool}` only for a wish that none of the tools can fulfil, and only when everything else that the "
    "customer wants is done, since it ends the conversation. A wish that these rules forbid is no reason for "
    "it: look up what it is about and tell the customer no."
)


def transfer_last(tool: str, beyond_tools: str) -> Rule:
    """A transfer is only for a wish that no tool can fulfil.

    Args:
        tool: The tool that transfers.
        beyond_tools: The kind of such a wish.
    """

    def listen(beyond: bool, event: Event) -> bool:
        for act in event.acts if isinstance(event, Heard) else ():
            if act.get("act") in ("wish", "ask", "accept_no"):
                beyond = act["act"] == "wish" and act.get("kind") == beyond_tools
        return beyond

    def permits(beyond: bool, call: ToolCall) -> bool:
        return call.name != tool or beyond

    return Rule("transfer_last", _TRANSFER, False, fold(listen, permits), permits, {"tool": tool})


# --- Reading events


def _result(event: Called) -> dict[str, Json]:
    value: dict[str, Json] = orjson.loads(event.result)
    return value


def text_argument(call: ToolCall, name: str) -> str:
    """An argument that is a string; empty when there is none. A call that failed may hold anything."""
    value = call.arguments.get(name)
    return value if isinstance(value, str) else ""


def reasons_given(act: dict[str, Json], tool: str) -> list[str]:
    """The reasons that an act of a customer gives, for a wish or for a yes to a write."""
    match act:
        case {"act": "inform" | "correct", "slot": "reason", "value": str(reason)}:
            return [reason]
        case {"act": "affirm", "tool": named, "arguments": {"reason": str(reason)}} if named == tool:
            return [reason]
        case {"act": "wish", "told": {"reason": str(reason)}}:
            return [reason]
    return []


def _texts(value: Json) -> Iterator[str]:
    """All strings in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
