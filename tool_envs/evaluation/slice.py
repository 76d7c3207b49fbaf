"""Frozen slices: everything that could move a score, by its digest, in one manifest.

Two scores are comparable when their manifests are equal, and only then. The manifests of released slices are
files in `slices/`, which never change. A foreign slice is one over files that the user has (tau-bench's): its
manifest is made from them, so other files are another slice of the same id.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Annotated, Final, Literal, TypeAlias, get_args

import gymnasium
import msgspec
from msgspec import Meta

from tool_envs.canonical import digest
from tool_envs.env import Observation, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.reward import TerminalSource
from tool_envs.simulators import ModelUser, UserSimulator
from tool_envs.trajectory.capture import refer_to_env, refer_to_schema
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.refs import (
    EnvRef,
    Name,
    Part,
    SchemaRef,
    Sha256,
    SimulatorRef,
    TaskRef,
)

FormatVersion: TypeAlias = Literal["1.0.0", "1.1.0"]
FORMAT_VERSIONS: Final[tuple[str, ...]] = get_args(FormatVersion)
"""The versions of the manifest; their forms are `schemas/meta/slice/<version>.json`. 1.1.0 names the reward
and the language model that plays the user, if one does, and says whether people verified the tasks. Slices of
rules whose user is no model stay 1.0.0, so that scores on them stay comparable."""

LOCAL = frozenset({"path", "mirrors", "python", "user_base_url", "user_api_key_env", "user_client"})
"""Arguments of environments that say where files and servers are, and how long these are waited for: in no
manifest."""


class Limits(Part, frozen=True):
    """What bounds an episode."""

    max_steps: Annotated[int, Meta(ge=1)]
    parallel_calls: Literal["run", "refuse"]


class UserModelRef(Part, frozen=True):
    """The language model that plays a user.

    Attributes:
        name: Its name.
        prompt_digest: Digest of what it is told, whatever the task, and of the model that verifies its
            replies, if any, with what that one is told.
        arguments: What each request to either holds beside the conversation.
    """

    name: Name
    prompt_digest: Sha256
    arguments: dict[str, Json]


class SliceUser(SimulatorRef, frozen=True, omit_defaults=True):
    """The user of a slice.

    Attributes:
        model: The language model that plays it; None: none does, and the manifest does not mention it.
    """

    model: UserModelRef | None = None

    @property
    def in_records(self) -> SimulatorRef:
        """How records refer to it."""
        return SimulatorRef(self.name, self.version, self.digest)


class Upstream(Part, frozen=True):
    """Which known state of a foreign benchmark the tasks are, and how many of its tasks are here.

    Attributes:
        state: Its name.
        tasks: How many tasks the slice has there.
    """

    state: Name
    tasks: Annotated[int, Meta(ge=1)]


class Slice(Part, frozen=True, kw_only=True):
    """The manifest of a slice.

    Attributes:
        format_version: The version of this form.
        id: Names the slice and, after the `@`, its release: `retail/test@1`. Foreign ones have none.
        env: How to make the environment, without what only says where files and servers are.
        schema: The tools, and whose descriptions of them the agent sees.
        policy_digest: Digest of the domain policy's text.
        data_digest: Digest of the data that every episode starts from.
        simulator: The user.
        grader_digest: Digest of what decides a grade.
        limits: What bounds an episode.
        reward: What the terminal reward comes from.
        human_verified: People have checked of each task that its tests hold what its text asks for.
        seed: Every seed of an episode follows from it, the index of the task and the number of the trial.
        tasks: The tasks, in order.
        upstream: For foreign slices: the known state that these tasks are of; None: no known one.
    """

    format_version: FormatVersion
    id: Annotated[str, Meta(pattern=r"^[a-z_]+(/[a-z_]+)+(@[1-9][0-9]*)?\Z")]
    env: EnvRef
    schema: SchemaRef
    policy_digest: Sha256
    data_digest: str
    simulator: SliceUser
    grader_digest: str
    limits: Limits
    seed: Annotated[int, Meta(ge=0)]
    tasks: Annotated[tuple[TaskRef, ...], Meta(min_length=1)]
    upstream: Upstream | None = None
    reward: TerminalSource = "rules"
    human_verified: bool = False

    @property
    def digest(self) -> str:
        """The digest over all of it: equal digests, comparable scores."""
        return digest(self.fields())

    def fields(self) -> dict[str, Json]:
        """The manifest as a JSON object, without its digest."""
        value: dict[str, Json] = json.loads(msgspec.json.encode(self))
        if self.format_version == "1.0.0":
            del value["reward"], value["human_verified"]
        return value

    def to_json(self) -> dict[str, Json]:
        """The manifest as a JSON object, with its digest."""
        return {**self.fields(), "digest": self.digest}

    @property
    def coverage(self) -> str:
        """How many of the slice's tasks these are: `200 tasks`, or `25 of 50 tasks`."""
        whole = self.upstream.tasks if self.upstream else len(self.tasks)
        return (
            f"{len(self.tasks)} tasks" if whole == len(self.tasks) else f"{len(self.tasks)} of {whole} tasks"
        )

    def make(self, local: Mapping[str, Json] | None = None) -> gymnasium.Env[Observation, Json]:
        """The environment of the slice; `local` are those of its arguments that are in no manifest."""
        return make_env(self.env.id, self.env.kwargs | dict(local or {}))


