"""Pausing rollouts, and interrupting turns that a newer version of the policy then goes on with."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, NoReturn, Protocol, TypeVar

import msgspec

from tool_envs.chat import Usage, total_usage
from tool_envs.errors import UsageError
from tool_envs.rollout.policy import Policy, PolicyOutput
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.capture import PolicySetting
from tool_envs.trajectory.record import PolicyRun, Tokens

T = TypeVar("T")


class GenerationInterruptedError(Exception):
    """Raised by a policy whose turn was cut off from outside, with what there is of the turn by then.

    Args:
        tokens: All of the turn: the prompt of its first request, and every token sampled since.
        cost: US dollars that the request cost which was cut off.
        usage: Tokens of that request; None: unknown.
    """

    def __init__(self, tokens: Tokens, cost: float = 0.0, usage: Usage | None = None) -> None:
        super().__init__(f"interrupted after {len(tokens.token_ids)} sampled tokens")
        self.tokens, self.cost, self.usage = tokens, cost, usage


class ResumablePolicy(Protocol):
    """A policy that can go on with a turn that was cut off."""

    name: str
    """See `Policy`."""
    setting: PolicySetting
    """See `Policy`."""

    async def act(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]], partial: Tokens | None
    ) -> PolicyOutput:
        """The next turn, or the rest of one. To interrupt it, it is cancelled.

        Args:
            messages: See `Policy.act`.
            tools: See `Policy.act`.
            partial: What there is of the turn: the model is given these sampled tokens after that prompt,
                and goes on; None: the turn begins.

        Returns:
            All of the turn, its tokens beginning with those of `partial`; without versions.

        Raises:
            GenerationInterruptedError: It was cancelled, or its server broke off. A policy that lets the
                cancellation itself through loses what this request sampled.
            InfrastructureError: Whatever serves it could not be reached.
        """


class Gate:
    """Whether policies are asked for turns; one for all episodes of a run.

    The trainer updates a policy so:

        gate.interrupt()           # or pause(), after which running turns are finished
        await gate.idle()
        ...                        # load the weights into whatever serves the policy
        versions.publish("step-8")
        gate.resume()

    Turns are of the version in force when they are asked for, so a version that is published while some run
    is not seen in them.
    """

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._running: dict[asyncio.Task[Any], bool] = {}
        """Request -> whether it may be cut off; in the order in which they were made."""

    def __reduce__(self) -> NoReturn:
        """A copy in another process would look like a gate and never close."""
        raise TypeError("a gate works in its own process, and so does a policy behind it")

    def pause(self) -> None:
        """From now on no turn is asked for. Those that run go on."""
        self._open.clear()

    def interrupt(self) -> None:
        """Pause, and cut off the running turns of policies that can go on with them; others go on."""
        self.pause()
        for request in [request for request, may_be_cut in self._running.items() if may_be_cut]:
            self._running[request] = False  # once: it may take a while to end
            request.cancel()

    def resume(self) -> None:
        """Turns are asked for again, and those that were cut off go on."""
        self._open.set()

    async def opened(self) -> None:
        """Wait until turns are asked for."""
        while not self._open.is_set():  # it may be paused again before this wakes up
            await self._open.wait()

    async def idle(self) -> None:
        """Wait until no turn runs, which is soon after `interrupt`, if all can be cut off."""
        while self._running:
            await asyncio.wait(self._running)

    async def carry_out(
        self, request: Coroutine[Any, Any, T], *, is_resumable: bool = False
    ) -> asyncio.Task[T]:
        """Run a request of a policy to its end, or until it is interrupted.

        Returns:
            The request as a task that has ended: with a result or an exception, or cancelled.
        """
        task = asyncio.ensure_future(request)
        self._running[task] = is_resumable
        task.add_done_callback(self._forget)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:  # the episode is given up: let the request end, then go too
            task.cancel()
            await asyncio.wait({task})
            raise
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        del self._running[task]
        if not task.cancelled():
            task.exception()  # seen, even if nobody waits for it any more


class Pausable:
    """A policy that is asked for turns only while the gate is open.

    Args:
        policy: The policy.
        versions: Those of the policy; each turn says which was in force when it was asked for, unless the
            policy itself says so.
        gate: The gate.
    """

    def __init__(self, policy: Policy, versions: Versions, gate: Gate) -> None:
        self.name, self.setting = policy.name, policy.setting
        self._policy, self._versions, self._gate = policy, versions, gate

    async def act(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> PolicyOutput:
        """See `Policy.act`."""
        await self._gate.opened()
        version = self._versions.current.version
        output = (await self._gate.carry_out(self._policy.act(messages, tools))).result()
        if output.policy_version:
            return output
        count = None if output.tokens is None else len(output.tokens.token_ids)
        return msgspec.structs.replace(output, policy_version=(PolicyRun(version=version, count=count),))


class Interruptible:
    """A policy whose turns are cut off when the gate says so, and gone on with when it opens.

    A turn stays one turn: its tokens and logprobs are those that were sampled, each in the order of its
    sampling, and its `policy_version` says how many of them each version wrote.

    Args:
        policy: The policy.
        versions: Those of the policy; each request is of the one in force when it is made.
        gate: The gate.
    """

    def __init__(self, policy: ResumablePolicy, versions: Versions, gate: Gate) -> None:
        self.name, self.setting = policy.name, policy.setting
        self._policy, self._versions, self._gate = policy, versions, gate

    async def act(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> PolicyOutput:
        """See `Policy.act`.

        Raises:
            InfrastructureError: Whatever serves the policy could not be reached.
            UsageError: The policy changed what it had sampled before, or names versions itself.
        """
        turn = _Turn()
        while True:
            await self._gate.opened()
            version = self._versions.current.version
            request = self._policy.act(messages, tools, turn.tokens)
            task = await self._gate.carry_out(request, is_resumable=True)
            if task.cancelled() and task.cancelling():
                continue
            try:
                return turn.end(task.result(), version)
            except GenerationInterruptedError as cut:
                turn.grow(cut.tokens, version)
                turn.cost += cut.cost
                turn.usages.append(cut.usage)


class _Turn:
    """What there is of a turn, and how many of its tokens each version wrote, in the order of versions."""

    def __init__(self) -> None:
        self.tokens: Tokens | None = None
        self.cost = 0.0
        self.usages: list[Usage | None] = []
        self._counts: dict[str, int] = {}

    def grow(self, tokens: Tokens, version: str) -> None:
        """Take what there is now; what is new is of a version."""
        count = _count_new(self.tokens, tokens)
        if count:
            self._counts[version] = self._counts.get(version, 0) + count
        self.tokens = tokens

    def end(self, output: PolicyOutput, version: str) -> PolicyOutput:
        """The whole turn, after its last request."""
        if output.policy_version:
            raise UsageError("A policy that can be interrupted leaves `policy_version` empty.")
        if output.tokens is not None:
            self.grow(output.tokens, version)
        elif self.tokens is not None:
            raise UsageError("The turn was interrupted: expected its tokens, but `tokens` is None.")
        runs = tuple(PolicyRun(version=name, count=count) for name, count in self._counts.items())
        whole = PolicyRun(version=version, count=None if self.tokens is None else 0)
        return msgspec.structs.replace(
            output,
            policy_version=runs or (whole,),
            cost=output.cost + self.cost,
            usage=total_usage([*self.usages, output.usage]),
        )


def _count_new(old: Tokens | None, new: Tokens) -> int:
    if old is None:
        return len(new.token_ids)
    kept = len(old.token_ids)
    begun = Tokens(new.prompt_token_ids, new.token_ids[:kept], new.logprobs[:kept])
    if begun != old:
        raise UsageError(
            f"The policy went on with another turn than the one of {kept} tokens that was interrupted. Its "
            "tokens begin with those of `partial`, with the same prompt and logprobs."
        )
    return len(new.token_ids) - kept
