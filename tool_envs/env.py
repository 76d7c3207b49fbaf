"""The environment: one episode of an agent with tools and a user. The turn loop and nothing else."""

import asyncio
import copy
import functools
import json
import operator
from collections.abc import Coroutine
from typing import Any, Literal, TypeAlias, TypeVar

import gymnasium
import msgspec

from tool_envs.actions import parse_action
from tool_envs.carry_out import carry_out
from tool_envs.chat_form import as_line, to_chat
from tool_envs.domain import Domain
from tool_envs.ending import completed, failed, truncated
from tool_envs.episode import Episode, EpisodeSnapshot
from tool_envs.errors import EpisodeEndedError, InfrastructureError, UnknownNameError, UsageError
from tool_envs.messages import Json, Message
from tool_envs.process import find_process
from tool_envs.randomness import draw_below, splitmix64
from tool_envs.reward import Outcome
from tool_envs.schema import ToolSchema
from tool_envs.simulators import AwaitedUser, UserSimulator
from tool_envs.spaces import MessageSpace, ToolCallSpace
from tool_envs.task import Task
from tool_envs.threads import run_in_thread

Observation = dict[str, str]
_Reset: TypeAlias = tuple[Observation, dict[str, Any]]
_Step: TypeAlias = tuple[Observation, float, bool, bool, dict[str, Any]]
_T = TypeVar("_T")

# Numbers of the draws in turn 0 of an episode.
TASK_DRAW, _USER_DRAW = 0, 1


