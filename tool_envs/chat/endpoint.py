"""Where a model's server is, and the key to it."""

import os
from urllib.parse import urlsplit

from tool_envs.errors import UsageError


def find_url(base_url: str | None) -> str:
    """The URL below which a server answers: the one given, else the environment's `OPENAI_BASE_URL`.

    Raises:
        UsageError: There is none, it is no URL of a server, or it holds what may be secret. It is not shown.
    """
    url = base_url or os.environ.get("OPENAI_BASE_URL") or ""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or parts.username is not None or parts.query or parts.fragment:
        given = "the one given" if base_url else "OPENAI_BASE_URL" if url else "none"
        raise UsageError(
            "Expected the URL of an OpenAI-compatible server, such as `http://127.0.0.1:8000/v1`, without a "
            f"user's name or a query, as `base_url` or in OPENAI_BASE_URL; {given} is not."
        )
    return url.rstrip("/")


def find_key(api_key: str | None, api_key_env: str | None, *, from_environment: bool) -> str | None:
    """The key: the one given, that of the environment variable named, or `OPENAI_API_KEY` if asked for.

    Raises:
        UsageError: The variable that was named is not set, or the key, which is not shown, fits in no header.
    """
    if api_key_env is not None:
        api_key = api_key or os.environ.get(api_key_env)
        if not api_key:
            raise UsageError(f"The environment variable {api_key_env} is to hold the key, but is not set.")
    elif api_key is None and from_environment:
        api_key = os.environ.get("OPENAI_API_KEY")
    if api_key and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
        raise UsageError(
            "The key holds characters that no header may have. Is there a line break at its end?"
        )
    return api_key or None
