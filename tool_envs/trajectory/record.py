"""The record of one episode, at the level of messages and down to the sampled token."""

import itertools
import json
import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from tool_envs.errors import RecordFormError, RecordLawError, UsageError
from tool_envs.messages import Json
from tool_envs.reward import Outcome, TerminalSource
from tool_envs.schema.forms import form_problem
from tool_envs.trajectory.refs import (
    AgentRef,
    Count,
    DataRef,
    EnvRef,
    Name,
    Part,
    SchemaRef,
    Sha256,
    SimulatorRef,
    TaskRef,
    TokenUsage,
)
from tool_envs.trajectory.upgrades import STEPS

FORMAT_VERSION: Final = "4.0.0"
"""The version of the record; its form is `schemas/meta/trajectory/<version>.json`."""

Author = Literal["policy", "human", "imported"]
"""Who wrote a message on the agent's side; scripted agents are policies too."""

_Int32 = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class PolicyVersion(Part, frozen=True):
    """A version of the policy, and its place in the order of versions.

    Attributes:
        version: What it is called: a checkpoint, say, or the digest of a scripted agent's source.
        number: The trainer's count of published versions, which goes up with each; 0 for a policy that is
            not trained. It fits into 32 bits.
    """

    version: Name
    number: _Int32


class Sampling(Part, frozen=True):
    """How tokens were drawn.

    Attributes:
        temperature: 0: always the most probable token.
        top_p: Share of the probability that was sampled from, in (0, 1].
        seed: The seed that the model's server was given; None: none.
        stop: Texts that end a message.
    """

    temperature: Annotated[float, Meta(ge=0)]
    top_p: Annotated[float, Meta(gt=0, le=1)]
    seed: int | None
    stop: tuple[str, ...]


class PolicyRun(Part, frozen=True):
    """What one version of the policy wrote: a number of sampled tokens; None: all of it, not counted."""

    version: Name
    count: Count | None


class Override(Part, frozen=True):
    """Who lets text be trained on that the policy did not write, and why."""

    who: Name
    why: Name


class Tokens(Part, frozen=True):
    """One turn of the policy in tokens, never tokenised again.

    Attributes:
        prompt_token_ids: All that the model was given, as it was sent.
        token_ids: What was sampled, the token that ended it included, if one did.
        logprobs: Natural logarithm of the probability of each of them, as the sampler gave it.

    Raises:
        UsageError: There are not as many logprobs as sampled tokens, or one is infinite or NaN.
    """

    prompt_token_ids: Annotated[tuple[_Int32, ...], Meta(min_length=1)]
    token_ids: tuple[_Int32, ...]
    logprobs: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.token_ids) != len(self.logprobs):
            raise UsageError(f"{len(self.token_ids)} sampled tokens, but {len(self.logprobs)} logprobs")
        if not all(map(math.isfinite, self.logprobs)):
            raise UsageError("a logprob is infinite or NaN")


class Call(Part, frozen=True):
    """A call of a tool; the id is empty when nobody gave it one."""

    name: str
    arguments: dict[str, Json]
    id: str


class UserMessage(Part, frozen=True, tag_field="role", tag="user"):
    """What the user said. See `tool_envs.messages.Message`."""

    name: Annotated[str, Meta(pattern=r"^user\Z")]
    content: str
    tool_call_id: str
    trainable: bool

    def __post_init__(self) -> None:
        _refuse_observation(self.trainable)


class ToolMessage(Part, frozen=True, tag_field="role", tag="tool"):
    """What a tool answered. See `tool_envs.messages.Message`."""

    name: str
    content: str
    code: str | None
    tool_call_id: str
    trainable: bool

    def __post_init__(self) -> None:
        _refuse_observation(self.trainable)