class ToolEnv(gymnasium.Env[Observation, Json]):
    """An agent serves a user: it calls tools, talks, and gets one reward when the episode ends.

    ## Description
    The base of every environment with a JSON view. A domain's environment subclasses it, passes its `Domain`
    and documents its own arguments.

    ## Action Space
    `ToolCallSpace` of the domain's schema: `{"name": str, "arguments": dict}`. `step` also takes text as a
    model wrote it, OpenAI tool calls and messages, and lists of calls (see `tool_envs.actions`).

    ## Observation Space
    `MessageSpace`: `{"role": "user" | "tool", "name": str, "content": str}`, the newest message; after
    several calls in one step, the result of the last one that ran.

    ## Rewards
    0.0 on every step but the last; there 0.0 or 1.0 from the domain's rules, or what the domain's
    `terminal_source` gives (see `tool_envs.reward`). Of a task that no rule grades
    (`Task.graded`), the ledger's `terminal` and the outcome's `reward` are None, and `step` returns 0.0, as
    Gymnasium wants a float: count outcomes, never that number.

    ## Starting State
    A task, drawn from the split unless `options` names one by `task_index` or `task_id`, on fresh data; the
    user has said the first word.

    ## Episode End
    Terminated when the user hangs up or the agent calls an end tool; truncated after `max_steps` actions
    (tool calls and messages, broken ones included), with reward 0.0 and without grading.

    ## Information
    `reset`: `task_id`, `task_digest`, `schema_version`, `schema_sha256`, `interface`, `domain_policy`,
    `messages`. `step`: `messages` (all new messages in OpenAI chat form, the agent's own first) and
    `error_code` (of the observation, or None). Last step: `outcome` (see `tool_envs.reward.Outcome`).

    ## Arguments
    `domain`: the bundle. `user`: the kind of simulated user. `max_steps`: actions until truncation.
    `parallel_calls`: "run" several calls of one action in order, or "refuse" them with the code
    `several_calls`. `process`: rewards per step apart from the reward (`info["process_reward"]`, and their
    sum in the ledger): "sub_goals", those reached, or your own measure of progress, "module:function" (see
    `tool_envs.process`). `render_mode`: None or "ansi".
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self,
        domain: Domain,
        *,
        user: str,
        max_steps: int = 30,
        parallel_calls: Literal["run", "refuse"] = "run",
        process: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        _require_known("user", user, tuple(domain.simulators))
        _require_known("value of parallel_calls", parallel_calls, ("run", "refuse"))
        _require_known("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        if not (isinstance(max_steps, int) and max_steps > 0):
            raise UsageError(f"`max_steps` is a number of actions of at least 1, not {max_steps!r}.")
        self.domain = domain
        self.max_steps = max_steps
        self.render_mode = render_mode
        self.action_space = ToolCallSpace(domain.toolkit.schema)
        self.observation_space = MessageSpace()
        self.user_kind = user
        self.parallel_calls = parallel_calls
        self._process = find_process(process, domain.progress)
        self._key: int | None = None
        self._number = 0
        self._episode: Episode | None = None
        self._awaited: Episode | None = None  # whose user is asked by `astep` now

    # --- Gymnasium

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> _Reset:
        """Start an episode.

        Args:
            seed: Draws a new key, on which the choices of this episode and of all later ones depend.
            options: `task_index` (int) or `task_id` (str), and what the domain's users take.

        Raises:
            UsageError: An option is unknown or names no task.
            InfrastructureError: The user could not be reached, or the data not be had; there is no running
                episode.
        """
        return _at_once(self._start(seed, options, awaiting=False))

    def step(self, action: Json) -> _Step:
        """Take one action: text, bytes or a JSON value (see `tool_envs.actions`).

        Raises:
            EpisodeEndedError: There is no running episode.
            ActionTypeError: The action is nothing that an agent can have written.
            InfrastructureError: Something outside of the episode failed; it is over and has no reward.
        """
        return _at_once(self._act(action, awaiting=False))

    async def areset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> _Reset:
        """`reset`, which awaits a user who is far away instead of blocking; for the unwrapped environment.

        Of a domain that blocks (`Domain.blocking`) it runs in a thread, and so does `astep`.

        Raises:
            CancelledError: It was cancelled; there is no running episode. Also raises as `reset` does.
        """
        if not self.domain.blocking:
            return await self._start(seed, options, awaiting=True)
        try:
            return await run_in_thread(functools.partial(self.reset, seed=seed, options=options))
        except asyncio.CancelledError as cancelled:
            if self._episode is not None and self._episode.outcome is None:
                self._episode.outcome = failed(self._episode, cancelled)
            raise

    async def astep(self, action: Json) -> _Step:
        """`step`, which awaits a user who is far away instead of blocking; for the unwrapped environment.

        Raises:
            UsageError: Another step of the episode still awaits its user. Also raises as `step` does.
            CancelledError: It was cancelled; the episode is over and has no reward.
        """
        episode = self._running()
        if self._awaited is episode:
            raise UsageError("Another step of this episode still awaits its user.")
        self._awaited = episode
        try:
            if self.domain.blocking:
                return await run_in_thread(functools.partial(self.step, action))
            return await self._act(action, awaiting=True)
        except asyncio.CancelledError as cancelled:
            episode.outcome = failed(episode, cancelled)
            raise
        finally:
            self._awaited = None

    def truncate(self, reason: str, cut: Json = None) -> Outcome:
        """End the running episode for a reason that is not its own: the policy's context is full, say.

        Args:
            reason: What stands in the outcome's `ended_by`. The reward is 0.0, as at the step limit.
            cut: What there is of an action that was cut. It becomes the last message, as it was written, and
                nothing of it is carried out: no answer follows it, and it is no step. None: nothing.

        Raises:
            EpisodeEndedError: There is no running episode.
            ActionTypeError: `cut` is nothing that an agent can have written.
        """
        episode = self._running()
        if cut is not None:
            action = parse_action(cut).action
            text = action if isinstance(action, str) else json.dumps(action, ensure_ascii=False)
            episode.history.append(Message(role="assistant", content="", aside=text, action=action))
        episode.outcome = outcome = truncated(episode, reason)
        return outcome

    def fail(self, failure: Exception) -> Outcome:
        """End the running episode, without a reward, for a failure outside of it: the policy's server's, say.

        Args:
            failure: Its class name stands in the outcome's `ended_by`, in place of another failure's too.

        Raises:
            EpisodeEndedError: There is no running episode, and the last one did not fail.
        """
        if self.episode.outcome is None or self.episode.outcome.status != "infrastructure":
            self._running()
        self.episode.outcome = outcome = failed(self.episode, failure)
        return outcome

    def render(self) -> str | None:
        """The conversation as text, in `render_mode="ansi"`; else None."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(as_line(message) for message in self.episode.history)

    # --- What `reset` and `step` do, written once for users at hand and users who are awaited

    async def _start(self, seed: int | None, options: dict[str, Any] | None, *, awaiting: bool) -> _Reset:
        super().reset(seed=seed)
        options = copy.deepcopy(options or {})
        self._count_episode(seeded=seed is not None)
        task = self._choose_task(options)
        self._episode = None
        self._episode = episode = Episode(
            number=self._number,
            task=task,
            options=options,
            database=self.domain.open_database(task),
            user=self._make_user(task, options),
            terminal_source=self.domain.terminal_source,
            process=0.0 if self._process else None,
            process_reward=self._process,
        )
        try:
            opening = await self._meet(episode, awaiting)
        except (InfrastructureError, asyncio.CancelledError) as failure:
            episode.outcome = failed(episode, failure)
            raise
        return observe(opening), self._reset_info(task, opening)

    async def _act(self, action: Json, *, awaiting: bool) -> _Step:
        episode = self._running()
        parsed = parse_action(action)
        first_new = len(episode.history)
        try:
            refuse_several = self.parallel_calls == "refuse"
            last = await carry_out(
                parsed, episode, self.domain.toolkit, self.max_steps, refuse_several, awaiting=awaiting
            )
            reached = self._advance(episode)
            outcome = self._conclude(episode)
        except (InfrastructureError, asyncio.CancelledError) as failure:
            episode.outcome = failed(episode, failure)
            raise
        info: dict[str, Any] = {"messages": to_chat(episode.history[first_new:]), "error_code": last.code}
        if self._process:
            info["process_reward"] = reached
        if outcome is None:
            return observe(last), 0.0, False, False, info
        episode.outcome = outcome
        info["outcome"] = msgspec.to_builtins(outcome)
        terminated = outcome.status == "completed"
        return observe(last), outcome.reward or 0.0, terminated, not terminated, info

    # --- For those who hold the unwrapped environment

    @property
    def episode(self) -> Episode:
        """The state of the episode; hidden from the agent.

        Raises:
            EpisodeEndedError: There was no `reset` yet.
        """
        if self._episode is None:
            raise EpisodeEndedError("There is no episode yet. Call `reset`.")
        return self._episode

    @property
    def schema(self) -> ToolSchema:
        """The tools."""
        return self.domain.toolkit.schema

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far in OpenAI chat form, without a system message; a fresh list."""
        return to_chat(self.episode.history)

    @property
    def task(self) -> Task:
        """The task of the episode; hidden from the agent."""
        return self.episode.task

    @property
    def outcome(self) -> Outcome | None:
        """How the episode ended; None while it runs."""
        return self.episode.outcome

    def data_digest(self) -> str:
        """Digest of the database now."""
        return self.domain.data_digest(self.episode.database)

    def snapshot(self) -> EpisodeSnapshot:
        """The episode now, for `restore`; later steps do not change it. Takes microseconds."""
        return self.episode.snapshot()

    def restore(self, snapshot: EpisodeSnapshot) -> None:
        """Go on from a snapshot, of this environment or of another one with the same domain."""
        task = snapshot.fields["task"]
        user = self._make_user(task, snapshot.fields["options"])
        self._number = snapshot.fields["number"]
        self._episode = Episode.from_snapshot(snapshot, self.domain.open_database(task), user)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds the episode and how to load the domain, never the data."""
        return {**self.__dict__, "_episode": self._episode and self._episode.snapshot(), "_awaited": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        snapshot = state["_episode"]
        self.__dict__.update(state, _episode=None)
        if snapshot is not None:
            self.restore(snapshot)

    # --- The start

    def _count_episode(self, *, seeded: bool) -> None:
        """Number the next episode; a seeded reset draws the key anew and starts at 0."""
        if seeded or self._key is None:
            # Raw output of the bit generator: the distributions on top of it may change with numpy.
            self._key = int(self.np_random.bit_generator.random_raw())
            self._number = 0
        else:
            self._number += 1

    def _choose_task(self, options: dict[str, Json]) -> Task:
        known = {"task_index", "task_id", *self.domain.reset_options}
        for name in options:
            _require_known("option of reset", name, tuple(sorted(known)))
        tasks = self.domain.tasks
        if "task_id" in options and "task_index" in options:
            raise UsageError("Name the task by `task_index` or by `task_id`, not by both.")
        if "task_id" in options:
            return tasks.find(_as_id(options["task_id"]))
        if "task_index" in options:
            return tasks[_as_index(options["task_index"])]
        return tasks[draw_below(len(tasks), self._key or 0, self._number, 0, TASK_DRAW)]

    def _make_user(self, task: Task, options: dict[str, Json]) -> UserSimulator:
        return self.domain.simulators[self.user_kind](task, options)

    async def _meet(self, episode: Episode, awaiting: bool) -> Message:
        """The user's first turn. One who says goodbye at once does not end the episode: there was no step."""
        key = splitmix64(self._key or 0, episode.number, 0, _USER_DRAW)
        user, goal = episode.user, episode.task.goal
        if awaiting and isinstance(user, AwaitedUser):
            turn = await user.areset(goal, key)
        else:
            turn = user.reset(goal, key)
        message = Message(role="user", name="user", content=turn.text, acts=turn.acts)
        episode.history.append(message)
        return message

    def _reset_info(self, task: Task, opening: Message) -> dict[str, Any]:
        return {
            "task_id": task.id,
            "task_digest": task.digest,
            "schema_version": self.schema.version,
            "schema_sha256": self.schema.sha256,
            "interface": self.domain.interface,
            "domain_policy": self.domain.policy_text,
            "messages": to_chat([opening]),
        }

    # --- A step

    def _running(self) -> Episode:
        if self._episode is None or self._episode.outcome is not None:
            raise EpisodeEndedError("There is no running episode. Call `reset` before `step`.")
        return self._episode

    # --- The end

    def _advance(self, episode: Episode) -> float:
        """The process reward of a step: what it added to how far the episode has come, or took away."""
        if episode.process is None or episode.process_reward is None:
            return 0.0
        before = episode.process
        episode.process = episode.process_reward.measure(self.domain.progress, episode)
        return episode.process - before

    def _conclude(self, episode: Episode) -> Outcome | None:
        """How the episode ended, if it did."""
        if episode.ended_by:
            return completed(episode, self.domain.grade(episode))
        if episode.steps >= self.max_steps:
            return truncated(episode, "limit")
        return None


def unwrap(env: gymnasium.Env[Any, Any]) -> ToolEnv:
    """The tool environment inside of its wrappers.

    Raises:
        UsageError: There is another kind of environment inside.
    """
    inner = env.unwrapped
    if not isinstance(inner, ToolEnv):
        raise UsageError(f"Expected a `ToolEnv` (such as `tool_envs/TauBench-v0`), not {inner!r:.80}.")
    return inner


def _at_once(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine that awaits nobody."""
    try:
        work.send(None)
    except StopIteration as done:
        result: _T = done.value
        return result
    raise AssertionError("a step that does not await was suspended")


def observe(message: Message) -> Observation:
    """What the agent sees of a message."""
    return {"role": message.role, "name": message.name, "content": message.content}


def _require_known(kind: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        raise UnknownNameError(kind, value, known)


def _as_index(value: object) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]  # that is what is tried
    except TypeError:
        raise UsageError(f"`task_index` is an int, not {value!r}.") from None


def _as_id(value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"`task_id` is a string, not {value!r}.")
    return value
