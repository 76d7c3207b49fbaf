"""Tasks for verifiers (its v1 interface); it needs the extra `verifiers`.

The library finds them by the id `tool-envs-verifiers`, as in `vf-eval tool-envs-verifiers
--env.taskset.slice-id retail/test@1`; with the import of this module, as in
`vf.load_environment(CustomerEnvConfig(taskset=ToolTasksetConfig(id="tool-envs-verifiers", slice_id=...)))`.
It asks the model, and holds its tokens and masks; we play the episode and are the user of its conversation:
what a tool answers and what the customer says are user turns. The model is told of the tools in the system
prompt, and calls one by a reply that is the call in JSON (see `tool_envs.agents.json_calls`) or whatever else
`step` reads as a call; other text is said to the customer. The library's harness "null" chats with the model
in a program of its own, which `uv` starts and fetches packages for.

The one reward of a trace is the episode's terminal reward; `trace.info["tool_envs"]` is the record of the
episode, which `read_record` gives. An episode whose infrastructure failed, and one that a clock stopped, has
no reward: the trace's `ok` is false, and its errors say why. A limit of the agent's turns or tokens truncates
it, with reward 0. All rollouts of a task begin alike, so that they can be a group.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import msgspec
import verifiers.v1 as vf

from tool_envs.agents import json_calls
from tool_envs.chat import Usage, total_usage
from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.evaluation.evaluate import UNRELEASED
from tool_envs.evaluation.slice import Slice, freeze
from tool_envs.evaluation.slice_files import load_slice
from tool_envs.messages import Json
from tool_envs.rollout.episode import DeadlineExceededError, RunningEpisode
from tool_envs.rollout.plan import Plan
from tool_envs.rollout.policy import Finish, PolicyOutput
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.capture import SCRIPTED
from tool_envs.trajectory.record import PolicyVersion, Sampling, Trajectory

INFO = "tool_envs"
"""Under this name a trace's `info` holds the record of its episode."""


# --- Tasks


class ToolTasksetConfig(vf.TasksetConfig):
    """Which tasks: those of a slice, or the first ones of an environment.

    Attributes:
        slice_id: A frozen slice.
        env_id: An environment, without a slice.
        arguments: Of the environment; of a foreign slice, what `load_slice` takes.
        count: How many tasks of an environment.
        seed: Seed of an environment's episodes; a slice has its own.
    """

    slice_id: str | None = None
    env_id: str | None = None
    arguments: dict[str, Json] = {}  # noqa: RUF012 - a field with a default
    count: int = 20
    seed: int = 0


class ToolTaskData(vf.TaskData):
    """One task, without what solves it.

    Attributes:
        env_id: Its environment.
        arguments: The environment's arguments.
        task_index: Its index there.
        task_digest: Its digest.
        seed: What the seed of its episodes follows from.
        frozen: The manifest of the slice, without the list of its tasks.
    """

    env_id: str
    arguments: dict[str, Json]
    task_index: int
    task_digest: str
    seed: int
    frozen: dict[str, Json]


class ToolTask(vf.Task[ToolTaskData]):
    """One task, and how its episode is scored."""

    @property
    def key(self) -> str:
        """The task's digest, wherever in a taskset it stands."""
        return str(self.data.task_digest)

    @vf.reward
    async def terminal(self, trace: vf.Trace) -> float:
        """The terminal reward.

        Raises:
            UsageError: The trace is of no episode that `CustomerEnv` played.
        """
        reward = read_record(trace).outcome.reward
        if reward is None:  # neither: those tasks are refused, and that trace is not scored
            raise UsageError(
                "The task is graded by no rule, or the infrastructure failed: there is no reward."
            )
        return reward

    @vf.metric
    async def outcome(self, trace: vf.Trace) -> dict[str, float]:
        """Of how many steps the episode was, and each condition of the reward: 1.0 met, 0.0 not met."""
        outcome = read_record(trace).outcome
        counts = {
            "steps": outcome.steps,
            "truncated": outcome.status == "truncated",
            "violations": len(outcome.violations),
            "not_understood": outcome.not_understood,
        }
        return {**{name: float(count) for name, count in counts.items()}, **outcome.ledger.components}


class ToolTaskset(vf.Taskset[ToolTask, ToolTasksetConfig]):
    """The tasks of a slice or an environment."""

    def load(self) -> Iterator[ToolTask]:
        """The tasks, in order.

        Raises:
            UsageError: Not exactly one of `slice_id` and `env_id` is given, or no rule grades a task.
            ToolEnvsError: As `load_slice` and `freeze` raise.
        """
        frozen, arguments = self._freeze()
        metadata = {name: value for name, value in frozen.to_json().items() if name != "tasks"}
        with closing(make_env(frozen.env.id, arguments)) as env:
            inner = unwrap(env)
            prompt = _system_prompt(inner.domain.policy_text, inner.schema.to_openai())
            for reference in frozen.tasks:
                index = inner.domain.tasks.index(reference.id)
                if not inner.domain.tasks[index].graded:
                    raise UsageError(f"No rule grades the task {reference.id}: it has no reward to train on.")
                data = ToolTaskData(
                    id=reference.id,
                    name=reference.id,
                    system_prompt=prompt,
                    env_id=frozen.env.id,
                    arguments=arguments,
                    task_index=index,
                    task_digest=reference.digest,
                    seed=frozen.seed,
                    frozen=metadata,
                )
                yield ToolTask(data, self.config.task)

    def _freeze(self) -> tuple[Slice, dict[str, Json]]:
        """The manifest, and the arguments of the environment here."""
        config = self.config
        if (config.slice_id is None) == (config.env_id is None):
            raise UsageError("Say which tasks, by either `slice_id` or `env_id`.")
        if config.slice_id is not None:
            frozen = load_slice(config.slice_id, config.arguments)
            return frozen, frozen.env.kwargs | config.arguments
        frozen = freeze(UNRELEASED, config.env_id, config.arguments, range(config.count), seed=config.seed)
        return frozen, config.arguments