class AssistantMessage(Part, frozen=True, tag_field="role", tag="assistant"):
    """What the agent did. See `tool_envs.messages.Message`.

    Attributes:
        content: What was said to the user.
        tool_calls: The calls, in order.
        aside: Text beside a call.
        thought: What stood in `<think>`.
        action: What was given to `step`, exactly.
        author: Who wrote it.
        trainable: Whether it may be trained on: what the policy wrote, and other text by an override.
        override: Who lets other text be trained on, and why; None for what the policy wrote.
        policy_version: Which versions of the policy wrote it, as runs of sampled tokens: at least one, and
            several where generation was interrupted and resumed; empty for what the policy did not write.
        tokens: What was sent and sampled; None: not known. The runs add up to the sampled tokens.

    Raises:
        UsageError: The fields contradict each other; says how.
    """

    content: str
    tool_calls: tuple[Call, ...]
    aside: str
    thought: str
    action: Json
    author: Author
    trainable: bool
    override: Override | None
    policy_version: tuple[PolicyRun, ...]
    tokens: Tokens | None

    def __post_init__(self) -> None:
        for problem in _author_problems(self):
            raise UsageError(problem)
        for problem in _run_problems(self):
            raise UsageError(problem)


RecordedMessage = UserMessage | ToolMessage | AssistantMessage


class FilterVerdict(Part, frozen=True, kw_only=True):
    """Whether a trajectory is kept for fine-tuning. It is not a reward, and moves none.

    Attributes:
        keep: Whether it is kept.
        reasons: Why, in sentences; at least one where it is dropped.
        rubric_digest: Sha256 of the canonical JSON of the rubric, one of the kind `filter`.
        judge: Who judged.
        judge_version: The version of the judge.

    Raises:
        UsageError: It drops a trajectory and does not say why.
    """

    keep: bool
    reasons: tuple[Name, ...]
    rubric_digest: Sha256
    judge: Name
    judge_version: Name

    def __post_init__(self) -> None:
        if not (self.keep or self.reasons):
            raise UsageError("a verdict that drops a trajectory says why: `reasons` is empty")


