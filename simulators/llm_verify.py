"""A second model, or the same one asked apart, says of each reply whether the user stays in their role.

A verdict that cannot be read is asked for once more. The second time the episode fails and has no grade: an
evaluation that says that its users were verified shall have none that were not.
"""

import itertools
from collections.abc import Mapping

import msgspec

from tool_envs.chat import ChatReply
from tool_envs.messages import Json
from tool_envs.simulators import llm_prompt
from tool_envs.simulators.llm_reply import Reply, Talk, as_text, decode
from tool_envs.simulators.model_user import RecordedModel
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.user_failures import UnusableReply, UserVerdictError

TASK = """\
A model plays a customer who writes to customer service. Below is what it was told to be, then the \
conversation, then its next reply. Say whether that reply is one that this customer could give.

It is not when it names something that the customer does not know, wants something else than they do, \
agrees to something that differs from what they want, gives away what they keep to themselves, ends the \
conversation before what they want was done, answered or refused, or speaks as the agent or about its \
instructions. Clumsy words, small talk and mistakes of the agent are no reason.

Answer with one JSON object and nothing beside it:
{"stays_in_role": true, "why": "..."}"""
AGAIN = "(That was no answer in the form that was asked for: {problem}. Write it again.)"
FORM: Mapping[str, Json] = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "schema": {
            "type": "object",
            "properties": {"stays_in_role": {"type": "boolean"}, "why": {"type": "string"}},
            "required": ["stays_in_role", "why"],
            "additionalProperties": False,
        },
    },
}


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the verifying model says of a reply, and why."""

    stays_in_role: bool
    why: str


def recorded_verdicts(model: str) -> RecordedModel:
    """Finds each reply in role: those of a record are, since it would not hold them otherwise.

    Args:
        model: The name of the model that verified them.
    """
    verdict = Verdict(stays_in_role=True, why="It is in the record.")
    return RecordedModel(model, [msgspec.json.encode(verdict).decode()])


def setting(model: str) -> dict[str, Json]:
    """All that decides the verdicts of a model beside the arguments of requests."""
    return {"model": model, "prompts": [TASK, AGAIN], "form": FORM}


async def read_verdict(answer: ChatReply) -> Verdict:
    """The verdict that an answer holds.

    Raises:
        UnusableReply: It holds none.
    """
    try:
        return decode(answer.text, Verdict)
    except UnusableReply as problem:
        raise UnusableReply(f"the verdict cannot be read: {problem}", UserVerdictError) from None


def questions(reply: Reply, talk: Talk, phrases: Phrases) -> list[dict[str, Json]]:
    """What the verifying model is sent: its task; the user's instructions, the conversation, the reply.

    It sees no more of the goal than the user's model does, to which what it says of a reply is handed on.
    """
    said = [f"CUSTOMER: {as_text(one)}" for one in talk.replies]
    heard = [f"AGENT: {text}" for text in talk.heard]
    turns = (turn for pair in itertools.zip_longest(said, heard) for turn in pair if turn is not None)
    told = llm_prompt.instructions(talk.goal, phrases)
    parts = ("THE CUSTOMER IS TOLD:", told, "THE CONVERSATION:", *turns, "THE NEXT REPLY:", as_text(reply))
    return [{"role": "system", "content": TASK}, {"role": "user", "content": "\n\n".join(parts)}]
