"""The language model that plays the user `llm`: its settings, as arguments of an environment."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from tool_envs.canonical import canonical_json
from tool_envs.chat import ChatClient, ChatReply, Prices
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.simulators import (
    LLMUser,
    ModelUser,
    Phrases,
    RecordedModel,
    recorded_verdicts,
    reply_contents,
)
from tool_envs.task import Task


class ClientOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the model is asked: see `ChatClient`; `prices` are dollars per million prompt and reply tokens."""

    deadline: float = 600.0
    retries: int = 4
    max_connections: int | None = None
    prices: tuple[float, float] | None = None


class UserModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which model plays the user, and where it is. All fields are JSON values, and none is a secret.

    Attributes:
        model: Its name.
        base_url: Its server; None: the environment's `OPENAI_BASE_URL`.
        api_key_env: The environment variable that holds the key.
        arguments: What each request holds: `temperature`, `max_tokens` ...
        client: How it is asked.
        verifier: The model on the same server that is asked of each reply whether the user stays in their
            role; it may be the same one. None: nobody is asked.
    """

    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    arguments: dict[str, Json] = {}
    client: ClientOptions = ClientOptions()
    verifier: str | None = None

    def make_client(self, model: str) -> ChatClient:
        """A client for one of the models, which all users with these settings share."""
        options = self.client
        return ChatClient(
            model,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            prices=None if options.prices is None else Prices(*options.prices),
            deadline=options.deadline,
            retries=options.retries,
            max_connections=options.max_connections,
        )


def user_model_text(
    user: str,
    model: str | None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    arguments: dict[str, Json] | None = None,
    client: dict[str, Json] | None = None,
    verifier: str | None = None,
) -> str:
    """The settings of the user's model as one text, by which bundles are kept apart; empty for other users.

    Args:
        user: The kind of user.
        model: See `UserModel`; of this and of those below None stands for the default.
        base_url: See `UserModel`.
        api_key_env: See `UserModel`.
        arguments: See `UserModel`.
        client: See `UserModel`.
        verifier: See `UserModel`.

    Raises:
        UsageError: They are not such settings, or another user is given a model.
    """
    settings = {
        "model": model,
        "base_url": base_url,
        "api_key_env": api_key_env,
        "arguments": arguments,
        "client": client,
        "verifier": verifier,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    if user != "llm":
        if given:
            raise UsageError(f'A model plays the user when `user="llm"`, and not for user={user!r}.')
        return ""
    if not model:
        raise UsageError('`user="llm"` wants the name of a model, `user_model="..."`.')
    try:
        return canonical_json(msgspec.to_builtins(msgspec.convert(given, UserModel))).decode()
    except (msgspec.ValidationError, ValueError) as problem:
        raise UsageError(f"The settings of the user's model: {problem}.") from None


def llm_user(text: str, phrases: Phrases) -> Callable[[Task, Mapping[str, Json]], ModelUser[Any, Any]]:
    """Makes the users of a service desk whom a model plays.

    Args:
        text: What `user_model_text` returned; empty: such users are refused.
        phrases: The sentences of the domain.
    """
    return model_user(text, functools.partial(LLMUser, phrases), reply_contents) if text else refuse_user


def model_user(
    text: str,
    make: Callable[..., ModelUser[Any, Any]],
    contents_of: Callable[[Json], Sequence[str]],
) -> Callable[[Task, Mapping[str, Json]], ModelUser[Any, Any]]:
    """Makes the users of a bundle whom a model plays; with `user_turns`, a record of it.

    Args:
        text: What `user_model_text` returned for the settings of a model.
        make: Makes one from where its replies come from, the arguments of requests, and, if a verifier is
            named, where its verdicts come from.
        contents_of: What the replies held that `user_turns` are a record of.
    """
    settings = msgspec.json.decode(text, type=UserModel)
    verifiers = [settings.verifier] if settings.verifier else []

    def make_user(_: Task, options: Mapping[str, Json]) -> ModelUser[Any, Any]:
        if "user_turns" in options:
            recorded = RecordedModel(settings.model, contents_of(options["user_turns"]))
            return make(recorded, settings.arguments, *map(recorded_verdicts, verifiers))
        source, *verdicts = [_model_behind(text, name) for name in (settings.model, *verifiers)]
        return make(source, settings.arguments, *verdicts)

    return make_user


class _LateModel:
    """A model whose client is made when it is first asked: a slice is frozen, and known, without a server."""

    def __init__(self, settings: UserModel, model: str) -> None:
        self.model = model
        self._settings = settings

    @functools.cached_property
    def _client(self) -> ChatClient:
        return self._settings.make_client(self.model)

    async def complete(self, messages: Sequence[Mapping[str, Json]], **asked: Any) -> ChatReply:  # noqa: ANN401 - as the client takes it
        """See `ChatClient.complete`."""
        return await self._client.complete(messages, **asked)


@functools.lru_cache(maxsize=64)
def _model_behind(text: str, model: str) -> _LateModel:
    """One for all users with these settings, so that they share connections."""
    return _LateModel(msgspec.json.decode(text, type=UserModel), model)


def refuse_user(_: Task, __: Mapping[str, Json]) -> ModelUser[Any, Any]:
    """Makes no user: of bundles that were loaded without a model; raises UsageError."""
    raise UsageError("This bundle was loaded without a model for its user.")
