"""Replies of models that play the user, by hand and as what the agenda user says."""

import json
from dataclasses import dataclass, field

from scripted_model import Scripted

from tool_envs.simulators import LLMUser, Phrases, UserGoal
from tool_envs.simulators.agenda import checked_goal


def reply(text, agrees_to=None, ended=False):
    """A reply in the form that is asked for."""
    return json.dumps({"say": text, "agrees_to": agrees_to, "ended": ended})


def agreed(text, tool, **arguments):
    """A reply that says yes."""
    return reply(text, {"tool": tool, "arguments": arguments})


def verdict(stays, why="Because."):
    """What a verifying model says."""
    return json.dumps({"stays_in_role": stays, "why": why})


def reply_of(message):
    """What a model would have replied that means the same as a turn of the agenda user."""
    yes = next((act for act in message.acts if act["act"] == "affirm"), None)
    agrees_to = {"tool": yes["tool"], "arguments": yes.get("arguments", {})} if yes else None
    return reply(message.content, agrees_to, any(act["act"] == "bye" for act in message.acts))


@dataclass(frozen=True)
class Talk:
    """An episode from the user's side: replies, of which the first stands before the agent's first message.

    Attributes:
        goal: What the user wants.
        phrases: The sentences of the domain.
        heard: What the agent said.
        replies: What the user said to it, as a model would reply.
        acts: The acts of each reply.
    """

    goal: UserGoal = field(repr=False)
    phrases: Phrases = field(repr=False)
    heard: tuple[str, ...]
    replies: tuple[str, ...]
    acts: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, episode, phrases):
        """The talk of an episode with an agenda user."""
        user = [message for message in episode.history if message.role == "user"]
        return cls(
            checked_goal(episode.task.goal, phrases),
            phrases,
            tuple(episode.said),
            tuple(map(reply_of, user)),
            tuple(tuple(act["act"] for act in message.acts) for message in user),
        )

    def play(self, *last, at=None):
        """The user's model and its user after a conversation, in which `last` stand for replies from `at` on.

        Raises:
            UserReplyError: As `LLMUser`.
        """
        at = len(self.replies) if at is None else at
        source = Scripted(*self.replies[:at], *last)
        user = LLMUser(self.phrases, source)
        user.reset(self.goal, 1)
        for text in self.heard[: at + bool(last) - 1]:
            user.respond(text)
        return source, user
