"""How an episode becomes a record."""

import json
from typing import Any

import gymnasium

from tool_envs.env import ToolEnv, unwrap
from tool_envs.episode import Episode
from tool_envs.errors import UsageError
from tool_envs.messages import Json, Message
from tool_envs.trajectory.record import (
    AgentRef,
    AssistantMessage,
    Call,
    DataRef,
    EnvRef,
    PolicyRun,
    RecordedMessage,
    SchemaRef,
    SimulatorRef,
    TaskRef,
    ToolMessage,
    Trajectory,
    UserMessage,
)


def record_episode(
    env: gymnasium.Env[Any, Any], agent_name: str, agent_version: str, seed: int
) -> Trajectory:
    """The record of an environment's finished episode.

    Args:
        env: The environment, made by `gymnasium.make`; it still holds the episode.
        agent_name: Who acted.
        agent_version: The version of the policy that wrote all of the agent's messages.
        seed: The seed that `reset` was given for this episode.

    Raises:
        UsageError: The episode still runs, the policy version is empty, or a record could not be replayed:
            the episode did not begin with a seeded `reset`, the environment was not made by `gymnasium.make`,
            or arguments or options are no JSON values.
    """
    inner = unwrap(env)
    episode = inner.episode
    if episode.outcome is None:
        raise UsageError("The episode still runs. Record it when it is over.")
    if episode.number:
        raise UsageError("Only an episode that began with `reset(seed=...)` can be replayed from a record.")
    if not agent_version:
        raise UsageError("`agent_version` is empty. Say which version of the policy acted.")
    trainable = episode.outcome.status != "infrastructure"
    return Trajectory(
        **describe_setting(inner),
        env=_refer_to_env(inner),
        seed=seed,
        options=_name_task(episode),
        data=DataRef(base_digest=inner.domain.base.digest, final_digest=inner.data_digest()),
        agent=AgentRef(name=agent_name, version=agent_version),
        messages=tuple(record_message(message, agent_version, trainable) for message in episode.history),
        outcome=episode.outcome,
        costs={"agent": 0.0, "user": 0.0},
    )


def describe_setting(env: ToolEnv) -> dict[str, Any]:
    """The fields of a record that say by their digests what was played, but for the data."""
    domain, schema, task, user = env.domain, env.schema, env.task, env.episode.user
    return {
        "schema": SchemaRef(
            domain=schema.domain, version=schema.version, sha256=schema.sha256, interface=domain.interface
        ),
        "task": TaskRef(id=task.id, digest=task.digest),
        "simulator": SimulatorRef(name=user.name, version=user.version, digest=user.digest),
        "grader_digest": domain.grader_digest,
    }


def record_message(message: Message, policy_version: str, trainable: bool) -> RecordedMessage:
    """One message for the record.

    Args:
        message: The message.
        policy_version: Which version of the policy wrote it, if the policy did.
        trainable: Whether it may be trained on, if the policy wrote it.
    """
    name, content, call_id = message.name, message.content, message.tool_call_id
    if message.role == "user":
        return UserMessage(name=name, content=content, tool_call_id=call_id, trainable=False)
    if message.role == "tool":
        return ToolMessage(
            name=name, content=content, code=message.code, tool_call_id=call_id, trainable=False
        )
    return AssistantMessage(
        content=content,
        tool_calls=tuple(Call(name=c.name, arguments=c.arguments, id=c.id) for c in message.tool_calls),
        aside=message.aside,
        thought=message.thought,
        action=message.action,
        trainable=trainable,
        policy_version=(PolicyRun(version=policy_version),),
    )


def _refer_to_env(env: ToolEnv) -> EnvRef:
    if env.spec is None:
        raise UsageError("The environment has no id. Make it with `gymnasium.make`, as replay will.")
    kwargs = _as_json("the environment's arguments", env.spec.kwargs)
    return EnvRef(id=env.spec.id, version=env.spec.version, kwargs=kwargs)


def _name_task(episode: Episode) -> dict[str, Json]:
    """The options of reset, with the task by its id: an index or a draw may mean another one elsewhere."""
    others = {name: value for name, value in episode.options.items() if name != "task_index"}
    options: dict[str, Json] = _as_json("the options of reset", {**others, "task_id": episode.task.id})
    return options


def _as_json(what: str, value: Any) -> Json:  # noqa: ANN401 - callers pass whatever they were given
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as problem:
        raise UsageError(f"For a record, {what} must be JSON values: {problem}.") from None
