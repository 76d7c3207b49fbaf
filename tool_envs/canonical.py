"""Canonical JSON (RFC 8785) and the digests that are taken over it."""

import hashlib

import rfc8785

from tool_envs.messages import Json


def canonical_json(value: Json) -> bytes:
    """The one byte string that stands for a JSON value, whatever the order of its keys.

    Raises:
        rfc8785.CanonicalizationError: It is not I-JSON (NaN, a lone surrogate, an integer beyond 2**53).
    """
    return rfc8785.dumps(value)


def digest(value: Json) -> str:
    """Sha256 of `canonical_json(value)`, in hexadecimal (64 characters)."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
