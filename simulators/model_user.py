"""Users whose words a language model chooses: what all of them have in common."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from tool_envs.canonical import digest
from tool_envs.chat import ChatModel, ChatReply, ContextOverflowError, Usage, total_usage
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.messages import Json
from tool_envs.randomness import splitmix64
from tool_envs.simulators.awaited import AwaitedUser
from tool_envs.simulators.user_failures import UnusableReply, UserReplyError

Goal = TypeVar("Goal")
Said = TypeVar("Said")
Form = TypeVar("Form")


class RecordedModel:
    """Gives the replies of a record again, in their order, whatever it is sent.

    Args:
        model: The name of the model that gave them.
        contents: What the replies held.
    """

    def __init__(self, model: str, contents: Sequence[str]) -> None:
        self.model = model
        self._contents = tuple(contents)

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
        if number >= len(self._contents):
            raise InfrastructureError(f"The record has no more than {number} turns of the user.")
        return ChatReply(message={"content": self._contents[number]})


def recorded_replies(turns: Json, form: type[Said]) -> tuple[Said, ...]:
    """The replies that `user_turns` are a record of.

    Args:
        turns: What the option of `reset` holds.
        form: What a reply is.

    Raises:
        UsageError: They are no such replies.
    """
    try:
        return msgspec.convert(turns, tuple[form, ...])  # type: ignore[valid-type]  # a type at run time
    except msgspec.ValidationError as problem:
        raise UsageError(f"The turns of a user played by a model are its replies: {problem}.") from None


class Conversation(msgspec.Struct, Generic[Goal, Said], frozen=True):
    """The state of an episode, as the user sees it; each turn makes a new one.

    Attributes:
        goal: What they want.
        key: 64-bit key of the episode.
        heard: What the agent said.
        replies: What they replied: at first, and then to each of those.
        cost: US dollars for all requests, as far as that is known.
        usages: Tokens of each request that was answered; None: the server did not say.
    """

    goal: Goal
    key: int
    heard: tuple[str, ...] = ()
    replies: tuple[Said, ...] = ()
    cost: float = 0.0
    usages: tuple[Usage | None, ...] = ()


class ModelUser(AwaitedUser, Generic[Goal, Said]):
    """The base of users whose words a language model chooses.

    The model gets the conversation from the user's side, in which the agent is the one who is answered. A
    reply that cannot be used is asked for once more; the second time it is the user's failure, and no
    agent's: an error of the kind that the `UnusableReply` names. What a subclass brings is what the model is
    told, what its replies must be, and what they mean.

    Args:
        source: Where replies come from.
        arguments: What each request holds: `temperature`, `max_tokens` ... Without a `seed`, one follows from
            the key of the episode; None leaves it out.
    """

    name: str
    version: str
    not_understood = 0

    def __init__(self, source: ChatModel, arguments: Mapping[str, Json] | None = None) -> None:
        self._source = source
        self.arguments = dict(arguments or {})
        self._conversation: Conversation[Goal, Said] | None = None

    @property
    def model(self) -> str:
        """The model's name."""
        return self._source.model

    @property
    def digest(self) -> str:
        """Digest of the prompts, the models' names and the arguments."""
        known = {"name": self.name, "version": self.version, "model": self.model, "arguments": self.arguments}
        return digest({**known, **self._prompts()})

    @property
    def prompt_digest(self) -> str:
        """Digest of what the model is told, whatever the goal is, and of all that judges its replies."""
        return digest(self._prompts())

    @property
    def cost(self) -> float:
        """US dollars for the requests of the episode, as far as that is known."""
        return self._conversation.cost if self._conversation else 0.0

    @property
    def usage(self) -> Usage | None:
        """Tokens of the episode's requests so far; None: the server did not count them, or not all."""
        return total_usage(self._conversation.usages) if self._conversation else None

    @property
    def turns(self) -> list[Json]:
        """The replies of the episode, for a `RecordedModel`."""
        replies: list[Json] = msgspec.to_builtins(self._conversation.replies if self._conversation else [])
        return replies

    def snapshot(self) -> Json:
        """The conversation; each turn makes a new one."""
        return self._conversation

    def restore(self, snapshot: Json) -> None:
        """Go on from a snapshot, of this user or of another one with the same model."""
        self._conversation = snapshot

    # --- What a subclass brings

    def _prompts(self) -> dict[str, Json]:
        """All that the model is told apart from goals, and what judges its replies, for digests."""
        raise NotImplementedError

    def _opening(self, goal: Goal) -> list[dict[str, Json]]:
        """The messages before the user's first reply."""
        raise NotImplementedError

    def _content(self, reply: Said) -> str:
        """A reply as the model wrote it, for the requests after it."""
        raise NotImplementedError

    def _read(self, reply: ChatReply) -> Said:
        """What a reply means.

        Raises:
            UnusableReply: Nothing that can be used.
        """
        raise NotImplementedError

    def _complain(self, reply: ChatReply, problem: UnusableReply) -> list[dict[str, Json]]:  # noqa: ARG002 - for subclasses
        """What stands after the conversation when a reply is asked for once more."""
        return []

    def _form(self) -> dict[str, Json] | None:
        """The `response_format` of the next reply; None: any text."""
        return None

    async def _verify(self, said: Said) -> None:
        """Have a reply judged that can be read.

        Raises:
            UnusableReply: It is no reply of this user.
        """

    # --- What they do with it

    @property
    def _talking(self) -> Conversation[Goal, Said]:
        if self._conversation is None:
            raise UsageError("This user has no episode yet: call reset first.")
        return self._conversation

    async def _begin(self, goal: Goal, key: int) -> Said:
        """Their first reply in a new episode."""
        self._conversation = Conversation(goal, key)
        return await self._reply()

    async def _answer(self, agent_text: str) -> Said:
        """Their reply to something that the agent said."""
        talking = self._talking
        self._conversation = msgspec.structs.replace(talking, heard=(*talking.heard, agent_text))
        return await self._reply()

    async def _reply(self) -> Said:
        """The next reply."""
        said = await self._ask_twice(self._source, self._messages(), self._form(), self._complain, self._use)
        talking = self._talking
        self._conversation = msgspec.structs.replace(talking, replies=(*talking.replies, said))
        return said

    async def _use(self, reply: ChatReply) -> Said:
        """What a reply means, if nothing is against it."""
        said = self._read(reply)
        await self._verify(said)
        return said

    def _messages(self) -> list[dict[str, Json]]:
        """The conversation from the user's side."""
        talking = self._talking
        messages = self._opening(talking.goal)
        for reply, heard in zip(talking.replies, talking.heard, strict=True):
            messages.append({"role": "assistant", "content": self._content(reply)})
            messages.append({"role": "user", "content": heard})
        return messages

    async def _ask_twice(
        self,
        source: ChatModel,
        messages: list[dict[str, Json]],
        form: Mapping[str, Json] | None,
        complain: Callable[[ChatReply, UnusableReply], list[dict[str, Json]]],
        read: Callable[[ChatReply], Awaitable[Form]],
    ) -> Form:
        """What is read from a model's reply; asked for once more if it cannot be used."""
        first = await self._ask(source, messages, form, attempt=0)
        try:
            return await read(first)
        except UnusableReply as problem:
            complaint = complain(first, problem)
        again = await self._ask(source, [*messages, *complaint], form, attempt=1)
        try:
            return await read(again)
        except UnusableReply as problem:
            raise problem.failure(f"The user's model was asked twice: {problem}.") from None

    async def _ask(
        self,
        source: ChatModel,
        messages: list[dict[str, Json]],
        form: Mapping[str, Json] | None,
        attempt: int,
    ) -> ChatReply:
        """A model's reply, which counts among the episode's requests."""
        talking = self._talking
        # The number of messages that there were if each request stood in the conversation.
        number = 2 * (len(talking.heard) + 1 + attempt)
        seed = splitmix64(talking.key, 0, number, 0) >> 33
        arguments = {name: v for name, v in {"seed": seed, **self.arguments}.items() if v is not None}
        try:
            reply = await source.complete(messages, response_format=form, arguments=arguments)
        except ContextOverflowError as problem:
            raise UserReplyError(
                f"The conversation outgrew the context of the user's model: {problem}"
            ) from None
        self._conversation = msgspec.structs.replace(
            talking, cost=talking.cost + (reply.cost or 0.0), usages=(*talking.usages, reply.usage)
        )
        return reply


def without_thought(text: str) -> str:
    """A text without what a model may have thought before it."""
    return text.rpartition("</think>")[2].strip()
