"""What a language model is told that plays a user, and the form of its replies."""

from collections.abc import Iterator, Mapping

from tool_envs.messages import Json
from tool_envs.simulators.goal import UserGoal, Wish
from tool_envs.simulators.phrasing import Phrases, sentence

ROLE = """\
You are a customer who writes to customer service. The domain is {domain}. You are not the agent: the agent \
answers you, looks things up and changes them for you.

How you write:
- Bring up what you want one thing after the other, in the order below, the first one in your first message.
- You know what stands below and nothing else. Asked for anything else, say that you do not know it. Make up \
no ids, names, numbers or dates.
- Before the agent changes anything, it says what exactly it will do and asks for your yes. Compare it with \
what you want. If it fits, agree. If anything differs, say no, and what is wrong.
- If the agent says that something cannot be done, go on to what you want next. What you want only then, \
keep to yourself until then.
- When all is done, answered or refused, say goodbye and end the conversation. Not before that, and not with \
your yes: wait for the result. If the agent is no help at all, you may end it, too.
- Write as people write to a shop, in a sentence or two, and never about these instructions."""

FORM = """\
Each of your replies is one JSON object and nothing beside it:
{{"say": "...", "agrees_to": null, "ended": false}}
- "say": what you write to the agent.
- "agrees_to": null, but in a reply that says yes to what the agent has just proposed: then \
{{"tool": "...", "arguments": {{...}}}}, the proposal as you understand it. "arguments" has the values that \
the proposal names and those that you add to it, and may be empty. The tools are: {tools}.
- "ended": true when the conversation is over for you, else false."""

FIRST = "(The agent is there. Write your first message.)"
AGAIN = "(That was no reply in the form that was asked for: {problem}. Write your reply again.)"

TRAITS: Mapping[str, str] = {
    "terse": "You write as few words as you can.",
    "talkative": "You like to chat, and say a little more than what is needed.",
    "forgetful": "You do not remember your numbers.",
    "changes_mind": "The first time that the agent asks for your yes, you hesitate and say no; asked again, "
    "you agree if it fits.",
    "insists": "When you are told that something cannot be done, you ask once more, and then let it be.",
    "reluctant": "You give your data only when you are asked a second time.",
}
"""Trait -> what the user is told of themselves."""


def instructions(goal: UserGoal, phrases: Phrases) -> str:
    """The system message: the role, what this user wants, knows and is like, and the form of replies."""
    tools = ", ".join(_tools(goal, phrases))
    return "\n".join(
        [
            ROLE.format(domain=goal.domain),
            "\nWhat you want:",
            *(
                line
                for number, wish in enumerate(goal.wishes, 1)
                for line in _wish(wish, f"{number}.", phrases)
            ),
            "\nWhat you know:",
            *(f"- {phrases.nouns.get(slot, slot)}: {value}" for slot, value in goal.knows.items()),
            *(["\nHow you are:"] if goal.traits else []),
            *(f"- {TRAITS[trait]}" for trait in goal.traits),
            *(["\nWhat you ask of every answer, and say in your first message:"] if goal.conditions else []),
            *(f"- {_condition(name, value, phrases)}" for name, value in goal.conditions.items() if value),
            "",
            FORM.format(tools=tools),
        ]
    )


def _wish(wish: Wish, mark: str, phrases: Phrases) -> Iterator[str]:
    question = wish.fact.question if wish.fact else ""
    yield f"{mark} {wish.opening or question}"
    yield from (f"   {phrases.nouns.get(slot, slot)}: {words}" for slot, words in wish.words.items())
    if question and wish.opening and wish.opening != question:
        yield f"   Afterwards you ask: {question}"
    if wish.otherwise is not None:
        yield from (f"   {line}" for line in _wish(wish.otherwise, "Only if that cannot be done:", phrases))


def _condition(name: str, value: Json, phrases: Phrases) -> str:
    return sentence(phrases.conditions[name][0].format(words=value))


def _tools(goal: UserGoal, phrases: Phrases) -> Iterator[str]:
    """The writes of the domain; those that this user wants with the names of their arguments."""
    shapes = _arguments(goal)
    for tool in sorted(phrases.deeds):
        yield f"{tool} ({', '.join(shapes[tool])})" if tool in shapes else tool


def _arguments(goal: UserGoal) -> dict[str, dict[str, Json]]:
    """Write that the user wants -> its arguments, each as a JSON Schema of its kind; never the values."""
    found: dict[str, dict[str, Json]] = {}
    wishes = list(goal.wishes)
    while wishes:
        wish = wishes.pop(0)
        if wish.tool and wish.accepted:
            shapes = found.setdefault(wish.tool, {})
            shapes.update({name: _shape(value) for name, value in wish.accepted[0].items()})
        if wish.otherwise is not None:
            wishes.insert(0, wish.otherwise)
    return found


def _shape(value: Json) -> dict[str, Json]:
    match value:
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number"}
        case list() | tuple():
            return {"type": "array", "items": _shape(value[0])} if value else {"type": "array"}
        case dict():
            properties = {name: _shape(inner) for name, inner in value.items()}
            return {"type": "object", "properties": properties, "additionalProperties": False}
        case _:
            return {"type": "string"}


def reply_format(goal: UserGoal, phrases: Phrases, *, first: bool) -> dict[str, Json]:
    """The `response_format` of a reply. In the first one there is nothing to agree to, and no end."""
    shapes: dict[str, Json] = {}
    for arguments in _arguments(goal).values():
        shapes.update(arguments)
    agreement = {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "enum": sorted(phrases.deeds)},
            "arguments": {"type": "object", "properties": shapes, "additionalProperties": False},
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {
            "say": {"type": "string"},
            "agrees_to": {"type": "null"} if first else {"anyOf": [{"type": "null"}, agreement]},
            "ended": {"const": False} if first else {"type": "boolean"},
        },
        "required": ["say", "agrees_to", "ended"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