class Difference(Part, frozen=True):
    """One field in which two manifests differ, as a path such as `schema/version`, and both values."""

    field: str
    first: Json
    second: Json

    def __str__(self) -> str:
        return f"{self.field}: {_short(self.first)} and {_short(self.second)}"


def freeze(
    slice_id: str, env_id: str, kwargs: Mapping[str, Json], indexes: Iterable[int], *, seed: int = 0
) -> Slice:
    """The manifest of some tasks of an environment as it is here and now.

    Args:
        slice_id: Its id.
        env_id: The environment.
        kwargs: Its arguments. What they leave out would follow the defaults of the day: give all that could
            move a score.
        indexes: Which tasks of the split.
        seed: Seed of the evaluation.

    Raises:
        UnknownNameError: There is no such environment, argument or task.
        UsageError: No task is named, or a task is named twice.
    """
    with closing(make_env(env_id, kwargs)) as env:
        inner = unwrap(env)
        tasks = [inner.domain.tasks[index] for index in indexes]
        if not tasks or len({task.id for task in tasks}) < len(tasks):
            raise UsageError("A slice has at least one task, and each of them once.")
        user = inner.domain.simulators[inner.user_kind](tasks[0], {})
        played_by, reward = _refer_to_user(user), inner.domain.terminal_source
        return Slice(
            format_version="1.0.0" if reward == "rules" and played_by.model is None else "1.1.0",
            id=slice_id,
            env=portable(refer_to_env(inner)),
            schema=refer_to_schema(inner),
            policy_digest=digest(inner.domain.policy_text),
            data_digest=inner.domain.base.digest,
            simulator=played_by,
            grader_digest=inner.domain.grader_digest,
            limits=Limits(inner.max_steps, inner.parallel_calls),
            seed=seed,
            tasks=tuple(TaskRef(task.id, task.digest) for task in tasks),
            reward=reward,
        )


def _refer_to_user(user: UserSimulator) -> SliceUser:
    model = None
    if isinstance(user, ModelUser):
        model = UserModelRef(user.model, user.prompt_digest, user.arguments)
    return SliceUser(user.name, user.version, user.digest, model)


def freeze_again(frozen: Slice, local: Mapping[str, Json] | None = None) -> Slice:
    """The manifest that the environment of a slice and its tasks, found by their ids, have here and now.

    Args:
        frozen: The slice.
        local: See `Slice.make`.

    Raises:
        UnknownNameError: There is no such environment, argument or task any more.
    """
    kwargs = frozen.env.kwargs | dict(local or {})
    with closing(make_env(frozen.env.id, kwargs)) as env:
        tasks = unwrap(env).domain.tasks
        indexes = [tasks.index(task.id) for task in frozen.tasks]
    again = freeze(frozen.id, frozen.env.id, kwargs, indexes, seed=frozen.seed)
    return msgspec.structs.replace(again, upstream=frozen.upstream, human_verified=frozen.human_verified)


def differences(first: Slice, second: Slice) -> list[Difference]:
    """The fields in which two manifests differ; of tasks each one by its id. Empty: they are equal."""
    return list(_differences("", _by_task(first), _by_task(second)))


def record_differences(record: Trajectory, frozen: Slice) -> list[Difference]:
    """In what an episode was another than those of a slice: environment, reward, tools, user, data, task.

    How it was graded is not looked at, nor arguments of the environment that show in none of these.
    """
    digests = {task.id: task.digest for task in frozen.tasks}
    pairs = {
        "env/id": (record.env.id, frozen.env.id),
        "reward": (record.outcome.ledger.terminal_source, frozen.reward),
        "schema": (record.schema, frozen.schema),
        "simulator": (record.simulator, frozen.simulator.in_records),
        "data_digest": (record.data.base_digest, frozen.data_digest),
        "task": (record.task.digest, digests.get(record.task.id)),
    }
    plain = {name: msgspec.to_builtins(pair) for name, pair in pairs.items()}
    return [each for name, (one, other) in plain.items() for each in _differences(name, one, other)]


def portable(env: EnvRef) -> EnvRef:
    """How an environment was made, without what only says where files and servers are."""
    kwargs = {name: value for name, value in env.kwargs.items() if name not in LOCAL}
    return msgspec.structs.replace(env, kwargs=kwargs)


def describe_differences(found: Sequence[Difference], most: int = 8) -> str:
    """Differences as one line."""
    more = f"; and {len(found) - most} more" if len(found) > most else ""
    return "; ".join(map(str, found[:most])) + more


def _by_task(of: Slice) -> dict[str, Json]:
    order = [task.id for task in of.tasks]
    return {
        **of.fields(),
        "reward": of.reward,
        "tasks": {task.id: task.digest for task in of.tasks},
        "order of tasks": order,
    }


def _differences(where: str, first: Json, second: Json) -> Iterator[Difference]:
    if isinstance(first, dict) and isinstance(second, dict):
        for name in [*first, *(name for name in second if name not in first)]:
            place = f"{where}/{name}" if where else name
            yield from _differences(place, first.get(name), second.get(name))
    elif json.dumps(first) != json.dumps(second):  # 1 and 1.0 and true are not the same here
        yield Difference(where, first, second)


def _short(value: Json) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:12]}..."
