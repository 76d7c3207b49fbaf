"""Records as sequences of tokens to train on, and the proof that a loss mask covers what was sampled.

Sampled token ids are used as they were recorded, and nothing is tokenised again: text that is tokenised
again need not give the tokens that the policy sampled.
"""

from collections.abc import Iterator, Sequence

import msgspec

from tool_envs.errors import MaskProofError, UsageError
from tool_envs.trajectory.record import AssistantMessage, Tokens, Trajectory, assistant_messages

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
    sampled tokens alike. Else, after a chat template that rewrites earlier turns, say, or a compacted context,
    it begins a new one: a sequence holds only what the model saw before it sampled. An episode that failed
    for its infrastructure has no 1 in any mask, since no message of it is trainable.

    Raises:
        UsageError: A trainable message has no tokens, so that its mask cannot be known.
    """
    names = {version.number: version.version for version in trajectory.policy_versions}
    chains: list[_Chain] = []
    for index, message in assistant_messages(trajectory):
        if message.tokens is None:
            if message.trainable:
                raise UsageError(f"message {index}: it is trainable, but the record has no tokens of it.")
            continue
        if not (chains and chains[-1].begins(message.tokens.prompt_token_ids)):
            chains.append(_Chain())
        chains[-1].extend(index, message, message.tokens, {name: number for number, name in names.items()})
    return [chain.finish(names, trajectory.outcome.reward) for chain in chains]


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

    def finish(self, names: dict[int, str], reward: float | None) -> TokenSequence:
        """The sequence."""
        return TokenSequence(
            input_ids=tuple(self.input_ids),
            loss_mask=tuple(self.loss_mask),
            logprobs=tuple(self.logprobs),
            versions=tuple(self.versions),
            version_names={number: names[number] for number in sorted(set(self.versions) - {NOT_SAMPLED})},
            messages=tuple(self.messages),
            reward=reward,
        )


def prove_sampled(trajectory: Trajectory, sequences: Sequence[TokenSequence]) -> None:
    """Prove of sequences, however they were made, that they are what a record says was sampled.

    Proved is: the fields of a sequence have one length; each sampled message stands in one sequence, in order;
    a sequence begins with each prompt of its messages as it was sent, followed by what was sampled, and ends
    with the last; it goes on as long as the prompts do; the mask is 1 exactly on the sampled tokens of
    trainable messages, and its sum is the number of their logprobs; logprobs and versions are those recorded
    on sampled tokens, 0.0 and `NOT_SAMPLED` elsewhere; all have the reward of the episode.

    Args:
        trajectory: The record.
        sequences: All sequences of it, in order.

    Raises:
        MaskProofError: Something of that is not so; names the first place.
    """
    sampled = {index: m for index, m in assistant_messages(trajectory) if m.tokens is not None}
    for index, message in assistant_messages(trajectory):
        if message.trainable and message.tokens is None:
            raise MaskProofError(f"message {index}: it is trainable, but the record has no tokens of it")
    if [index for sequence in sequences for index in sequence.messages] != list(sampled):
        raise MaskProofError(f"the sequences do not hold the messages {list(sampled)} once each, in order")
    for number, sequence in enumerate(sequences):
        for problem in _problems(trajectory, sequence, sampled):
            raise MaskProofError(f"sequence {number}: {problem}")
    for number in range(1, len(sequences)):
        first = _tokens(sampled[sequences[number].messages[0]])
        before = sequences[number - 1].input_ids
        if first.prompt_token_ids[: len(before)] == before:
            raise MaskProofError(f"sequence {number}: its prompt goes on with the one before it")
    masked = sum(sum(sequence.loss_mask) for sequence in sequences)
    logprobs = sum(len(_tokens(m).logprobs) for m in sampled.values() if m.trainable)
    if masked != logprobs:
        raise MaskProofError(f"the masks sum up to {masked}, but there are {logprobs} logprobs to train on")


def _problems(
    trajectory: Trajectory, sequence: TokenSequence, sampled: dict[int, AssistantMessage]
) -> Iterator[str]:
    size = len(sequence.input_ids)
    columns = {
        "loss_mask": sequence.loss_mask,
        "logprobs": sequence.logprobs,
        "versions": sequence.versions,
    }
    for name, column in columns.items():
        if len(column) != size:
            yield f"{name} has {len(column)} values for {size} tokens"
            return
    if not sequence.messages:
        yield "nothing in it was sampled"
        return
    end = 0
    expected: dict[int, tuple[int, float, str]] = {}
    for index in sequence.messages:
        message, tokens = sampled[index], _tokens(sampled[index])
        start = len(tokens.prompt_token_ids)
        if start < end or sequence.input_ids[:start] != tokens.prompt_token_ids:
            yield f"it does not begin with the prompt of message {index} as it was sent"
            return
        end = start + len(tokens.token_ids)
        if sequence.input_ids[start:end] != tokens.token_ids:
            yield f"token {start}: what follows is not what was sampled as message {index}"
            return
        names = [run.version for run in message.policy_version for _ in range(run.count or 0)]
        for place, logprob, name in zip(range(start, end), tokens.logprobs, names, strict=True):
            expected[place] = (int(message.trainable), logprob, name)
    if end != size:
        yield f"{size - end} tokens follow that nobody sampled"
    yield from _value_problems(sequence, expected)
    if sequence.reward != trajectory.outcome.reward:
        yield f"its reward is {sequence.reward}, that of the episode {trajectory.outcome.reward}"
    numbers = {version.number: version.version for version in trajectory.policy_versions}
    if not sequence.version_names.items() <= numbers.items():
        yield "its names of versions are not those of the record"


def _value_problems(sequence: TokenSequence, expected: dict[int, tuple[int, float, str]]) -> Iterator[str]:
    """What differs from the expected mask bit, logprob and version at a token."""
    columns = zip(sequence.loss_mask, sequence.logprobs, sequence.versions, strict=True)
    for place, (bit, logprob, number) in enumerate(columns):
        is_sampled = place in expected
        wanted = expected.get(place, (0, 0.0, None))
        name = sequence.version_names.get(number) if number != NOT_SAMPLED else None
        if bit != wanted[0]:
            yield f"token {place}: the mask is {bit}, expected {wanted[0]}"
        elif logprob != wanted[1]:
            yield f"token {place}: the logprob is {logprob}, expected {wanted[1]}"
        elif name != wanted[2] or is_sampled == (number == NOT_SAMPLED):
            yield f"token {place}: the version is {number} ({name}), expected that of {wanted[2]}"


def _tokens(message: AssistantMessage) -> Tokens:
    if message.tokens is None:  # for types: callers pass sampled messages only
        raise UsageError("The message has no tokens.")
    return message.tokens
