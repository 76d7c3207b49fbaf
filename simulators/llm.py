"""A language model plays the user."""

from collections.abc import Mapping

import msgspec

from tool_envs.chat import ChatModel, ChatReply
from tool_envs.messages import Json
from tool_envs.simulators import llm_prompt
from tool_envs.simulators.agenda import checked_goal
from tool_envs.simulators.agenda_plan import wish_act
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.human import acts_of, proposal_of
from tool_envs.simulators.mentions import ids_in
from tool_envs.simulators.model_user import (
    Conversation,
    ModelUser,
    UnusableReply,
    recorded_replies,
    without_thought,
)
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.turn import Turn


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


def reply_contents(turns: Json) -> list[str]:
    """What the replies of a record held, for a `RecordedModel`; raises as `recorded_replies` does."""
    return [_written(reply) for reply in recorded_replies(turns, Reply)]


class LLMUser(ModelUser[UserGoal, Reply]):
    """A user whose words a language model chooses, told what they want, know and are like.

    Their yes is said apart from the words, in `agrees_to`: a tool, and the arguments as they stand in the
    agent's proposal, with what the user adds where that is one of the values that could come up with them. A
    no and what they name are read from the words. A reply in another form, one that names an id which nobody
    gave them, or one whose words say yes to a proposal while `agrees_to` does not, cannot be used.

    Args:
        phrases: The sentences of the domain.
        source: Where replies come from.
        arguments: See `ModelUser`.
    """

    name = "llm"
    version = "1.0.0"

    def __init__(
        self, phrases: Phrases, source: ChatModel, arguments: Mapping[str, Json] | None = None
    ) -> None:
        super().__init__(source, arguments)
        self._phrases = phrases

    async def areset(self, goal: Json, key: int) -> Turn:
        """The first turn. All wishes count as brought up by it.

        Raises:
            UsageError: The goal is not one, or not of this domain.
            InfrastructureError: The model could not be reached, or gave no reply that can be used.
        """
        wanted = checked_goal(goal, self._phrases)
        reply = await self._begin(wanted, key)
        acts = [wish_act(wish, number) for number, wish in enumerate(wanted.wishes)]
        return Turn(reply.say, tuple(acts))

    async def arespond(self, agent_text: str) -> Turn:
        """The turn after that.

        Raises:
            UsageError: There is no episode.
            InfrastructureError: The model could not be reached, or gave no reply that can be used.
        """
        reply = await self._answer(agent_text)
        acts = _acts(reply, agent_text, self._talking.goal, self._phrases)
        return Turn(reply.say, (*acts, {"act": "bye"}) if reply.ended else tuple(acts), reply.ended)

    def _prompts(self) -> dict[str, Json]:
        names = {"nouns": self._phrases.nouns, "tools": sorted(self._phrases.deeds)}
        said = {name: list(pool) for name, pool in self._phrases.conditions.items()}
        prompts = [
            llm_prompt.ROLE,
            llm_prompt.FORM,
            llm_prompt.FIRST,
            llm_prompt.AGAIN,
            dict(llm_prompt.TRAITS),
        ]
        return {"prompts": prompts, "domain": {**names, "conditions": said}}

    def _opening(self, goal: UserGoal) -> list[dict[str, Json]]:
        return [
            {"role": "system", "content": llm_prompt.instructions(goal, self._phrases)},
            {"role": "user", "content": llm_prompt.FIRST},
        ]

    def _content(self, reply: Reply) -> str:
        return _written(reply)

    def _complain(self, reply: ChatReply, problem: UnusableReply) -> list[dict[str, Json]]:
        again = llm_prompt.AGAIN.format(problem=problem)
        return [{"role": "assistant", "content": reply.text}, {"role": "user", "content": again}]

    def _form(self) -> dict[str, Json]:
        return llm_prompt.reply_format(self._talking.goal, self._phrases, first=not self._talking.heard)

    def _read(self, reply: ChatReply) -> Reply:
        """The reply that a text holds, after what a model may have thought and inside of a code fence."""
        said = _parse(without_thought(reply.text).removeprefix("```json").strip("`"))
        talking = self._talking
        if not (said.say.strip() or said.ended):
            raise UnusableReply("`say` is empty")
        if said.agrees_to is not None and said.agrees_to.tool not in self._phrases.deeds:
            raise UnusableReply("`agrees_to` names no tool of the list")
        made_up = _made_up_ids(said.say, talking, self._phrases)
        if made_up:
            raise UnusableReply(f"`say` names {', '.join(made_up)}, which you do not know and were not told")
        if not talking.heard:
            if said.ended or said.agrees_to is not None:
                raise UnusableReply("nothing was proposed yet, and the conversation has not ended")
        elif said.agrees_to is None and _says_yes(said, talking.heard[-1], talking.goal, self._phrases):
            raise UnusableReply("`say` says yes to the proposal and `agrees_to` does not; make them agree")
        return said


def _parse(text: str) -> Reply:
    try:
        return msgspec.json.decode(text, type=Reply)
    except (msgspec.MsgspecError, RecursionError) as problem:
        raise UnusableReply(f"it is not that JSON object: {problem}") from None


def _written(reply: Reply) -> str:
    return msgspec.json.encode(reply).decode()


def _made_up_ids(text: str, conversation: Conversation[UserGoal, Reply], phrases: Phrases) -> list[str]:
    """The ids in a text that neither the user's goal nor anything that they were told holds."""
    known = " ".join([msgspec.json.encode(conversation.goal).decode(), *conversation.heard]).lower()
    named = dict.fromkeys(one.value for one in ids_in(text.lower(), phrases.language))
    return [value for value in named if value.lower().lstrip("#") not in known]


def _says_yes(reply: Reply, agent_text: str, goal: UserGoal, phrases: Phrases) -> bool:
    return any(
        act["act"] == "affirm" and act["tool"] for act in acts_of(reply.say, agent_text, goal, phrases)
    )


def _acts(reply: Reply, agent_text: str, goal: UserGoal, phrases: Phrases) -> list[Json]:
    """The acts of a reply: a yes from what it agrees to, all else from its words."""
    if reply.agrees_to is None:
        return [act for act in acts_of(reply.say, agent_text, goal, phrases) if act["act"] != "affirm"]
    tool, proposed = proposal_of(agent_text, goal, phrases)
    added = _known(reply.agrees_to.arguments, goal)
    arguments = {**proposed, **added} if tool == reply.agrees_to.tool else added
    return [{"act": "affirm", "tool": reply.agrees_to.tool, "arguments": arguments}]


def _known(arguments: Mapping[str, Json], goal: UserGoal) -> dict[str, Json]:
    """The arguments whose values could come up with this user, in the form that tools take.

    Anything else is the model's way to write something, or made up; held to the agent's call, it would
    revoke the yes that was given.
    """
    found: dict[str, Json] = {}
    for name, value in arguments.items():
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
