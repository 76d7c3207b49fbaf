"""A language model plays the user."""

from collections.abc import Mapping, Sequence

import msgspec

from tool_envs.canonical import digest
from tool_envs.chat import ChatModel, ChatReply, ContextOverflowError
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.messages import Json
from tool_envs.randomness import splitmix64
from tool_envs.simulators import llm_prompt
from tool_envs.simulators.agenda import checked_goal
from tool_envs.simulators.agenda_plan import wish_act
from tool_envs.simulators.awaited import AwaitedUser
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.human import acts_of, proposal_of
from tool_envs.simulators.mentions import ids_in
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.turn import Turn


class UserReplyError(InfrastructureError):
    """Raised when a model that plays the user has twice given no reply that can be used."""


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


class RecordedModel:
    """Gives the replies of a record again, in their order, whatever it is sent.

    Args:
        model: The name of the model that gave them.
        turns: The replies.

    Raises:
        UsageError: They are not the replies of a user.
    """

    def __init__(self, model: str, turns: Sequence[Json]) -> None:
        self.model = model
        try:
            self._replies = msgspec.convert(turns, tuple[Reply, ...])
        except msgspec.ValidationError as problem:
            raise UsageError(f"The turns of a user played by a model are its replies: {problem}.") from None

    async def complete(
        self,
        messages: Sequence[Mapping[str, Json]],
        *,
        tools: Sequence[Mapping[str, Json]] = (),  # noqa: ARG002 - the interface of a model
        response_format: Mapping[str, Json] | None = None,  # noqa: ARG002 - the interface of a model
        arguments: Mapping[str, Json] | None = None,  # noqa: ARG002 - the interface of a model
    ) -> ChatReply:
        """The reply after those that stand in the conversation.

        Raises:
            InfrastructureError: There was no other one.
        """
        number = sum(message["role"] == "assistant" for message in messages)
        if number >= len(self._replies):
            raise InfrastructureError(f"The record has no more than {number} turns of the user.")
        return ChatReply(message={"content": msgspec.json.encode(self._replies[number]).decode()})


class _Conversation(msgspec.Struct, frozen=True):
    """The state of an episode; each turn makes a new one."""

    goal: UserGoal
    key: int
    heard: tuple[str, ...] = ()
    replies: tuple[Reply, ...] = ()
    cost: float = 0.0


