"""A language model as the agent: the policy of a rollout that asks an OpenAI-compatible server."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from tool_envs.agents import json_calls
from tool_envs.canonical import digest
from tool_envs.chat import ChatModel, ChatReply, ContextOverflowError, Usage
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.rollout.policy import PolicyOutput
from tool_envs.trajectory.capture import PolicySetting
from tool_envs.trajectory.record import Sampling, Tokens

CallForm = Literal["native", "json"]
"""How a model calls tools: by the `tool_calls` of its server, or by replies held to a JSON Schema."""

_TOKENS: dict[str, Json] = {"logprobs": True, "return_token_ids": True}


class ChatPolicy:
    """A model behind a server, as a policy; see `tool_envs.rollout.policy.Policy`.

    A reply that was cut at the limit of tokens, or for which the context had no room, says so in the
    `finish` of its output: neither is a failure, nor an answer. A cost that is unknown counts as 0.0 in the
    output; the client's ledger says of how many replies it is.

    Args:
        client: Where replies come from. Closing it is the caller's.
        calls: How the model calls tools.
        thought: With `calls="json"`, whether a thought stands in each reply.
        arguments: What each request holds: `temperature` and `top_p` (1.0 unless given; None: left out, so
            that the server's own hold, which OpenAI's API says are 1), `max_tokens`, `seed`, `stop` ...
        tokens: Ask for token ids and log-probabilities, as vLLM serves them. Those that come are kept anyway.
        name: What it is called in records; None: the model's name.
        reference_policy: See `Trajectory`; likewise the next two.
        tokenizer: Sha256 of the model's tokenizer; None: not known.
        chat_template: Sha256 of its chat template; None: not known.

    Attributes:
        version: Digest of the model's name, the arguments and the prompts: what acted, as far as the server's
            model is always the same under its name. A trainer has versions of its own.

    Raises:
        UsageError: An argument makes no sense.
    """

    def __init__(
        self,
        client: ChatModel,
        *,
        calls: CallForm = "native",
        thought: bool = False,
        arguments: Mapping[str, Json] | None = None,
        tokens: bool = False,
        name: str | None = None,
        reference_policy: str | None = None,
        tokenizer: str | None = None,
        chat_template: str | None = None,
    ) -> None:
        if calls not in ("native", "json") or (thought and calls == "native"):
            raise UsageError(f'`calls` is "native" or "json", and a thought goes with "json"; not {calls!r}.')
        given = {"temperature": 1.0, "top_p": 1.0, **(arguments or {})}
        self.name = name or client.model
        self.setting = PolicySetting(
            reference_policy=reference_policy,
            sampling=_sampling(given),
            tokenizer=tokenizer,
            chat_template=chat_template,
        )
        self._client = client
        self._calls, self._thought = calls, thought
        self._arguments = {name: value for name, value in given.items() if value is not None}
        if tokens:
            self._arguments |= _TOKENS
        self.version = self._digest()[:16]

    async def act(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> PolicyOutput:
        """The next turn; see `Policy.act`.

        Raises:
            ChatError: The server gave no usable reply.
        """
        try:
            reply = await (self._ask_natively if self._calls == "native" else self._ask_for_json)(
                messages, tools
            )
        except ContextOverflowError:
            return PolicyOutput(action="", finish="context", usage=Usage(0, 0))  # no reply, no tokens
        return PolicyOutput(
            action=_native_action(reply) if self._calls == "native" else json_calls.as_action(reply.text),
            tokens=_tokens(reply),
            finish="length" if reply.finish_reason == "length" else "stop",
            cost=reply.cost or 0.0,
            usage=reply.usage,
        )

    async def _ask_natively(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> ChatReply:
        return await self._client.complete(
            list(_servable(messages, tools)), tools=tools, arguments=self._arguments
        )

    async def _ask_for_json(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> ChatReply:
        listed = json_calls.with_speech(tools)
        return await self._client.complete(
            json_calls.as_plain_messages(messages, listed, thought=self._thought),
            response_format=json_calls.call_format(listed, thought=self._thought),
            arguments=self._arguments,
        )

    def _digest(self) -> str:
        prompts = [json_calls.TASK, json_calls.THOUGHT, json_calls.RESULT] if self._calls == "json" else []
        return digest(
            {
                "model": self._client.model,
                "calls": self._calls,
                "thought": self._thought,
                "arguments": self._arguments,
                "prompts": prompts,
            }
        )


def _sampling(arguments: Mapping[str, Json]) -> Sampling:
    """What the arguments of requests say of how tokens are drawn."""
    stop = arguments.get("stop") or ()
    temperature, top_p = (
        1.0 if arguments[name] is None else arguments[name] for name in ("temperature", "top_p")
    )
    values = {
        "temperature": temperature,
        "top_p": top_p,
        "seed": arguments.get("seed"),
        "stop": [stop] if isinstance(stop, str) else stop,
    }
    try:
        return msgspec.convert(values, Sampling)
    except msgspec.ValidationError as problem:
        raise UsageError(f"The arguments of a policy's requests: {problem}.") from None


def _servable(
    messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> Iterator[Mapping[str, Json]]:
    """The conversation in the form that servers insist on: what they refuse would count as their failure.

    A call of a tool that there is not, under whatever name, is shown as text, and so are its answer and the
    answer to what could not be read as a call.
    """
    known = {tool["function"]["name"] for tool in tools}
    shown: set[str] = set()  # ids of the calls of the agent's newest message that are calls to the server too
    for message in messages:
        if message["role"] == "assistant":
            calls = message.get("tool_calls", ())
            strange = any(call["function"]["name"] not in known for call in calls)
            shown = set() if strange else {call["id"] for call in calls}
            yield json_calls.plain(message) if strange else message
        elif message["role"] == "tool" and message.get("tool_call_id") not in shown:
            yield json_calls.plain(message)
        else:
            yield message


def _native_action(reply: ChatReply) -> Json:
    """The message as `step` takes it: without what servers add to it, and a refusal as what is said."""
    calls = reply.message.get("tool_calls")
    return {"role": "assistant", "content": reply.text, "tool_calls": calls} if calls else reply.text


def _tokens(reply: ChatReply) -> Tokens | None:
    """What was sent and sampled, if the server told all of it."""
    if not reply.prompt_token_ids or reply.token_ids is None or reply.logprobs is None:
        return None
    return Tokens(prompt_token_ids=reply.prompt_token_ids, token_ids=reply.token_ids, logprobs=reply.logprobs)
