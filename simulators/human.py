"""A human at a terminal plays the user."""

import re
from collections.abc import Callable, Iterable, Mapping

from tool_envs.canonical import digest
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.simulators.agenda import checked_goal
from tool_envs.simulators.agenda_plan import Node, plan, wish_act
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.turn import Turn
from tool_envs.simulators.understanding import read

_YES = re.compile(
    r"\W*(?:yes|yeah|yep|yup|sure|ok|okay|correct|right|exactly|go ahead|please do|confirm(?:ed)?)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\W*(?:no|nope|nah|don't|do not|stop|wrong|never)\b", re.IGNORECASE)


class HumanUser:
    """Shows a human what they want and what the agent says, and lets them type. An empty line hangs up.

    What rules need to know, they get from the words: a yes, a no, and the values named with it.

    Args:
        phrases: The sentences of the domain.
        read_line: Shows a prompt and returns a line.
        write: Shows a line.
    """

    name = "human"
    version = "1.0.0"

    def __init__(
        self,
        phrases: Phrases,
        read_line: Callable[[str], str] = input,
        write: Callable[[str], object] = print,
    ) -> None:
        self._phrases = phrases
        self._read_line, self._write = read_line, write
        self._goal: UserGoal | None = None

    @property
    def not_understood(self) -> int:
        """0: they do not say."""
        return 0

    @property
    def digest(self) -> str:
        """Digest of name and version: humans differ."""
        return digest({"name": self.name, "version": self.version})

    def reset(self, goal: Json, key: int) -> Turn:  # noqa: ARG002 - the interface of a user
        """Show the goal and read the first line. All wishes count as brought up by it.

        Raises:
            UsageError: The goal is not one, or not of this domain.
        """
        self._goal = checked_goal(goal, self._phrases)
        for line in _briefing(self._goal, self._phrases):
            self._write(line)
        return self._type(lambda _: [wish_act(wish, k) for k, wish in enumerate(self._wanted.wishes)])

    def respond(self, agent_text: str) -> Turn:
        """Show what the agent said and read a line."""
        self._write(f"agent> {agent_text}")
        return self._type(lambda text: acts_of(text, agent_text, self._wanted, self._phrases))

    def snapshot(self) -> Json:
        """The goal: humans keep the rest to themselves."""
        return self._goal

    def restore(self, snapshot: Json) -> None:
        """Go on with the goal of a snapshot."""
        self._goal = snapshot

    @property
    def _wanted(self) -> UserGoal:
        if self._goal is None:
            raise UsageError("This user has no episode yet: call reset first.")
        return self._goal

    def _type(self, acts: Callable[[str], list[Json]]) -> Turn:
        try:
            text = self._read_line("you> ").strip()
        except EOFError:
            text = ""
        return Turn(text, tuple(acts(text)), False) if text else Turn("", ({"act": "bye"},), True)


def _briefing(goal: UserGoal, phrases: Phrases) -> list[str]:
    """What a human must know to play the user."""
    wishes = [f"  {number}. {wish.opening}" for number, wish in enumerate(goal.wishes, 1)]
    knows = [f"  {phrases.nouns.get(slot, slot)}: {value}" for slot, value in goal.knows.items()]
    return ["You are a customer. You want:", *wishes, "You know:", *knows, "An empty line hangs up."]


def acts_of(text: str, agent_text: str, goal: UserGoal, phrases: Phrases) -> list[Json]:
    """The acts of something that a user typed in answer to an agent.

    A yes is one to the agent's proposal as far as it names one value for an argument; what the user names
    themselves comes on top.
    """
    proposal = read(agent_text, phrases.language, goal.lexicon)
    nodes = [node for node in plan(goal, phrases)[0] if node.wish.tool == proposal.tool]
    said = _named(read(text, phrases.language, goal.lexicon).mentions, nodes)
    if _NO.match(text):
        return [{"act": "deny"}, *({"act": "correct", "slot": name, "value": v} for name, v in said.items())]
    if _YES.match(text) and proposal.asks_confirmation:
        arguments = {**_named(proposal.mentions, nodes), **said}
        return [{"act": "affirm", "tool": proposal.tool, "arguments": arguments}]
    took_no = [k for k, wish in enumerate(goal.wishes) if wish.forbidden and proposal.denies]
    informed: list[Json] = [{"act": "inform", "slot": name, "value": value} for name, value in said.items()]
    return [*({"act": "accept_no", "wish": k} for k in took_no), *informed]


def proposal_of(agent_text: str, goal: UserGoal, phrases: Phrases) -> tuple[str, dict[str, Json]]:
    """The write that an agent's message is about, empty if none can be made out, and its arguments so far."""
    proposal = read(agent_text, phrases.language, goal.lexicon)
    nodes = [node for node in plan(goal, phrases)[0] if node.wish.tool == proposal.tool]
    return proposal.tool, _named(proposal.mentions, nodes)


def _named(mentions: Mapping[str, tuple[Json, ...]], nodes: Iterable[Node]) -> dict[str, Json]:
    """The arguments of which a text names a value: all of them for a list, else the only one."""
    parts = {leaf for node in nodes for leaf, name in node.owners.items() if leaf != name}
    named = {
        name: list(values) if name.endswith("_ids") else values[0]
        for name, values in mentions.items()
        if name not in parts and (name.endswith("_ids") or len(values) == 1)
    }
    return {**named, **_named_objects(mentions, nodes)}


def _named_objects(mentions: Mapping[str, tuple[Json, ...]], nodes: Iterable[Node]) -> dict[str, Json]:
    """Lists of objects of which a text names all values of a member: those wanted, if they are only one.

    What belongs together in an object cannot be told from the text.
    """
    found: dict[str, list[Json]] = {}
    for node in nodes:
        for arguments, leaves in zip(node.wish.accepted, node.leaves, strict=True):
            for name, value in arguments.items():
                named = [leaf for leaf, owner in node.owners.items() if owner == name != leaf]
                named = [leaf for leaf in named if leaf in mentions]
                if named and all(set(leaves[leaf]) == set(mentions[leaf]) for leaf in named):
                    found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if all(value == values[0] for value in values)}
