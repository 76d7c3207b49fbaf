"""Records as sequences of tokens to train on, and the proof that a loss mask covers what was sampled.

Sampled token ids are used as they were recorded, and nothing is tokenised again: text that is tokenised
again need not give the tokens that the policy sampled.
"""

from collections.abc import Iterator, Sequence

import msgspec

from tool_envs.errors import MaskProofError, UsageError
from tool_envs.trajectory.record import (
    AssistantMessage,
    Tokens,
    Trajectory,
    assistant_messages,
)

NOT_SAMPLED = -1
"""In `TokenSequence.versions`: no policy sampled this token."""


class TokenSequence(msgspec.Struct, frozen=True, kw_only=True):
    """One sequence of tokens; the first four fields have one length.

    A token's values stand at its own place: nothing is shifted to the place that predicts it.

    Attributes:
        input_ids: What the model was given and what it sampled, in turn.
        loss_mask: 1 on what is trained on, else 0.
        logprobs: Natural logarithm of the probability of each sampled token; 0.0 elsewhere.
        versions: Number of the policy version that sampled the token; `NOT_SAMPLED` elsewhere.
        version_names: The policy versions by those numbers.
        messages: Indices in the record of the messages that were sampled here.
        reward: The episode's, shared by all of its sequences; None after an infrastructure failure.
    """

    input_ids: tuple[int, ...]
    loss_mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    versions: tuple[int, ...]
    version_names: dict[int, str]
    messages: tuple[int, ...]
    reward: float | None


def to_tokens(trajectory: Trajectory) -> list[TokenSequence]:
    """The sequences of a record, in the order in which they were sampled.

    A turn goes on with the sequence before it when its prompt begins with all of that sequence, prompt and
    sampled tokens alike. Else it begins a new one: after a chat template that rewrites earlier turns, say, or
    a compacted context. So a sequence holds only what the model saw before it sampled. An episode that failed
    for its infrastructure has no 1 in any mask, since no message of it is trainable.

    Raises:
        UsageError: A trainable message has no tokens, so that its mask cannot be known.
    """
    numbers = {version.version: version.number for version in trajectory.policy_versions}
    chains: list[_Chain] = []
    for index, message in assistant_messages(trajectory):
        if message.tokens is None:
            if message.trainable:
                raise UsageError(f"message {index}: it is trainable, but the record has no tokens of it.")
            continue
        if not (chains and chains[-1].begins(message.tokens.prompt_token_ids)):
            chains.append(_Chain())
        chains[-1].extend(index, message, message.tokens, numbers)
    return [chain.finish(numbers, trajectory.outcome.reward) for chain in chains]


class _Chain:
    """A sequence that grows."""

    def __init__(self) -> None:
        self.input_ids: list[int] = []
        self.loss_mask: list[int] = []
        self.logprobs: list[float] = []
        self.versions: list[int] = []
        self.messages: list[int] = []

    def begins(self, prompt: tuple[int, ...]) -> bool:
        """Whether a prompt begins with this sequence."""
        return list(prompt[: len(self.input_ids)]) == self.input_ids

    def extend(self, index: int, message: AssistantMessage, tokens: Tokens, numbers: dict[str, int]) -> None:
        """Add the rest of a prompt, and what was sampled after it."""
        prompt = tokens.prompt_token_ids[len(self.input_ids) :]
        sampled = len(tokens.token_ids)
        self.input_ids += [*prompt, *tokens.token_ids]
        self.loss_mask += [0] * len(prompt) + [int(message.trainable)] * sampled
        self.logprobs += [*[0.0] * len(prompt), *tokens.logprobs]
        self.versions += [NOT_SAMPLED] * len(prompt)
        for run in message.policy_version:
            self.versions += [numbers[run.version]] * (run.count or 0)
        self.messages.append(index)

    def finish(self, numbers: dict[str, int], reward: float | None) -> TokenSequence:
        """The sequence."""
        return TokenSequence(
            input_ids=tuple(self.input_ids),
            loss_mask=tuple(self.loss_mask),
            logprobs=tuple(self.logprobs),
            versions=tuple(self.versions),
            version_names={number: name for name, number in numbers.items() if number in self.versions},
            messages=tuple(self.messages),
            reward=reward,
        )


