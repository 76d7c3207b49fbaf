"""AReaL's agent workflow: an agent that AReaL's proxy serves plays whole episodes. Needs the extra `[areal]`.

    rows = [{"episode": row} for row in episode_rows("tool_envs/Retail-v0", {}, Plan(range(64)))]
    trainer.train(workflow="tool_envs.integrations.areal.ToolEnvAgent")

AReaL's proxy keeps the tokens, log-probabilities and versions of what it sampled (AReaL 1.0,
`areal/experimental/openai`); it is not told any of them by us, and tells us none. An episode that fails
raises, and AReaL rejects its trajectory; so no failure is trained on as a reward of 0.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tool_envs.agents.llm import ChatPolicy
from tool_envs.chat import ChatClient, ChatReply, ChatStatusError, ContextOverflowError
from tool_envs.errors import UsageError
from tool_envs.integrations.episode_rows import play_row, read_row
from tool_envs.messages import Json
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.record import PolicyVersion, Trajectory

MODEL = "default"
"""The name of the model in requests, which AReaL's proxy ignores."""

_TOO_LONG = "exceeds max_total_tokens"
"""What the proxy says, with the status 500, of a conversation that its engine has no room for."""


class ToolEnvAgent:
    """Plays the episode that a row of the data set names, with the model behind AReaL's proxy.

    The model calls tools by `tool_calls`, which the proxy reads out of what was sampled. Its messages are
    sent back as it gave them, and each conversation begins with all of the one before it, as AReaL's export
    style `concat` demands. A reply that was cut at the limit of tokens, or for which the context had no room,
    ends the episode as truncated, with a reward of 0.0.

    Args:
        arguments: What each request holds: `temperature` and `top_p` (1.0 unless given),
            `max_completion_tokens` ...
        deadline: Seconds for a reply, pauses of the proxy for new weights included.
        versions: The versions of the policy, which the trainer publishes; None: nobody says.
        on_record: Called with the record of each episode; the tokens stand in AReaL's trajectories alone.

    Raises:
        UsageError: Records are asked for, but no versions: a record says which version acted.
    """

    def __init__(
        self,
        *,
        arguments: Mapping[str, Json] | None = None,
        deadline: float = 600.0,
        versions: Versions | None = None,
        on_record: Callable[[Trajectory], object] | None = None,
    ) -> None:
        if on_record is not None and versions is None:
            raise UsageError("`on_record` goes with `versions`: a record says which version acted.")
        self._arguments, self._deadline = arguments, deadline
        self._versions, self._on_record = versions, on_record

    async def run(self, data: Mapping[str, Any], **extra: Any) -> dict[str, float]:  # noqa: ANN401
        """Play an episode.

        Args:
            data: A row of the data set, with the column `episode` (see `episode_rows`).
            extra: `base_url` and `api_key` of the proxy; without them, as in AReaL's mode `subproc`, they are
                those of `OPENAI_BASE_URL` and `OPENAI_API_KEY`. AReaL's `http_client` is not used.

        Returns:
            The reward of the last completion, by its id; AReaL discounts it for those before.

        Raises:
            InfrastructureError: Something outside of the episode failed: it has no reward.
            UsageError: The row names no episode that can be graded, there is no URL, or nothing was sampled.
        """
        # Sent once: a completion that was sampled and lost on its way would be trained on all the same.
        async with ChatClient(
            MODEL,
            base_url=extra.get("base_url"),
            api_key=extra.get("api_key"),
            deadline=self._deadline,
            retries=0,
        ) as client:
            model = _ProxiedModel(client)
            policy = ChatPolicy(model, arguments=self._arguments)
            versions = self._versions or Versions(PolicyVersion(version=policy.version, number=0))
            record = await play_row(read_row(data), policy, versions)
        if not model.replies:
            raise UsageError("The first prompt does not fit into the context: nothing was sampled.")
        if self._on_record is not None:
            self._on_record(record)
        return {model.replies[-1].id: float(record.outcome.reward or 0.0)}


class _ProxiedModel:
    """The model behind the proxy in one episode, which is shown its own messages as it gave them.

    Args:
        client: Asks the proxy.
    """

    def __init__(self, client: ChatClient) -> None:
        self.model = client.model
        self.replies: list[ChatReply] = []
        self._client = client

    async def complete(
        self,
        messages: Sequence[Mapping[str, Json]],
        *,
        tools: Sequence[Mapping[str, Json]] = (),
        response_format: Mapping[str, Json] | None = None,
        arguments: Mapping[str, Json] | None = None,
    ) -> ChatReply:
        """See `ChatClient.complete`."""
        try:
            reply = await self._client.complete(
                list(self._as_given(messages)),
                tools=tools,
                response_format=response_format,
                arguments=arguments,
            )
        except ChatStatusError as problem:
            if _TOO_LONG in str(problem):
                raise ContextOverflowError(str(problem)) from None
            raise
        self.replies.append(reply)
        return reply

    def _as_given(self, messages: Sequence[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
        """The conversation with its own messages as they came, however they were read.

        Without the members that are null, which the proxy gives but does not take.
        """
        given = (reply.message for reply in self.replies)
        for message in messages:
            its = next(given) if message["role"] == "assistant" else message
            yield {name: value for name, value in its.items() if value is not None}
