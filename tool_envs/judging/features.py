"""Rollouts as vectors: hashed words of what was said and done, the same in every process."""

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tool_envs.trajectory.record import (
    AssistantMessage,
    RecordedMessage,
    ToolMessage,
    Trajectory,
)

FEATURES = 2048
"""Length of a vector."""
FEATURES_VERSION = "1.0.0"
"""Goes up with any change of what stands in a vector."""

_WORD = re.compile(r"[a-z']+")


def features_of(trajectory: Trajectory) -> npt.NDArray[np.float64]:
    """A rollout as a vector of length 1.0, or 0.0 if nothing happened in it.

    Each word is counted in the place that a digest of it names, with the sign that the digest names, so that
    words which share a place cancel out on average (Weinberger et al., Feature hashing for large scale
    multitask learning, 2009). Counts enter by their square roots: a long rollout does not outweigh its words.
    """
    vector = np.zeros(FEATURES)
    for word, count in sorted(Counter(_words(trajectory)).items()):
        number = _digest(word)
        vector[number % FEATURES] += (1.0 if number >> 63 else -1.0) * count**0.5
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _digest(word: str) -> int:
    """64 bits that stand for a word."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")


def _words(trajectory: Trajectory) -> Iterator[str]:
    """The words of a rollout: what was said by whom, what was called, refused, and what came after what.

    Numbers, ids and names of tools' answers stand in none of them: they say which task it was, and not how
    well it went.
    """
    last = two_before = "start"
    for message in trajectory.messages:
        for event in _events(message):
            yield f"event {event}"
            yield f"then {last} > {event}"
            yield f"thrice {two_before} > {last} > {event}"
            two_before, last = last, event
        if not isinstance(message, ToolMessage):
            yield from _said(message)
    yield f"then {last} > end"


def _events(message: RecordedMessage) -> Iterator[str]:
    if isinstance(message, ToolMessage):
        if message.code:
            yield f"refused {message.code}"
    elif isinstance(message, AssistantMessage):
        yield from (f"call {call.name}" for call in message.tool_calls)
        if message.content:
            yield "agent speaks"
    else:
        yield "user speaks"


def _said(message: RecordedMessage) -> Iterator[str]:
    speaker = "agent" if isinstance(message, AssistantMessage) else "user"
    words = _WORD.findall(message.content.lower())
    yield from (f"{speaker} says {word}" for word in words)
    yield from (f"{speaker} says {one} {two}" for one, two in itertools.pairwise(words))
