"""What a policy is to a rollout: who acts, under which version, and what each turn of it leaves behind."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from tool_envs.chat import Usage
from tool_envs.env import Observation, ToolEnv
from tool_envs.messages import Json
from tool_envs.trajectory.capture import PolicySetting
from tool_envs.trajectory.record import PolicyRun, Tokens

Finish = Literal["stop", "length", "context"]
"""Why a turn ended: by itself; cut at the limit of sampled tokens; the context had no room for it."""


class PolicyOutput(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a policy.

    Attributes:
        action: What `step` is given: text as it was written, or a chat message with `tool_calls`; whatever
            there is of it if it was cut.
        tokens: What was sent and sampled, exactly; None: not known.
        policy_version: The versions that wrote it, as runs of sampled tokens; empty: all of it by the version
            that was in force when it was asked for.
        finish: Why it ended. A turn that did not `stop` is not carried out: the episode is truncated.
        cost: US dollars.
        usage: Tokens of all requests for it; None: nobody counted them, but for those that `tokens` has.
    """

    action: Json
    tokens: Tokens | None = None
    policy_version: tuple[PolicyRun, ...] = ()
    finish: Finish = "stop"
    cost: float = 0.0
    usage: Usage | None = None

    @property
    def counted(self) -> Usage | None:
        """Tokens of all requests for it; None: unknown."""
        if self.usage is not None or self.tokens is None:
            return self.usage
        return Usage(len(self.tokens.prompt_token_ids), len(self.tokens.token_ids))


class Policy(Protocol):
    """Who acts in rollouts. One object serves all episodes at once, so it keeps nothing of any of them."""

    name: str
    """Names it in records."""
    setting: PolicySetting
    """How its tokens are drawn, and what its updates are held to."""

    async def act(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> PolicyOutput:
        """The next turn.

        Args:
            messages: The conversation in OpenAI chat form, the domain policy as system message first.
            tools: The tools in OpenAI's form.

        Raises:
            InfrastructureError: Whatever serves it could not be reached.
        """


@runtime_checkable
class EpisodePolicy(Protocol):
    """A policy that needs the episode itself: scripted agents, which look at what a model is never shown."""

    name: str
    """See `Policy`."""
    setting: PolicySetting
    """See `Policy`."""

    def begin(self, env: ToolEnv, observation: Observation, key: int) -> Policy:
        """Who acts in one episode.

        Args:
            env: The environment after its `reset`.
            observation: What `reset` returned.
            key: 64-bit key of the policy's choices in this episode.
        """
