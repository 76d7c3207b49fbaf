"""One episode of a rollout, from `reset` to its record."""

import asyncio
import math
from collections.abc import Coroutine
from typing import Any

from tool_envs.chat import Usage, total_usage
from tool_envs.env import ToolEnv
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.rollout.plan import PlannedEpisode
from tool_envs.rollout.policy import EpisodePolicy, Policy, PolicyOutput
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.capture import Turn, record_episode
from tool_envs.trajectory.record import PolicyRun, PolicyVersion, Trajectory


class DeadlineExceededError(InfrastructureError):
    """Raised when an episode took longer than it may; how long the episode itself was, nobody can say."""


class GivenUpError(Exception):
    """Raised when an episode was given up, to be begun again."""


class RunningEpisode:
    """One attempt at an episode, on an environment that is its own until it ends.

    A turn that was cut, at the limit of sampled tokens or for want of context, ends the episode as truncated.
    What there is of it is the last message of the record, with its tokens, under `action` and `aside`;
    nothing of it is carried out and no answer follows it. It is trainable, since the policy wrote it: whoever
    trains on no truncated episodes leaves out the whole record, by its outcome.

    Args:
        env: The environment, unwrapped, made by `gymnasium.make`.
        policy: Who acts.
        versions: The versions of the policy.
        planned: Which episode.
        keeps_version: Whether its turns are of the version that it began with until its end.
    """

    def __init__(
        self,
        env: ToolEnv,
        policy: Policy | EpisodePolicy,
        versions: Versions,
        planned: PlannedEpisode,
        *,
        keeps_version: bool = False,
    ) -> None:
        self.planned = planned
        self.head = versions.current
        self._env, self._policy, self._versions = env, policy, versions
        self._keeps_version = keeps_version
        self._begun = False
        self._turns: list[Turn] = []
        self._cost = 0.0
        self._usages: list[Usage | None] = []
        self._timeout: asyncio.Timeout | None = None  # while it is played
        self._is_given_up = False

    async def play(self, deadline: float | None) -> Trajectory:
        """Play it.

        Args:
            deadline: Seconds that it may take, whatever it waits for; None: any time.

        Returns:
            Its record.

        Raises:
            DeadlineExceededError: It took longer.
            GivenUpError: It was given up.
            InfrastructureError: Something outside of it failed.
            Exception: Whatever else the policy raises is a mistake in the policy, and in the environment one
                in the environment.
        """
        timeout = self._timeout = asyncio.timeout(deadline)
        try:
            async with timeout:
                await _uncancelled(self._play())
        except TimeoutError:
            if not timeout.expired():
                raise
            if self._is_given_up:
                raise GivenUpError from None
            raise DeadlineExceededError(f"It took more than {deadline} seconds.") from None
        finally:
            self._timeout = None
        return self._record()

    def give_up(self) -> None:
        """Have it end soon, with a `GivenUpError`, if it does not end by itself before."""
        if self._timeout is not None and not self._timeout.expired():
            self._is_given_up = True
            self._timeout.reschedule(asyncio.get_running_loop().time())

    def record_failure(self, failure: InfrastructureError) -> Trajectory | None:
        """The record, without a reward, up to where something failed.

        None: it had not begun, or its turns so far break a law of records. The next attempt will say so.
        """
        if not self._begun:
            return None
        self._env.fail(failure)
        try:
            return self._record()
        except UsageError:
            return None

    # --- Turns

    async def _play(self) -> None:
        env, planned = self._env, self.planned
        observation, info = await env.areset(seed=planned.seed, options={"task_index": planned.task})
        self._begun = True
        if env.domain.tasks.index(info["task_id"]) != planned.task:
            raise UsageError(
                f"Two tasks have the id {info['task_id']!r}: nobody can tell their records apart."
            )
        if isinstance(self._policy, EpisodePolicy):
            policy = self._policy.begin(env, observation, planned.key)
        else:
            policy = self._policy
        tools = env.schema.to_openai()
        messages = [{"role": "system", "content": info["domain_policy"]}, *info["messages"]]
        while env.outcome is None:
            await asyncio.sleep(0)  # a policy that never waits lets others go on, too
            version = self._version_in_force()
            output = await policy.act(tuple(messages), tools)
            messages += await self._take(output, version)

    async def _take(self, output: PolicyOutput, version: PolicyVersion) -> list[dict[str, Any]]:
        """Carry out a turn; returns the new messages."""
        if not 0.0 <= output.cost < math.inf:
            raise UsageError(
                f"The cost of a turn is a number of US dollars of at least 0, not {output.cost!r}."
            )
        self._cost += output.cost
        self._usages.append(output.counted)
        if output.finish == "stop":
            self._turns.append(_describe(output, version))
            *_, info = await self._env.astep(output.action)
            new_messages: list[dict[str, Any]] = info["messages"]
            return new_messages
        cut = output.action or ("" if output.tokens else None)
        if cut is not None:
            self._turns.append(_describe(output, version))
        self._env.truncate(output.finish, cut)
        return []

    def _version_in_force(self) -> PolicyVersion:
        return self.head if self._keeps_version else self._versions.current

    # --- The record

    def _record(self) -> Trajectory:
        written = sum(message.role == "assistant" for message in self._env.episode.history)
        return record_episode(
            self._env,
            self._policy.name,
            self.head.version,
            self.planned.seed,
            setting=self._policy.setting,
            policy_versions=[self.head] if self._keeps_version else self._versions.since(self.head.number),
            turns=self._turns[:written],  # an action that nobody can have written is no message
            agent_cost=self._cost,
            agent_usage=total_usage(self._usages),
        )


async def _uncancelled(play: Coroutine[Any, Any, None]) -> None:
    """Await a coroutine; a cancellation that nobody asked its task for is a mistake in it."""
    task = asyncio.current_task()
    try:
        await play
    except asyncio.CancelledError:
        if task is None or task.cancelling():
            raise
        raise UsageError("A turn ended as cancelled, though nobody cancelled its episode.") from None


def _describe(output: PolicyOutput, version: PolicyVersion) -> Turn:
    count = None if output.tokens is None else len(output.tokens.token_ids)
    runs = output.policy_version or (PolicyRun(version=version.version, count=count),)
    return Turn(policy_version=runs, tokens=output.tokens)
