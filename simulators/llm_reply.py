"""What a model that plays the user `llm` replies, and what its yes means."""

from typing import TypeVar

import msgspec

from tool_envs.messages import Json
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.model_user import Conversation, recorded_replies, without_thought
from tool_envs.simulators.user_failures import UnusableReply

_Form = TypeVar("_Form", bound=msgspec.Struct)


class Agreement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user says yes to: a write, and its arguments as they understood them."""

    tool: str
    arguments: dict[str, Json] = {}


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reply of the model.

    Attributes:
        say: What the agent is told.
        agrees_to: What they say yes to with it; None: to nothing. It must be said either way.
        ended: They have hung up.
    """

    say: str
    agrees_to: Agreement | None
    ended: bool


Talk = Conversation[UserGoal, Reply]
"""The state of an episode with such a user."""


def reply_contents(turns: Json) -> list[str]:
    """What the replies of a record held, for a `RecordedModel`; raises as `recorded_replies` does."""
    return [as_text(reply) for reply in recorded_replies(turns, Reply)]


def as_text(reply: Reply) -> str:
    """A reply as the model writes it."""
    return msgspec.json.encode(reply).decode()


def decode(text: str, form: type[_Form]) -> _Form:
    """The object that a model's text holds, after what it may have thought and inside of a code fence.

    Raises:
        UnusableReply: It is not of that form.
    """
    said = without_thought(text).removeprefix("```json").strip("`")
    try:
        return msgspec.json.decode(said, type=form)
    except (msgspec.MsgspecError, RecursionError) as problem:
        raise UnusableReply(f"it is not that JSON object: {problem}") from None


def meant_arguments(agreement: Agreement, goal: UserGoal) -> dict[str, Json]:
    """The arguments of a yes whose values could come up with this user, in the form that tools take.

    Anything else is the model's way to write something, or made up; held to the agent's call, it would
    revoke the yes that was given.
    """
    found: dict[str, Json] = {}
    for name, value in agreement.arguments.items():
        values = value if isinstance(value, list) else [value]
        known = [_meant(name, one, goal) for one in values]
        if known and all(known):
            meant = [one[0] for one in known if one]
            found[name] = meant if isinstance(value, list) else meant[0]
    return found


def _meant(name: str, value: Json, goal: UserGoal) -> tuple[Json] | None:
    """The one value of the lexicon that a value is or means."""
    known = goal.lexicon.get(name, ())
    same = [one.value for one in known if one.value == value]
    if not same and isinstance(value, str):
        same = [one.value for one in known if value.strip().lower() in one.forms]
    return (same[0],) if len(same) == 1 else None
