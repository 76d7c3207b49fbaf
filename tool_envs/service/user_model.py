"""The language model that plays the user `llm`: its settings, as arguments of an environment."""

import functools
from collections.abc import Callable, Mapping

import msgspec

from tool_envs.canonical import canonical_json
from tool_envs.chat import ChatClient, Prices
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.simulators import LLMUser, Phrases, RecordedModel
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
    """

    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    arguments: dict[str, Json] = {}
    client: ClientOptions = ClientOptions()

    def make_client(self) -> ChatClient:
        """The client, which all users with these settings share."""
        options = self.client
        return ChatClient(
            self.model,
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
) -> str:
    """The settings of the user's model as one text, by which bundles are kept apart; empty for other users.

    Args:
        user: The kind of user.
        model: See `UserModel`; of this and of those below None stands for the default.
        base_url: See `UserModel`.
        api_key_env: See `UserModel`.
        arguments: See `UserModel`.
        client: See `UserModel`.

    Raises:
        UsageError: They are not such settings, or another user is given a model.
    """
    settings = {
        "model": model,
        "base_url": base_url,
        "api_key_env": api_key_env,
        "arguments": arguments,
        "client": client,
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


def llm_user(text: str, phrases: Phrases) -> Callable[[Task, Mapping[str, Json]], LLMUser]:
    """Makes the users of a bundle; the client is made with the first of them that asks a model.

    Args:
        text: What `user_model_text` returned.
        phrases: The sentences of the domain.
    """
    if not text:
        return _refuse
    settings = msgspec.json.decode(text, type=UserModel)
    client = functools.cache(settings.make_client)

    def make(_: Task, options: Mapping[str, Json]) -> LLMUser:
        source = RecordedModel(settings.model, options["user_turns"]) if "user_turns" in options else client()
        return LLMUser(phrases, source, settings.arguments)

    return make


def _refuse(_: Task, __: Mapping[str, Json]) -> LLMUser:
    raise UsageError("This bundle was loaded without a model for its user.")
