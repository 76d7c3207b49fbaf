"""The tiny agent as a policy of rollouts: the turns of all episodes that wait are sampled together."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tiny_agent.model import Model
from tiny_agent.sampling import Context, Draft, write
from tiny_agent.text import END, TEMPLATE_DIGEST, TinyTokenizer
from tool_envs.env import Observation, ToolEnv
from tool_envs.randomness import splitmix64
from tool_envs.rollout import Policy, PolicyOutput
from tool_envs.trajectory import PolicySetting
from tool_envs.trajectory.record import Sampling, Tokens

LONGEST = 100
"""Tokens that a turn may have."""

CONTEXT = 1408
"""Tokens that an episode may have: one in which a mistake is made again and again ends soon."""

_PATIENCE = 4
"""Rounds of the event loop in which no episode asks, after which all are taken to wait."""


class TinyPolicy:
    """An `EpisodePolicy` that samples from a model in this process.

    Episodes run on one event loop and wait for nothing but this policy. So when a few rounds of the loop
    bring no further request, all of them wait here, and their turns are sampled as one batch. Each turn
    depends on its own context and its episode's key (up to rounding), and not on what is sampled beside it.

    Args:
        model: Its weights may change between turns.
        tokenizer: The tokenizer.
        temperature: Of the sampling; above 0.
    """

    name = "tiny-agent"

    def __init__(self, model: Model, tokenizer: TinyTokenizer, temperature: float = 1.0) -> None:
        self.tokenizer = tokenizer
        self.setting = PolicySetting(
            reference_policy=None,
            sampling=Sampling(temperature=temperature, top_p=1.0, seed=None, stop=(END,)),
            tokenizer=tokenizer.digest,
            chat_template=TEMPLATE_DIGEST,
        )
        self._model, self._temperature = model, temperature
        self._waiting: list[tuple[Draft, asyncio.Future[None]]] = []
        self._serving: asyncio.Task[None] | None = None

    def begin(self, env: ToolEnv, observation: Observation, key: int) -> Policy:  # noqa: ARG002 - it asks nothing of them
        """See `EpisodePolicy.begin`."""
        return _TinyEpisode(self, key)

    async def write(self, draft: Draft) -> None:
        """Sample a turn, together with those of others."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((draft, future))
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        await future

    async def _serve(self) -> None:
        """Wait until nobody else comes, then sample all turns that are waited for."""
        asked = 0
        while asked < len(self._waiting):
            asked = len(self._waiting)
            for _ in range(_PATIENCE):
                await asyncio.sleep(0)
        waiting, self._waiting, self._serving = self._waiting, [], None
        mistake = None
        try:
            drafts = [draft for draft, _ in waiting]
            write(self._model, drafts, self.tokenizer.end_id, LONGEST, self._temperature)
        except Exception as problem:
            mistake = problem  # of all episodes that wait: each of them raises it
        for _, future in waiting:
            if future.done():  # its episode was cancelled
                continue
            if mistake is None:
                future.set_result(None)
            else:
                future.set_exception(mistake)


class _TinyEpisode:
    """One episode of it, which goes on with the very tokens that were sampled."""

    def __init__(self, policy: TinyPolicy, key: int) -> None:
        self.name, self.setting = policy.name, policy.setting
        self._policy, self._key = policy, key
        self._context, self._turn = Context(), 0

    async def act(
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[dict[str, Any]],  # noqa: ARG002 - the template leaves them out
    ) -> PolicyOutput:
        """See `Policy.act`."""
        tokenizer, context = self._policy.tokenizer, self._context
        context.ids += tokenizer.ids(_since_last_turn(messages))
        if len(context.ids) + LONGEST > CONTEXT:
            return PolicyOutput(action=None, finish="context")
        turn, prompt = self._turn, tuple(context.ids)
        draft = Draft(context, lambda number: splitmix64(self._key, 0, turn, number) / 2**64)
        await self._policy.write(draft)
        self._turn += 1
        has_ended = draft.has_ended(tokenizer.end_id)
        return PolicyOutput(
            action=tokenizer.decode(draft.ids[: len(draft.ids) - has_ended]),
            tokens=Tokens(
                prompt_token_ids=prompt, token_ids=tuple(draft.ids), logprobs=tuple(draft.logprobs)
            ),
            finish="stop" if has_ended else "length",
        )


def _since_last_turn(messages: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """The messages after the agent's last one."""
    last = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    return messages[last + 1 :]
