"""The oracle: decides from the state of an episode, and so can take over anybody's at any step.

It reads the hidden goal, but does what a good agent would: it finds out who the customer is, looks up what it
needs, proposes, waits for the yes, acts, and says what it did.
"""

from collections.abc import Mapping
from typing import TypeAlias

from tool_envs.consent import covering
from tool_envs.episode import Episode
from tool_envs.messages import CONTENT, RESPOND, Json, ToolCall
from tool_envs.service.desk import Desk, goal_of
from tool_envs.service.progress import Progress, follow, read_key
from tool_envs.simulators.agent_voice import AgentVoice
from tool_envs.simulators.goal import UserGoal, Wish

Action: TypeAlias = dict[str, Json]
"""An action with the parameter names of the first schema version."""


class Clerk:
    """The oracle at one step of an episode. A domain says how it identifies, what it looks up, and in words.

    Args:
        desk: Whose clerk.
        episode: The episode.
    """

    def __init__(self, desk: Desk, episode: Episode) -> None:
        self.desk, self.episode = desk, episode
        self.goal: UserGoal = goal_of(episode.task)
        self.progress: Progress = follow(desk, self.goal, episode.history)
        demanded = self.goal.conditions
        brief, formal = "max_characters" in demanded, "formal" in demanded
        self.voice = AgentVoice(desk.phrases, 0, episode.steps, brief, formal)

    # --- What a domain says

    def identify(self) -> Action | None:
        """Find the customer with what they said, or ask for it; None: it is known who they are."""
        raise NotImplementedError

    def reason_against(self) -> str:
        """Why a forbidden wish cannot be fulfilled: a code of the phrases."""
        raise NotImplementedError

    def words_for(self, arguments: Mapping[str, Json]) -> dict[str, str]:
        """Value of an argument -> what it is called."""
        raise NotImplementedError

    # --- What to do

    def look_up(self) -> Action | None:
        """The next thing behind the wish that was not looked up; None: all was."""
        for call in self.episode.task.actions:
            key = read_key(call)
            if key in self.wish.evidence and key not in self.progress.read:
                return as_action(call)
        return None

    def decide(self) -> Action:
        """The next action."""
        return self.identify() or self.look_up() or self.report() or self.serve()

    def report(self) -> Action | None:
        """Say what was done, right after it."""
        if not self.progress.unreported:
            return None
        return self._report(self.progress.written[-1])

    def serve(self) -> Action:
        """Answer, refuse, propose or act."""
        wish = self.wish
        if wish.fact and not wish.tool:
            return say(self.voice.tell(wish.fact))
        if wish.forbidden:
            return say(self.voice.refuse(wish.kind, self.reason_against()))
        call = self.target()
        if self.is_done():
            return self._report(call)
        if covering(self.progress.yeses, call, self.desk.pairs):
            return as_action(call)
        return say(self.voice.propose(call.name, call.arguments, self.words_for(call.arguments)))

    def _report(self, call: ToolCall) -> Action:
        return say(self.voice.report(call.name, call.arguments, self.words_for(call.arguments)))

    @property
    def wish(self) -> Wish:
        """What the user wants now."""
        return self.progress.wish

    def target(self) -> ToolCall:
        """The write that fulfils the wish, with what the user corrected."""
        wish, corrections = self.wish, self.progress.corrections
        fitting = [
            arguments
            for arguments in wish.accepted
            if all(_agrees(arguments.get(name), value) for name, value in corrections.items())
        ]
        covered = [
            arguments
            for arguments in fitting
            if covering(self.progress.yeses, ToolCall(wish.tool, arguments), self.desk.pairs)
        ]
        return ToolCall(wish.tool, [*covered, *fitting, *wish.accepted][0])

    def is_done(self) -> bool:
        """The write of the wish was made."""
        return any(self._is_for_wish(call) for call in self.progress.written)

    def _is_for_wish(self, call: ToolCall) -> bool:
        """The same write, on the same record; where it makes a new one, just what was wanted."""
        record = self.desk.record
        return call.name == self.wish.tool and any(
            call.arguments.get(record) == arguments[record]
            if record in arguments
            else call.arguments == arguments
            for arguments in self.wish.accepted
        )


def say(text: str) -> Action:
    """The action that says something to the user."""
    return {"name": RESPOND, "arguments": {CONTENT: text}}


def as_action(call: ToolCall) -> Action:
    """The action that makes a call."""
    return {"name": call.name, "arguments": dict(call.arguments)}


def call_of(name: str, **arguments: Json) -> Action:
    """The action that calls a tool."""
    return {"name": name, "arguments": arguments}


def _agrees(value: Json, other: Json) -> bool:
    if isinstance(value, list):
        wanted = other if isinstance(other, list) else [other]
        return all(one in value for one in wanted)
    return bool(value == other)
