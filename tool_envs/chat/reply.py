"""Reads what a server answered: a chat completion, or why there is none.

The forms are those of OpenAI's Chat Completions API, and for token ids vLLM's `return_token_ids`:
`prompt_token_ids` beside `choices`, `token_ids` in the choice.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tool_envs.json_values import shown
from tool_envs.messages import Json

_Count = Annotated[int, Meta(ge=0)]
_Ids = tuple[Annotated[int, Meta(ge=0)], ...]

_EVENTS = (b"data:", b"event:", b":")
"""With what the lines of a stream of events begin; those with a colon alone keep the connection open."""
_SHOWN = 300  # characters of what a server says that stand in an error


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one request, as the server counted them."""

    prompt_tokens: _Count
    completion_tokens: _Count


def total_usage(usages: Sequence[Usage | None]) -> Usage | None:
    """The tokens of several requests together; None: there was none, or those of one are unknown."""
    known = [usage for usage in usages if usage is not None]
    if not known or len(known) < len(usages):
        return None
    return Usage(sum(each.prompt_tokens for each in known), sum(each.completion_tokens for each in known))


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a model replied.

    Attributes:
        message: The assistant's message as the server gave it: `content`, `tool_calls`, `refusal` ...
        finish_reason: Why it ended: `stop`, `tool_calls`, `length` (cut at the limit of tokens),
            `content_filter`; empty: the server did not say.
        model: The model's name for itself; empty: the server did not say.
        id: What the server calls the reply; empty: it did not say.
        usage: Tokens; None: the server did not say, so that they are unknown.
        cost: US dollars; None: unknown, for want of prices or of usage.
        prompt_token_ids: All that the model was given; None: not served.
        token_ids: What was sampled; None: not served.
        logprobs: Natural logarithm of the probability of each of them; None: not served.
    """

    message: dict[str, Json]
    finish_reason: str = ""
    model: str = ""
    id: str = ""
    usage: Usage | None = None
    cost: float | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None

    @property
    def text(self) -> str:
        """What the message says: its content, or else its refusal."""
        for name in ("content", "refusal"):
            if isinstance(self.message.get(name), str) and self.message[name]:
                said: str = self.message[name]
                return said
        return ""


class UnusableReplyError(ValueError):
    """Raised when a body is no chat completion that can be used; says why. Never leaves this package."""


class _TokenLogprob(msgspec.Struct):
    logprob: float


class _Logprobs(msgspec.Struct):
    content: tuple[_TokenLogprob, ...] | None = None


class _Choice(msgspec.Struct):
    message: dict[str, Any]
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None
    token_ids: _Ids | None = None


class _Completion(msgspec.Struct):
    """The members of a completion that are looked at; others are skipped."""

    choices: tuple[_Choice, ...] = ()
    error: Any = None
    model: str | None = None
    id: str | None = None
    usage: Usage | None = None
    prompt_token_ids: _Ids | None = None


_DECODER = msgspec.json.Decoder(_Completion)


def read_reply(body: bytes) -> ChatReply:
    """The chat completion that a body holds, its cost unknown.

    Raises:
        UnusableReplyError: It holds an error, is no JSON of that form, has no choices or one that the server
            gave up, or its log-probabilities do not fit its tokens, or are not finite.
    """
    try:
        completion = _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise UnusableReplyError(_explain(body, problem)) from None
    if completion.error:
        raise UnusableReplyError(f"an error in place of a reply: {error_text(body)}")
    if not completion.choices:
        raise UnusableReplyError("a reply without choices")
    choice = completion.choices[0]
    if choice.finish_reason == "abort":
        raise UnusableReplyError("the server gave the reply up before its end")
    return ChatReply(
        message=choice.message,
        finish_reason=choice.finish_reason or "",
        model=completion.model or "",
        id=completion.id or "",
        usage=completion.usage,
        prompt_token_ids=completion.prompt_token_ids,
        token_ids=choice.token_ids,
        logprobs=_logprobs_of(choice),
    )


def _logprobs_of(choice: _Choice) -> tuple[float, ...] | None:
    if choice.logprobs is None or choice.logprobs.content is None:
        return None
    logprobs = tuple(token.logprob for token in choice.logprobs.content)
    if choice.token_ids is not None and len(choice.token_ids) != len(logprobs):
        raise UnusableReplyError(f"{len(choice.token_ids)} sampled tokens, but {len(logprobs)} logprobs")
    return logprobs


def _explain(body: bytes, problem: Exception) -> str:
    """Why a body could not be read; an error in it goes first, in whatever form."""
    said = _error_in(body)
    if said:
        return f"an error in place of a reply: {_short(said)}"
    if body.lstrip().startswith(_EVENTS):
        return _explain_stream(body)
    if isinstance(problem, RecursionError):
        return "JSON that is nested too deeply"
    what = "JSON of another form" if isinstance(problem, msgspec.ValidationError) else "no whole JSON"
    return f"{what}: {_short(str(problem))}"


def _explain_stream(body: bytes) -> str:
    """What is wrong with a stream of events (`text/event-stream`): that it is one, and what is said in it."""
    events = (line.removeprefix(b"data:") for line in body.splitlines() if line.startswith(b"data:"))
    said = next(filter(None, map(_error_in, events)), "")
    return "a stream of events, which was not asked for" + (
        f", with an error: {_short(said)}" if said else ""
    )


# --- Errors in bodies


def error_text(body: bytes) -> str:
    """What a server says that is wrong, short and on one line; empty when it says nothing."""
    return _short(_error_in(body) or body[: 4 * _SHOWN].decode(errors="replace"))


def overflows_context(status: int, body: bytes) -> bool:
    """Whether an error says that the request does not fit into the model's context.

    OpenAI has the code `context_length_exceeded`, llama.cpp the type `exceed_context_size_error`; vLLM and
    SGLang say it in words.
    """
    if status not in (400, 413, 422):
        return False
    return bool(_OVERFLOW_CODES & set(_error_codes(body))) or any(
        words in _error_in(body).lower() for words in _OVERFLOW_WORDS
    )


def is_out_of_quota(body: bytes) -> bool:
    """Whether a refusal is for good: nothing is left to spend, as opposed to too many requests at once."""
    return "insufficient_quota" in _error_codes(body)


_OVERFLOW_CODES = {"context_length_exceeded", "context_window_exceeded", "exceed_context_size_error"}
_OVERFLOW_WORDS = ("maximum context length", "available context size", "context window")


def _error_of(body: bytes) -> Json:
    """The member `error` of a body, or all of one that is an error itself (vLLM); None: there is none."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if value.get("error"):
        return value["error"]
    return value if value.get("object") == "error" or "message" in value else None


def _error_in(body: bytes) -> str:
    """The words of an error; empty when there is none."""
    error = _error_of(body)
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        message: str = error["message"]
        return message
    return "" if error is None else error if isinstance(error, str) else shown(error)


def _error_codes(body: bytes) -> list[str]:
    error = _error_of(body)
    codes = [error.get("code"), error.get("type")] if isinstance(error, dict) else []
    return [code for code in codes if isinstance(code, str)]


def _short(text: str) -> str:
    line = " ".join(text.split()).removesuffix(".")
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."
