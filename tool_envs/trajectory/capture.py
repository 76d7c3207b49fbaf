"""How an episode becomes a record."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import gymnasium
import msgspec

from tool_envs.chat import Usage
from tool_envs.env import ToolEnv, unwrap
from tool_envs.episode import Episode
from tool_envs.errors import UsageError
from tool_envs.messages import Json, Message
from tool_envs.simulators import AwaitedUser
from tool_envs.trajectory.record import (
    FORMAT_VERSION,
    AssistantMessage,
    Author,
    Call,
    Override,
    PolicyRun,
    PolicyVersion,
    RecordedMessage,
    Sampling,
    Tokens,
    ToolMessage,
    Trajectory,
    UserMessage,
)
from tool_envs.trajectory.refs import (
    AgentRef,
    DataRef,
    EnvRef,
    Name,
    SchemaRef,
    Sha256,
    SimulatorRef,
    TaskRef,
    TokenCounts,
    TokenUsage,
)

_T = TypeVar("_T")


class PolicySetting(msgspec.Struct, frozen=True, kw_only=True):
    """What an update of the policy needs to know of a whole episode: see the fields of `Trajectory`.

    None has a default: whoever records a policy that samples says so, and what its KL is taken against.
    """

    reference_policy: Name | None
    sampling: Sampling | None
    tokenizer: Sha256 | None
    chat_template: Sha256 | None


SCRIPTED = PolicySetting(reference_policy=None, sampling=None, tokenizer=None, chat_template=None)
"""Of policies that neither sample nor are trained against another one."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the environment does not know of one of the agent's messages: see `AssistantMessage`."""

    policy_version: tuple[PolicyRun, ...]
    tokens: Tokens | None = None
    author: Author = "policy"
    trainable: bool = True
    override: Override | None = None


def record_episode(
    env: gymnasium.Env[Any, Any],
    agent_name: str,
    agent_version: str,
    seed: int,
    *,
    setting: PolicySetting = SCRIPTED,
    policy_versions: Sequence[PolicyVersion] | None = None,
    turns: Sequence[Turn] | None = None,
    agent_cost: float = 0.0,
    agent_usage: Usage | None = None,
    slice_id: str | None = None,
) -> Trajectory:
    """The record of an environment's finished episode.

    Nothing of an episode that failed for its infrastructure is trainable, whatever `turns` say. What a user
    who is far away said stands in the options of `reset` too, so that a replay asks no model.

    Args:
        env: The environment, made by `gymnasium.make`; it still holds the episode.
        agent_name: Who acted.
        agent_version: The version of the policy under which the episode began.
        seed: The seed that `reset` was given for this episode.
        setting: How the policy sampled.
        policy_versions: All versions under which the episode ran, oldest first; None: `agent_version` alone,
            under the number 0.
        turns: For each message of the agent, in order, who wrote it and what was sampled; None:
            `agent_version` wrote them all.
        agent_cost: US dollars for the agent's model, as far as they are known; the user says their own.
        agent_usage: Tokens of all requests to it; None: nobody counted them, or not all.
        slice_id: The frozen slice that the episode belongs to; None: none.

    Raises:
        UsageError: The episode still runs, the policy version is empty, `setting`, `policy_versions` or
            `turns` do not fit the episode or break a law of records, or a record could not be replayed: the
            episode did not begin with a seeded `reset`, the environment was not made by `gymnasium.make`, or
            arguments or options are no JSON values.
    """
    inner = unwrap(env)
    episode = inner.episode
    if episode.outcome is None:
        raise UsageError("The episode still runs. Record it when it is over.")
    if episode.number:
        raise UsageError("Only an episode that began with `reset(seed=...)` can be replayed from a record.")
    if not agent_version:
        raise UsageError("`agent_version` is empty. Say which version of the policy acted.")
    versions = policy_versions or [PolicyVersion(version=agent_version, number=0)]
    return Trajectory(
        **describe_setting(inner),
        **msgspec.structs.asdict(_check("setting", setting, PolicySetting)),
        format_version=FORMAT_VERSION,
        env=refer_to_env(inner),
        slice_id=slice_id,
        seed=seed,
        options=_name_task(episode),
        data=DataRef(base_digest=inner.domain.base.digest, final_digest=inner.data_digest()),
        agent=AgentRef(name=agent_name, version=agent_version),
        policy_versions=_check("policy_versions", versions, tuple[PolicyVersion, ...]),
        messages=tuple(_record_messages(episode, agent_version, turns)),
        outcome=episode.outcome,
        filter_verdict=None,
        costs={"agent": agent_cost, "user": user_cost(episode)},
        usage=TokenUsage(agent=_count(agent_usage), user=user_counts(episode)),
    )