def prove_sampled(trajectory: Trajectory, sequences: Sequence[TokenSequence]) -> None:
    """Prove of sequences, however they were made, that they are what a record says was sampled.

    * Each sampled message stands in one sequence, in order. A sequence begins with the prompt of each of its
      messages as it was sent, followed by what was sampled, and ends with the last: a true chain of prefixes.
      Where the next prompt goes on with it, it goes on.
    * The mask is 1 exactly on the sampled tokens of trainable messages, and the masks' sum is the number of
      their logprobs. Logprobs and versions are the recorded ones on sampled tokens; 0.0 and `NOT_SAMPLED`
      elsewhere. All four fields have one length.
    * All sequences have the reward of the episode.

    Args:
        trajectory: The record.
        sequences: All sequences of it, in order.

    Raises:
        MaskProofError: Something of that is not so; names the first place.
    """
    sampled = _sampled_messages(trajectory)
    if [index for sequence in sequences for index in sequence.messages] != list(sampled):
        raise MaskProofError(f"the sequences do not hold the messages {list(sampled)} once each, in order")
    numbers = {version.version: version.number for version in trajectory.policy_versions}
    for place, sequence in enumerate(sequences):
        for problem in _sequence_problems(sequence, sampled, numbers):
            raise MaskProofError(f"sequence {place}: {problem}")
        if sequence.reward != trajectory.outcome.reward:
            raise MaskProofError(f"sequence {place}: its reward {sequence.reward} is not the episode's")
        before = sequences[place - 1].input_ids if place else None
        if before is not None and _begins(sampled[sequence.messages[0]][1].prompt_token_ids, before):
            raise MaskProofError(f"sequence {place}: its prompt goes on with the sequence before it")
    masked = sum(sum(sequence.loss_mask) for sequence in sequences)
    logprobs = sum(len(tokens.logprobs) for message, tokens in sampled.values() if message.trainable)
    if masked != logprobs:
        raise MaskProofError(f"the masks sum up to {masked}, but there are {logprobs} logprobs to train on")


_Sampled = dict[int, tuple[AssistantMessage, Tokens]]


def _sampled_messages(trajectory: Trajectory) -> _Sampled:
    found: _Sampled = {}
    for index, message in assistant_messages(trajectory):
        if message.tokens is not None:
            found[index] = (message, message.tokens)
        elif message.trainable:
            raise MaskProofError(f"message {index}: it is trainable, but the record has no tokens of it")
    return found


def _begins(ids: tuple[int, ...], start: tuple[int, ...]) -> bool:
    return ids[: len(start)] == start


def _sequence_problems(sequence: TokenSequence, sampled: _Sampled, numbers: dict[str, int]) -> Iterator[str]:
    columns = (sequence.loss_mask, sequence.logprobs, sequence.versions)
    lengths = {len(sequence.input_ids), *map(len, columns)}
    if len(lengths) != 1:
        yield f"its fields have the lengths {sorted(lengths)}"
        return
    if not sequence.messages:
        yield "nothing in it was sampled"
    yield from _chain_problems(sequence, sampled)
    wanted: dict[int, tuple[int, float, int]] = {}
    for index in sequence.messages:
        wanted.update(_sampled_values(*sampled[index], numbers))
    for place, met in enumerate(zip(*columns, strict=True)):
        expected = wanted.get(place, (0, 0.0, NOT_SAMPLED))
        if met != expected:
            yield f"token {place}: mask, logprob and version are {met}, expected {expected}"
    used = {number for _, _, number in wanted.values()}
    if sequence.version_names != {number: name for name, number in numbers.items() if number in used}:
        yield f"its names of versions, {sequence.version_names}, are not those that sampled it"


def _chain_problems(sequence: TokenSequence, sampled: _Sampled) -> Iterator[str]:
    end = 0
    for index in sequence.messages:
        tokens = sampled[index][1]
        if len(tokens.prompt_token_ids) < end or not _begins(sequence.input_ids, tokens.prompt_token_ids):
            yield f"it does not begin with the prompt of message {index} as it was sent"
        if not _begins(sequence.input_ids, tokens.prompt_token_ids + tokens.token_ids):
            yield f"after the prompt of message {index} stands something else than what was sampled"
        end = len(tokens.prompt_token_ids) + len(tokens.token_ids)
    if len(sequence.input_ids) != end:
        yield f"it has {len(sequence.input_ids)} tokens, but what was sampled ends with {end}"


def _sampled_values(
    message: AssistantMessage, tokens: Tokens, numbers: dict[str, int]
) -> Iterator[tuple[int, tuple[int, float, int]]]:
    """By place: the mask, logprob and version of what was sampled as a message."""
    start = len(tokens.prompt_token_ids)
    versions = [numbers[run.version] for run in message.policy_version for _ in range(run.count or 0)]
    for place, (logprob, version) in enumerate(zip(tokens.logprobs, versions, strict=True), start):
        yield place, (int(message.trainable), logprob, version)