class LLMUser(AwaitedUser):
    """A user whose words a language model chooses, told what they want, know and are like.

    Their yes is said apart from the words, in `agrees_to`: a tool, and the arguments as they stand in the
    agent's proposal, with what the user adds where that is one of the values that could come up with them. A
    no and what they name are read from the words. A reply in another form, one that names an id which nobody
    gave them, or one whose words say yes to a proposal while `agrees_to` does not, is asked for once more.
    The second time it is the user's failure, and no agent's.

    Args:
        phrases: The sentences of the domain.
        source: Where replies come from.
        arguments: What each request holds: `temperature`, `max_tokens` ... Without a `seed`, one follows from
            the key of the episode; None leaves it out.
    """

    name = "llm"
    version = "1.0.0"
    not_understood = 0

    def __init__(
        self, phrases: Phrases, source: ChatModel, arguments: Mapping[str, Json] | None = None
    ) -> None:
        self._phrases, self._source = phrases, source
        self._arguments = dict(arguments or {})
        self._conversation: _Conversation | None = None

    @property
    def digest(self) -> str:
        """Digest of the prompts, the model's name and the arguments."""
        names = {"nouns": self._phrases.nouns, "tools": sorted(self._phrases.deeds)}
        said = {name: list(pool) for name, pool in self._phrases.conditions.items()}
        prompts = [
            llm_prompt.ROLE,
            llm_prompt.FORM,
            llm_prompt.FIRST,
            llm_prompt.AGAIN,
            dict(llm_prompt.TRAITS),
        ]
        return digest(
            {
                "name": self.name,
                "version": self.version,
                "model": self._source.model,
                "arguments": self._arguments,
                "prompts": prompts,
                "domain": {**names, "conditions": said},
            }
        )

    @property
    def cost(self) -> float:
        """US dollars for the replies of the episode, as far as that is known."""
        return self._conversation.cost if self._conversation else 0.0

    @property
    def turns(self) -> list[Json]:
        """The replies of the episode, for a `RecordedModel`."""
        replies: list[Json] = msgspec.to_builtins(self._conversation.replies if self._conversation else [])
        return replies

    async def areset(self, goal: Json, key: int) -> Turn:
        """The first turn. All wishes count as brought up by it.

        Raises:
            UsageError: The goal is not one, or not of this domain.
            InfrastructureError: The model could not be reached, or gave no reply that can be used.
        """
        wanted = checked_goal(goal, self._phrases)
        self._conversation = _Conversation(wanted, key)
        reply = await self._reply("")
        acts = [wish_act(wish, number) for number, wish in enumerate(wanted.wishes)]
        return Turn(reply.say, tuple(acts))

    async def arespond(self, agent_text: str) -> Turn:
        """The turn after that.

        Raises:
            UsageError: There is no episode.
            InfrastructureError: The model could not be reached, or gave no reply that can be used.
        """
        conversation = self._talking
        self._conversation = msgspec.structs.replace(conversation, heard=(*conversation.heard, agent_text))
        reply = await self._reply(agent_text)
        acts = _acts(reply, agent_text, conversation.goal, self._phrases)
        return Turn(reply.say, (*acts, {"act": "bye"}) if reply.ended else tuple(acts), reply.ended)

    def snapshot(self) -> Json:
        """The conversation; each turn makes a new one."""
        return self._conversation

    def restore(self, snapshot: Json) -> None:
        """Go on from a snapshot, of this user or of another one with the same model."""
        self._conversation = snapshot

    @property
    def _talking(self) -> _Conversation:
        if self._conversation is None:
            raise UsageError("This user has no episode yet: call reset first.")
        return self._conversation

    async def _reply(self, agent_text: str) -> Reply:
        """The next reply; asked for once more if it cannot be used."""
        messages = self._messages()
        text = await self._ask(messages)
        try:
            reply = self._read(text, agent_text)
        except _Unusable as problem:
            again = llm_prompt.AGAIN.format(problem=problem)
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": again}]
            try:
                reply = self._read(await self._ask(messages), agent_text)
            except _Unusable as problem_again:
                raise UserReplyError(f"The user's model was asked twice: {problem_again}.") from None
        talking = self._talking
        self._conversation = msgspec.structs.replace(talking, replies=(*talking.replies, reply))
        return reply

    def _messages(self) -> list[dict[str, Json]]:
        """The conversation from the user's side, in which the agent is the one who is answered."""
        talking = self._talking
        messages = [
            {"role": "system", "content": llm_prompt.instructions(talking.goal, self._phrases)},
            {"role": "user", "content": llm_prompt.FIRST},
        ]
        for reply, heard in zip(talking.replies, talking.heard, strict=True):
            messages.append({"role": "assistant", "content": msgspec.json.encode(reply).decode()})
            messages.append({"role": "user", "content": heard})
        return messages

    async def _ask(self, messages: list[dict[str, Json]]) -> str:
        talking = self._talking
        first = not talking.heard
        seed = splitmix64(talking.key, 0, len(messages), 0) >> 33
        arguments = {name: v for name, v in {"seed": seed, **self._arguments}.items() if v is not None}
        form = llm_prompt.reply_format(talking.goal, self._phrases, first=first)
        try:
            reply = await self._source.complete(messages, response_format=form, arguments=arguments)
        except ContextOverflowError as problem:
            raise UserReplyError(
                f"The conversation outgrew the context of the user's model: {problem}"
            ) from None
        self._conversation = msgspec.structs.replace(talking, cost=talking.cost + (reply.cost or 0.0))
        return reply.text

    def _read(self, text: str, agent_text: str) -> Reply:
        """The reply that a text holds, after what a model may have thought and inside of a code fence."""
        said = text.rpartition("</think>")[2].strip().removeprefix("```json").strip("`")
        try:
            reply = msgspec.json.decode(said, type=Reply)
        except (msgspec.MsgspecError, RecursionError) as problem:
            raise _Unusable(f"it is not that JSON object: {problem}") from None
        if not (reply.say.strip() or reply.ended):
            raise _Unusable("`say` is empty")
        if reply.agrees_to is not None and reply.agrees_to.tool not in self._phrases.deeds:
            raise _Unusable("`agrees_to` names no tool of the list")
        made_up = _made_up_ids(reply.say, self._talking, self._phrases)
        if made_up:
            raise _Unusable(f"`say` names {', '.join(made_up)}, which you do not know and were not told")
        first = not self._talking.heard
        if first and (reply.ended or reply.agrees_to is not None):
            raise _Unusable("nothing was proposed yet, and the conversation has not ended")
        if (
            not first
            and reply.agrees_to is None
            and _says_yes(reply, agent_text, self._talking.goal, self._phrases)
        ):
            raise _Unusable("`say` says yes to the proposal and `agrees_to` does not; make them agree")
        return reply


class _Unusable(Exception):  # noqa: N818 - it never leaves this module
    """A reply cannot be used; the text says why."""


def _made_up_ids(text: str, conversation: _Conversation, phrases: Phrases) -> list[str]:
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