def user_cost(episode: Episode) -> float:
    """US dollars that the user's model has cost, as far as that is known."""
    return episode.user.cost if isinstance(episode.user, AwaitedUser) else 0.0


def user_counts(episode: Episode) -> TokenCounts | None:
    """Tokens of the requests to the user's model; None: there is none, or nobody counted them, or not all."""
    return _count(episode.user.usage) if isinstance(episode.user, AwaitedUser) else None


def _count(usage: Usage | None) -> TokenCounts | None:
    return None if usage is None else TokenCounts(usage.prompt_tokens, usage.completion_tokens)


def _record_messages(
    episode: Episode, agent_version: str, turns: Sequence[Turn] | None
) -> Iterator[RecordedMessage]:
    written = sum(message.role == "assistant" for message in episode.history)
    if turns is None:
        turns = [Turn(policy_version=(PolicyRun(version=agent_version, count=None),))] * written
    if len(turns) != written:
        raise UsageError(
            f"`turns`: expected one for each of the agent's {written} messages, not {len(turns)}."
        )
    if episode.outcome is not None and episode.outcome.status == "infrastructure":
        turns = [msgspec.structs.replace(turn, trainable=False) for turn in turns]
    rest = iter(_check("turns", turns, tuple[Turn, ...]))
    for message in episode.history:
        yield record_message(message, next(rest) if message.role == "assistant" else None)


def _check(what: str, value: object, form: type[_T]) -> _T:
    """The value in exactly the form that it is declared with, which Python does not see to."""
    try:
        return msgspec.convert(msgspec.to_builtins(value), form)
    except (msgspec.ValidationError, TypeError) as problem:
        raise UsageError(f"`{what}`: {problem}.") from None


def describe_setting(env: ToolEnv) -> dict[str, Any]:
    """The fields of a record that say by their digests what was played, but for the data."""
    task, user = env.task, env.episode.user
    return {
        "schema": refer_to_schema(env),
        "task": TaskRef(id=task.id, digest=task.digest),
        "simulator": SimulatorRef(name=user.name, version=user.version, digest=user.digest),
        "grader_digest": env.domain.grader_digest,
    }


def refer_to_schema(env: ToolEnv) -> SchemaRef:
    """The tools of an environment, for the record."""
    schema = env.schema
    return SchemaRef(
        domain=schema.domain, version=schema.version, sha256=schema.sha256, interface=env.domain.interface
    )


def record_message(message: Message, turn: Turn | None = None) -> RecordedMessage:
    """One message for the record.

    Args:
        message: The message.
        turn: What is known of it beside, if it is the agent's; None: nothing, so that nobody knows the
            version, and it is not trainable.
    """
    name, content, call_id = message.name, message.content, message.tool_call_id
    if message.role == "user":
        return UserMessage(name=name, content=content, tool_call_id=call_id, trainable=False)
    if message.role == "tool":
        return ToolMessage(
            name=name, content=content, code=message.code, tool_call_id=call_id, trainable=False
        )
    turn = turn or _UNKNOWN
    return AssistantMessage(
        content=content,
        tool_calls=tuple(Call(name=c.name, arguments=c.arguments, id=c.id) for c in message.tool_calls),
        aside=message.aside,
        thought=message.thought,
        action=message.action,
        author=turn.author,
        trainable=turn.trainable,
        override=turn.override,
        policy_version=turn.policy_version,
        tokens=turn.tokens,
    )


# For comparing only: an empty version is no version, and a record with it is refused.
_UNKNOWN = Turn(policy_version=(PolicyRun(version="", count=None),), trainable=False)


def refer_to_env(env: ToolEnv) -> EnvRef:
    """How to make an environment again, for the record.

    Raises:
        UsageError: It was not made by `gymnasium.make`, or its arguments are no JSON values.
    """
    if env.spec is None:
        raise UsageError("The environment has no id. Make it with `gymnasium.make`, as replay will.")
    kwargs = _as_json("the environment's arguments", env.spec.kwargs)
    return EnvRef(id=env.spec.id, version=env.spec.version, kwargs=kwargs)


def _name_task(episode: Episode) -> dict[str, Json]:
    """The options of reset that make the episode again, anywhere.

    The task by its id, since an index or a draw may mean another one elsewhere; and the turns of a user who
    was far away.
    """
    options = {name: value for name, value in episode.options.items() if name != "task_index"}
    options["task_id"] = episode.task.id
    if isinstance(episode.user, AwaitedUser) and episode.user.turns is not None:
        options["user_turns"] = list(episode.user.turns)
    as_json: dict[str, Json] = _as_json("the options of reset", options)
    return as_json


def _as_json(what: str, value: Any) -> Json:  # noqa: ANN401 - callers pass whatever they were given
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as problem:
        raise UsageError(f"For a record, {what} must be JSON values: {problem}.") from None
