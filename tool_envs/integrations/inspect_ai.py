"""Evaluates with Inspect; it needs the extra `inspect-ai`.

`inspect eval tool_envs/slice -T slice_id=retail/test@1 --model ...` plays a frozen slice, and
`inspect eval tool_envs/tasks -T env_id=tool_envs/Retail-v0 -T kwargs='{split: test}' -T count=50` tasks of
any environment. The library asks the model and keeps the log; we play and grade the episode. Plain text is
said to the user, and calls are validated by us: of a tool's parameters the library's models are told less
than our schema holds (no `minItems`, `const` or `oneOf`).

The score of a sample is its terminal reward, and `Score.unscored` where no rule grades its task. An episode
whose infrastructure failed is a sample with an error and no score; the other samples go on, and the log's
status is "error". A limit of messages, turns, tokens or cost ends an episode as truncated; by a limit of time
it has not ended at all, and is an error too, since a clock says nothing of the agent.

The log's `eval.metadata` holds what the slice froze (without the list of its tasks), `eval.task_version` the
digest of it, and each sample's store a record of the episode, which `read_records` gives.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import LimitExceededError

from tool_envs.agents.json_calls import plain
from tool_envs.chat import Usage
from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError
from tool_envs.evaluation.evaluate import UNRELEASED
from tool_envs.evaluation.slice import Slice, freeze
from tool_envs.evaluation.slice_files import load_slice
from tool_envs.messages import Json
from tool_envs.rollout.episode import RunningEpisode
from tool_envs.rollout.plan import Plan
from tool_envs.rollout.policy import Finish, PolicyOutput
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.capture import SCRIPTED
from tool_envs.trajectory.record import PolicyVersion, Sampling, Trajectory

RECORD = "tool_envs:record"
"""Under this name a sample's store holds the record of its episode."""

_BUDGETS = {"message", "turn", "token", "cost"}
"""The limits that measure what an agent did."""
_FINISH: dict[str, Finish] = {"max_tokens": "length", "model_length": "context"}


class EpisodeUnfinishedError(InfrastructureError):
    """Raised instead of a score when something stopped a sample before its episode ended: a clock, say."""


# --- Tasks


@task(name="slice")
def frozen_slice(slice_id: str, arguments: dict[str, Json] | None = None) -> Task:
    """A frozen slice as an Inspect task; each epoch is a trial, with the seeds of our own evaluations.

    Args:
        slice_id: Its id.
        arguments: For a foreign slice, where its files lie and what else `load_slice` takes.

    Raises:
        ToolEnvsError: As `load_slice` raises.
    """
    frozen = load_slice(slice_id, arguments)
    return _as_task(frozen, frozen.env.kwargs | (arguments or {}))


@task(name="tasks")
def unreleased_tasks(
    env_id: str, kwargs: dict[str, Json] | None = None, count: int = 20, seed: int = 0
) -> Task:
    """The first tasks of an environment as an Inspect task; each epoch is a trial.

    Args:
        env_id: The environment.
        kwargs: Its arguments.
        count: How many tasks of the split.
        seed: Seed of all episodes; it never chooses tasks.

    Raises:
        UsageError: There is no such environment, argument or task, or `count` is not at least 1.
    """
    arguments = kwargs or {}
    return _as_task(freeze(UNRELEASED, env_id, arguments, range(count), seed=seed), arguments)


def _as_task(frozen: Slice, kwargs: Mapping[str, Json]) -> Task:
    with closing(make_env(frozen.env.id, kwargs)) as env:
        indexes = [unwrap(env).domain.tasks.index(each.id) for each in frozen.tasks]
    samples = [
        Sample(id=each.id, input=each.id, metadata={"task_index": index, "task_digest": each.digest})
        for index, each in zip(indexes, frozen.tasks, strict=True)
    ]
    metadata = {name: value for name, value in frozen.to_json().items() if name != "tasks"}
    return Task(
        dataset=samples,
        solver=play(frozen.env.id, dict(kwargs), frozen.seed),
        scorer=terminal_reward(),
        continue_on_fail=True,
        version=frozen.digest,
        metadata=metadata,
    )


@solver
def play(env_id: str, kwargs: dict[str, Json], seed: int) -> Solver:
    """Plays the episode of a sample, whose metadata names the task by its index, with the evaluated model.

    Args:
        env_id: The environment.
        kwargs: Its arguments.
        seed: From it, the task and the epoch follow the seeds of an episode.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - it runs tools itself
        index = state.metadata["task_index"]
        planned = Plan([index], state.epoch, seed).group(index)[-1]
        policy = _InspectPolicy(get_model(), state)
        versions = Versions(PolicyVersion(version=policy.name, number=0))
        with closing(make_env(env_id, kwargs)) as env:
            episode = RunningEpisode(unwrap(env), policy, versions, planned)
            try:
                record = await episode.play(None)
            except InfrastructureError as failure:
                _keep(state, episode.record_failure(failure))
                raise
            _keep(state, record)
            policy.show(unwrap(env).messages)
        if policy.limit is not None:
            raise policy.limit  # for the log
        return state

    return solve


def _keep(state: TaskState, record: Trajectory | None) -> None:
    if record is not None:
        state.store.set(RECORD, record.to_json())


@scorer(metrics=[mean(), stderr()])
def terminal_reward() -> Scorer:
    """Scores an episode by its terminal reward; `Score.metadata` is the whole outcome."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - a reward needs none
        record = state.store.get(RECORD)
        if record is None:
            raise EpisodeUnfinishedError("The episode was stopped before it ended. It has no reward.")
        outcome = record["outcome"]
        ended = f"{outcome['status']} by {outcome['ended_by']} after {outcome['steps']} steps"
        if outcome["reward"] is None:
            return Score.unscored(explanation=ended, metadata=outcome)
        return Score(value=outcome["reward"], explanation=ended, metadata=outcome)

    return score