class Trajectory(Part, frozen=True, kw_only=True):
    """One episode: what was seen, said and done, how it ended, and the versions of all that could move it.

    Never holds the answer key: of the task only its id and digest. An episode that failed for its
    infrastructure has no reward, and no message of it is trainable.

    Versions of the policy never go backwards: along the messages, and along the runs of each, their numbers
    in `policy_versions` do not go down, and within a message they go up. Each version that wrote something
    stands in that list.

    Attributes:
        format_version: The version of this form.
        env: How to make the environment.
        schema: The tools.
        task: The task.
        slice_id: The frozen slice that it belongs to; None: none.
        simulator: The user.
        grader_digest: Digest of what decides the grade.
        data: Digests of the data.
        seed: The seed of `reset`.
        options: The options of `reset`; they name the task by its id.
        agent: Who acted.
        policy_versions: The versions of the policy under which the episode ran, oldest first.
        reference_policy: The version that the KL divergence is taken against; None: there is no such term.
        sampling: How tokens were drawn; None: the policy does not sample.
        tokenizer: Sha256 of the tokenizer; None where there are no tokens.
        chat_template: Sha256 of the chat template; None where there are no tokens.
        messages: The conversation.
        outcome: How it ended.
        filter_verdict: What a filter for fine-tuning said, which is not a reward; None: none was asked, or it
            failed.
        costs: US dollars paid for the models of `agent` and `user`.
        usage: Tokens of the requests to them.

    Raises:
        UsageError: The fields contradict each other; says how.
    """

    format_version: Literal["4.0.0"]
    env: EnvRef
    schema: SchemaRef
    task: TaskRef
    slice_id: str | None
    simulator: SimulatorRef
    grader_digest: str
    data: DataRef
    seed: Count
    options: dict[str, Json]
    agent: AgentRef
    policy_versions: Annotated[tuple[PolicyVersion, ...], Meta(min_length=1)]
    reference_policy: Name | None
    sampling: Sampling | None
    tokenizer: Sha256 | None
    chat_template: Sha256 | None
    messages: tuple[RecordedMessage, ...]
    outcome: Outcome
    filter_verdict: FilterVerdict | None
    costs: dict[str, Annotated[float, Meta(ge=0)]]
    usage: TokenUsage

    def __post_init__(self) -> None:
        for law in _LAWS:
            for problem in law(self):
                raise UsageError(problem)

    @property
    def head_version(self) -> PolicyVersion | None:
        """The oldest version of the policy that wrote something here; None: none did.

        That is the lowest of the versions in `to_tokens` which are not `NOT_SAMPLED`, where tokens are known.
        A run of no tokens wrote nothing; one that was not counted wrote something. AReaL's dumps give the
        lowest of all tokens under this name, which is -1 wherever there is a prompt.
        """
        return min(self._writers(), key=lambda version: version.number, default=None)

    @property
    def tail_version(self) -> PolicyVersion | None:
        """The newest version of the policy that wrote something here; None: none did."""
        return max(self._writers(), key=lambda version: version.number, default=None)

    def _writers(self) -> Iterator[PolicyVersion]:
        """The version of each run that is not empty."""
        listed = {version.version: version for version in self.policy_versions}
        for _, message in assistant_messages(self):
            yield from (listed[run.version] for run in message.policy_version if run.count != 0)

    def to_json(self) -> dict[str, Json]:
        """The record as a JSON object."""
        value: dict[str, Json] = json.loads(self.to_line())
        return value

    def to_line(self) -> str:
        """The record as one line of ASCII, which any text survives, lone surrogates too.

        Raises:
            ValueError: It holds what JSON cannot: NaN, or an integer of thousands of digits.
        """
        return json.dumps(msgspec.to_builtins(self), allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, value: Json, path: str = "record", line: int | None = None) -> "Trajectory":
        """The record that a JSON object describes.

        Args:
            value: The object.
            path: Where it was read, for errors.
            line: In which line.

        Raises:
            RecordFormError: It is of an unknown format version, or not of the form of its version.
            RecordLawError: It breaks a law of records: a policy version is missing, say, or goes backwards.
        """
        version = value.get("format_version") if isinstance(value, dict) else None
        if version not in [*STEPS, FORMAT_VERSION]:
            known = " or ".join(map(repr, [*STEPS, FORMAT_VERSION]))
            raise RecordFormError(path, f"expected format_version {known}, not {version!r:.40}", line)
        _check_form(value, version, path, line)
        while version in STEPS:
            version, upgrade = STEPS[version]
            value = upgrade(value)
            _check_form(value, version, path, line)
        try:
            return msgspec.convert(value, cls)
        except msgspec.ValidationError as problem:
            raise RecordLawError(path, str(problem), line) from None


def _check_form(value: Json, version: str, path: str, line: int | None) -> None:
    problem = form_problem(f"meta/trajectory/{version}", value, "the record")
    if problem is not None:
        raise RecordFormError(path, problem, line)


# --- Laws of one message


def _refuse_observation(trainable: bool) -> None:
    if trainable:
        raise UsageError("an observation, which the policy did not write, is never trainable")


def _author_problems(message: AssistantMessage) -> Iterator[str]:
    if message.author == "policy":
        if not message.policy_version:
            yield "the policy wrote it, but its policy version is missing"
        if message.override is not None:
            yield "the policy wrote it, so there is nothing to override"
        return
    if message.policy_version or message.tokens is not None:
        yield f"its author is {message.author!r}, but it has versions or tokens of the policy"
    if message.trainable and message.override is None:
        yield f"its author is {message.author!r}: without an override that says who and why, not trainable"


def _run_problems(message: AssistantMessage) -> Iterator[str]:
    counts = [run.count for run in message.policy_version]
    if len(counts) > 1 and not all(counts):
        yield "it was interrupted, but the number of tokens of a run is missing or 0"
    if message.tokens is None:
        return
    sampled = len(message.tokens.token_ids)
    if None in counts or sum(count or 0 for count in counts) != sampled:
        yield f"the runs of its versions, {counts}, do not add up to its {sampled} sampled tokens"