def _system_prompt(policy: str, tools: Sequence[dict[str, Any]]) -> str:
    policy_message = {"role": "system", "content": policy}
    [told] = json_calls.as_plain_messages([policy_message], json_calls.with_speech(tools), thought=False)
    return str(told["content"])


def read_record(trace: vf.Trace) -> Trajectory:
    """The record of a trace's episode, also of one that failed; for `replay`, stores and exports.

    Raises:
        UsageError: There is none: the trace is of no episode that `CustomerEnv` played to an end.
        DataFileError: It is no record.
    """
    if INFO not in trace.info:
        raise UsageError(
            "The trace has no record of an episode. Play the tasks of this set with `CustomerEnv`."
        )
    return Trajectory.from_json(trace.info[INFO], f"trace {trace.id}")


# --- Episodes


class CustomerEnvConfig(vf.EnvConfig):
    """How an episode is played.

    Attributes:
        player: The model. It chats, and runs nothing, so that it needs no sandbox.
    """

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class CustomerEnv(vf.Env[CustomerEnvConfig]):
    """Plays the customer of each task, and carries out what the player does."""

    async def run(self, task: ToolTask, agents: vf.Agents) -> None:
        """Play the episode of a task.

        Raises:
            InfrastructureError: Something outside of the player failed; the trace says so, too.
        """
        data, player = task.data, agents.player
        [planned] = Plan([data.task_index], seed=data.seed)
        versions = Versions(PolicyVersion(version=player.ctx.model, number=0))
        with closing(make_env(data.env_id, data.arguments)) as env:
            async with player.interaction(task) as interaction:
                policy = _Player(player, interaction)
                episode = RunningEpisode(unwrap(env), policy, versions, planned)
                record: Trajectory | None = None
                try:
                    record = await episode.play(None)
                except InfrastructureError as failure:
                    record = episode.record_failure(failure)
                    if not interaction.trace.errors:
                        raise
                finally:
                    if record is not None:
                        interaction.trace.info[INFO] = record.to_json()


class _Player:
    """The player of one episode as a policy; see `tool_envs.rollout.policy.Policy`."""

    def __init__(self, player: vf.Agent, interaction: vf.Interaction) -> None:
        sampling = player.ctx.sampling
        self.name = player.ctx.model
        self.setting = msgspec.structs.replace(SCRIPTED, sampling=_describe(sampling))
        self._interaction = interaction
        self._shown = 1  # the system message, which the task has

    async def act(
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[dict[str, Any]],  # noqa: ARG002 - the system prompt tells of them
    ) -> PolicyOutput:
        """See `Policy.act`."""
        new = [message for message in messages[self._shown :] if message["role"] != "assistant"]
        self._shown = len(messages)
        trace = self._interaction.trace
        known = len(trace.calls)
        segment = await self._interaction.turn("\n".join(json_calls.plain(each)["content"] for each in new))
        usage = total_usage([_usage(call) for call in trace.calls[known:]])
        if segment.terminated:
            return PolicyOutput(action="", finish=_why_terminated(trace), usage=usage)
        finish: Finish = "length" if trace.calls[-1].finish_reason == "length" else "stop"
        return PolicyOutput(action=trace.assistant_messages[-1].content or "", finish=finish, usage=usage)


def _why_terminated(trace: vf.Trace) -> Finish:
    """Why there was no reply.

    Raises:
        InfrastructureError: For none that the player is to blame for.
    """
    if trace.errors:
        raise InfrastructureError(f"The player failed: {trace.last_error.message}")
    if trace.is_timeout:
        raise DeadlineExceededError(f"The player was stopped by a clock: {trace.stop_condition}.")
    if trace.stop_condition is not None:
        return "length"
    if trace.calls and trace.calls[-1].error is not None:
        return "context"  # the null harness goes on after no other error
    raise InfrastructureError("The harness ended without a reply.")


def _usage(call: vf.ModelCall) -> Usage | None:
    return call.usage and Usage(call.usage.input_tokens, call.usage.completion_tokens)


def _describe(sampling: vf.SamplingConfig) -> Sampling:
    """How tokens are drawn; what nobody set is 1, as OpenAI's API has it."""
    more = sampling.model_extra or {}
    stop = more.get("stop") or ()
    return Sampling(
        temperature=1.0 if sampling.temperature is None else sampling.temperature,
        top_p=1.0 if sampling.top_p is None else sampling.top_p,
        seed=more.get("seed"),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
    )