def read_records(log: EvalLog) -> Iterator[Trajectory]:
    """The records of a log's episodes, those of failed ones too; for `replay`, stores and exports.

    Raises:
        DataFileError: One is no record.
    """
    for sample in log.samples or ():
        if RECORD in sample.store:
            yield Trajectory.from_json(sample.store[RECORD], f"sample {sample.id}")


# --- The model as a policy


class _InspectPolicy:
    """The evaluated model in one sample; see `tool_envs.rollout.policy.Policy`.

    What the model is shown is the sample's messages: its own as it wrote them, with what our form of a
    conversation has no place for.

    Args:
        model: The model. Its name is all that Inspect knows of its version.
        state: Of the sample.

    Attributes:
        limit: By which budget of the sample the episode was truncated; None: by none.
    """

    def __init__(self, model: Model, state: TaskState) -> None:
        self.name = str(model)
        self.setting = SCRIPTED
        self.limit: LimitExceededError | None = None
        self._model, self._state = model, state
        self._shown = 0

    async def act(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> PolicyOutput:
        """See `Policy.act`."""
        system, *conversation = messages
        try:
            if not self._shown:
                self._state.messages = [ChatMessageSystem(content=system["content"])]
            self.show(conversation)
            output = await self._model.generate(self._state.messages, [to_tool_info(tool) for tool in tools])
        except LimitExceededError as limit:
            if limit.type not in _BUDGETS:
                raise
            self.limit = limit
            return PolicyOutput(action="", finish="length", usage=Usage(0, 0))
        if output.empty:
            raise InfrastructureError(f"{self.name} gave no message: {output.error or 'nobody says why'}.")
        self._state.output = output
        self._state.messages.append(output.message)
        self.setting = msgspec.structs.replace(SCRIPTED, sampling=_sampling())
        return _describe(output)

    def show(self, conversation: Sequence[dict[str, Any]]) -> None:
        """Show the model what was answered since it wrote last.

        Args:
            conversation: All of it, in OpenAI chat form.

        Raises:
            LimitExceededError: There are more messages than the sample may have.
        """
        new = [message for message in conversation[self._shown :] if message["role"] != "assistant"]
        self._shown = len(conversation)
        for answer in _answers(self._state.messages[-1], new):
            self._state.messages.append(answer)


def to_tool_info(tool: Mapping[str, Any]) -> ToolInfo:
    """A tool in OpenAI's form as Inspect has it, as far as it can express the parameters."""
    function = tool["function"]
    return ToolInfo(
        name=function["name"],
        description=function.get("description") or "",
        parameters=ToolParams(**function.get("parameters", {})),
    )


def _answers(last: ChatMessage, new: Iterable[Mapping[str, Any]]) -> Iterator[ChatMessage]:
    """The answers to a message, each to the call that it is of.

    Servers insist that each call is answered. So what answers the message as a whole, a user who was spoken
    to by a call or the word that nothing could be read, answers those of its calls that nothing else does.
    """
    calls = last.tool_calls or [] if isinstance(last, ChatMessageAssistant) else []
    open_calls = {call.id: call.function for call in calls}
    to_all: list[Mapping[str, Any]] = []
    for answer in new:
        call_id = answer.get("tool_call_id")
        if call_id in open_calls:
            name = open_calls.pop(call_id)
            yield ChatMessageTool(content=answer["content"], tool_call_id=call_id, function=name)
        else:
            to_all.append(answer)
    if open_calls:
        text = "\n".join(answer["content"] for answer in to_all)
        for call_id, name in open_calls.items():
            yield ChatMessageTool(content=text, tool_call_id=call_id, function=name)
    else:
        for answer in to_all:
            yield ChatMessageUser(content=plain(answer)["content"])


def _describe(output: ModelOutput) -> PolicyOutput:
    usage = output.usage
    return PolicyOutput(
        action=_action(output.message),
        finish=_FINISH.get(output.stop_reason, "stop"),
        cost=(usage.total_cost or 0.0) if usage else 0.0,
        usage=usage and Usage(usage.total_tokens - usage.output_tokens, usage.output_tokens),
    )


def _action(message: ChatMessageAssistant) -> Json:
    """The message as `step` takes it."""
    if not message.tool_calls:
        return message.text
    calls = [_call(call) for call in message.tool_calls]
    return {"role": "assistant", "content": message.text, "tool_calls": calls}


def _call(call: ToolCall) -> dict[str, Json]:
    """A call in OpenAI's form; what the library could not read as arguments cannot be read by us either."""
    arguments = call.arguments if call.parse_error is None else call.parse_error
    return {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": arguments}}


def _sampling() -> Sampling:
    """How the newest output of the sample was drawn; what nobody set is 1, as OpenAI's API has it."""
    events = (event for event in reversed(transcript().events) if isinstance(event, ModelEvent))
    config = next((event.config for event in events), GenerateConfig())
    return Sampling(
        temperature=1.0 if config.temperature is None else config.temperature,
        top_p=1.0 if config.top_p is None else config.top_p,
        seed=config.seed,
        stop=tuple(config.stop_seqs or ()),
    )