# --- Laws of a whole record


def _version_problems(record: Trajectory) -> Iterator[str]:
    listed = record.policy_versions
    if len({version.version for version in listed}) < len(listed):
        yield "policy_versions: a version stands there twice"
    if any(old.number >= new.number for old, new in itertools.pairwise(listed)):
        yield "policy_versions: the numbers do not go up"
    if record.agent.version not in [version.version for version in listed[:1]]:
        yield f"agent: its version {record.agent.version!r} is not the first of policy_versions"


def _order_problems(record: Trajectory) -> Iterator[str]:
    numbers = {version.version: version.number for version in record.policy_versions}
    last = PolicyVersion(record.agent.version, -1)
    for index, message in assistant_messages(record):
        for place, run in enumerate(message.policy_version):
            number = numbers.get(run.version)
            if number is None:
                yield f"message {index}: the version {run.version!r} is not in policy_versions"
                return
            if number < last.number:
                yield f"message {index}: its version goes backwards, from {last.version!r} to {run.version!r}"
            if place and number == last.number:
                yield f"message {index}: two runs of {run.version!r} in a row are one"
            last = PolicyVersion(run.version, number)


def _setting_problems(record: Trajectory) -> Iterator[str]:
    setting = (record.sampling, record.tokenizer, record.chat_template)
    if None in setting and any(message.tokens for _, message in assistant_messages(record)):
        yield "there are tokens, but sampling, tokenizer or chat_template is null"
    if not isinstance(record.options.get("task_id"), str):
        yield "options: they do not name the task by its id"
    if record.costs.keys() != {"agent", "user"}:
        yield f"costs: expected those of agent and user, not of {sorted(record.costs)}"


def _failure_problems(record: Trajectory) -> Iterator[str]:
    outcome, ledger = record.outcome, record.outcome.ledger
    if outcome.status != "infrastructure":
        return
    if (outcome.reward, ledger.terminal, ledger.format, ledger.rubric_source) != (None,) * 4:
        yield "outcome: the infrastructure failed, so there is no reward"
    for index, message in enumerate(record.messages):
        if message.trainable:
            yield f"message {index}: the infrastructure failed, so nothing is trainable"


def _source_problems(record: Trajectory) -> Iterator[str]:
    ledger = record.outcome.ledger
    if (ledger.process is None) != (ledger.process_source is None):
        yield "outcome/ledger: process rewards and their source come together"
    if ledger.rubric is not None and ledger.rubric_source is None:
        yield "outcome/ledger: a score by a rubric comes with its source"
    if ledger.terminal is not None and not _is_possible(ledger.terminal, ledger.terminal_source):
        yield f"outcome/ledger: {ledger.terminal_source} cannot give a terminal reward of {ledger.terminal}"


def _is_possible(terminal: float, source: TerminalSource) -> bool:
    # What rules give is left to them: earlier forms did not bound it.
    return source == "rules" or terminal in (0.0, 1.0) or (source == "similarity" and 0.0 < terminal < 1.0)


_LAWS = (_version_problems, _order_problems, _setting_problems, _failure_problems, _source_problems)


def versions_of(messages: Iterable[RecordedMessage]) -> tuple[str, ...]:
    """The versions of the policy that wrote messages, each once, in the order in which they began to."""
    wrote = (message.policy_version for message in messages if isinstance(message, AssistantMessage))
    return tuple(dict.fromkeys(run.version for runs in wrote for run in runs))


def assistant_messages(record: Trajectory) -> Iterator[tuple[int, AssistantMessage]]:
    """The agent's messages, each with its index in `messages`."""
    for index, message in enumerate(record.messages):
        if isinstance(message, AssistantMessage):
            yield index, message
