"""The agenda user: knows what they want, checks what they are offered, and costs nothing.

Agenda-based user simulation goes back to Schatzmann et al. (2007). What is done next is decided in
`agenda_core.react`, over small integers; `hearing` brings the agent's text there, and `speech` turns moves
into acts and text.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from tool_envs.canonical import digest
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.simulators.agenda_core import (
    LIMITS,
    OTHERWISE,
    Facts,
    State,
    Step,
    is_offered,
    react,
    start,
    turn_to,
)
from tool_envs.simulators.agenda_plan import Node, plan
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.hearing import Understood, hear
from tool_envs.simulators.phrasing import Dice, Phrases
from tool_envs.simulators.speech import moves_of, opening_of
from tool_envs.simulators.turn import Turn
from tool_envs.simulators.user_voice import Said, UserVoice, shared_pools


class Agenda(NamedTuple):
    """What stays the same in an episode: the goal, laid out in steps, and the key of all choices."""

    goal: UserGoal
    key: int
    nodes: tuple[Node, ...]
    facts: Facts


class AgendaUser:
    """A user who follows an agenda.

    Args:
        phrases: The sentences of their domain.
    """

    name = "agenda"
    version = "1.1.0"

    def __init__(self, phrases: Phrases) -> None:
        self._phrases = phrases
        self._episode: tuple[Agenda, State] | None = None

    @property
    def digest(self) -> str:
        """Digest of the sentences they say, of those they understand, and of their patience."""
        said = {"domain": _plain(self._phrases), "shared": _plain(shared_pools())}
        return digest({"name": self.name, "version": self.version, "said": said, "limits": list(LIMITS)})

    @property
    def not_understood(self) -> int:
        """How many messages of the agent they did not understand so far."""
        return self._episode[1].not_understood if self._episode else 0

    def reset(self, goal: Json, key: int) -> Turn:
        """Start an episode: they bring up their first wish, and say what they demand of the answers.

        Args:
            goal: A `UserGoal`, or the same as a JSON value.
            key: 64-bit key of all their choices.

        Raises:
            UsageError: The goal is not one, or not of this domain.
        """
        wanted = checked_goal(goal, self._phrases)
        agenda = Agenda(wanted, key, *plan(wanted, self._phrases))
        state = State()
        start(state, agenda.facts)
        self._episode = (agenda, state)
        return self._turn(*opening_of(agenda.nodes[0], wanted, self._phrases))

    def respond(self, agent_text: str) -> Turn:
        """What they say to that.

        Raises:
            UsageError: There is no episode.
        """
        if self._episode is None:
            raise UsageError("This user has no episode yet: call reset first.")
        agenda, state = self._episode
        if state.ended:
            return Turn("", ended=True)
        turned, understood = self._listen(agent_text, agenda, state)
        after, step = turned.copy(), Step()
        react(after, understood.heard, agenda.facts, step)
        if turned.wish != state.wish:
            step.moves |= OTHERWISE
        self._episode = (agenda, after)
        wishes = (agenda.nodes[turned.wish], agenda.nodes[after.wish])
        return self._turn(*moves_of(step, after.sets, wishes, understood, agenda.goal, self._phrases))

    def snapshot(self) -> Json:
        """The agenda and the state of it; each turn makes a new one."""
        return self._episode

    def restore(self, snapshot: Json) -> None:
        """Go on from a snapshot, of this user or of another one of the same domain."""
        self._episode = snapshot

    def _listen(self, text: str, agenda: Agenda, state: State) -> tuple[State, Understood]:
        """What was understood; who is told no and offered their second choice at once takes it up."""
        understood = hear(text, agenda.nodes[state.wish], state, agenda.goal, self._phrases)
        second = agenda.facts.wishes[state.wish].otherwise
        heard = understood.heard
        if second < 0 or not (heard.denies and heard.confirms) or is_offered(state, heard):
            return state, understood
        turned = state.copy()
        turn_to(turned, second, agenda.facts)
        again = hear(text, agenda.nodes[second], turned, agenda.goal, self._phrases)
        return (turned, again) if is_offered(turned, again.heard) else (state, understood)

    def _turn(self, acts: Iterable[Json], said: Iterable[Said]) -> Turn:
        assert self._episode is not None  # noqa: S101 - for the type checker: both callers have set it
        agenda, state = self._episode
        voice = UserVoice(self._phrases, agenda.goal.traits, Dice(agenda.key, state.turns))
        return Turn(voice.say(list(said)), tuple(acts), state.ended > 0)


def checked_goal(goal: Json, phrases: Phrases) -> UserGoal:
    """A goal, given as one or as a JSON value.

    Raises:
        UsageError: It is not one, not of this domain, or not one that can be played.
    """
    try:
        wanted = goal if isinstance(goal, UserGoal) else msgspec.convert(goal, UserGoal)
    except msgspec.ValidationError as error:
        raise UsageError(f"The goal of an agenda user is a UserGoal: {error}.") from error
    if wanted.domain != phrases.language.domain:
        raise UsageError(f"This user speaks of {phrases.language.domain}, and the goal of {wanted.domain!r}.")
    if not wanted.wishes or wanted.conditions.keys() - phrases.conditions.keys():
        raise UsageError(f"A goal has wishes, and conditions among {sorted(phrases.conditions)}.")
    return wanted


def _plain(value: Json) -> Json:
    """Sentences and patterns as JSON; functions by their names."""
    match value:
        case msgspec.Struct():
            return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
        case Mapping():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case set() | frozenset():
            return sorted(map(str, map(_plain, value)))
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case re.Pattern():
            return value.pattern
        case _ if callable(value):
            return value.__name__
        case _:
            return value
