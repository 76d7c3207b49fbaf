"""verl's agent loop: the model that verl's servers sample plays whole episodes. Needs the extra `[verl]`.

    rows = [data_row(row) for row in episode_rows("tool_envs/Retail-v0", {}, Plan(range(64)))]

In verl's configuration, `actor_rollout_ref.rollout.agent.agent_loop_config_path` names a YAML file with

    - name: tool_envs
      _target_: tool_envs.integrations.verl.ToolEnvAgentLoop

A loop that raises fails its prompt: verl 0.9's trainers of version 1 leave the prompt's group out, its older
one stops. So no failure is trained on as a reward of 0.
"""

import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec
from omegaconf import OmegaConf
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.tools.schemas import OpenAIFunctionToolSchema
from verl.utils.profiler import simple_timer

from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.integrations.episode_rows import COLUMN, EpisodeRow, play_row, read_row
from tool_envs.messages import Json
from tool_envs.rollout.policy import PolicyOutput
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.capture import PolicySetting
from tool_envs.trajectory.chat_tokenizer import as_templates_expect
from tool_envs.trajectory.exports import verl as exported
from tool_envs.trajectory.exports.source import Contexts, Row, Source
from tool_envs.trajectory.record import PolicyRun, PolicyVersion, Sampling, Tokens, Trajectory

AGENT_NAME = "tool_envs"
"""The loop's name in verl's registry, and in the column `agent_name` of a data set."""

_READ_HERE = "hermes"
"""The format of calls that environments read themselves, broken calls included."""


class GenerationAbortedError(InfrastructureError):
    """Raised when verl's server gave up a turn, and does not go on with it."""


def data_row(row: str) -> dict[str, Json]:
    """The columns that verl's `RLHFDataset` demands, around a row of `episode_rows`.

    The conversation begins with what the environment says: `prompt` is there because verl demands one.
    """
    source = msgspec.json.decode(row, type=EpisodeRow).env_id
    return {
        "prompt": [{"role": "user", "content": ""}],
        "data_source": source,
        "agent_name": AGENT_NAME,
        COLUMN: row,
    }


@register(AGENT_NAME)
class ToolEnvAgentLoop(AgentLoopBase):
    """Plays the episode that a row of the data set names.

    The prompt ends where the first token was sampled. What verl's server sampled stays as it is; what
    environment and template say after it is tokenised by verl's builder for the model, and has mask 0.

    An episode ends as truncated, with a reward of 0.0, when `rollout.response_length` is used up, which holds
    what the environment says, too. Turns are bounded by the environment's `max_steps` and not by
    `rollout.multi_turn`, of which `format` says how the model calls tools.
    """

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> Any:  # noqa: ANN401 - verl's own
        """Play an episode.

        Args:
            sampling_params: How verl's server samples. Log-probabilities are asked for in any case.
            kwargs: The row of the data set, with the column `episode`.

        Returns:
            An `AgentLoopOutput`; or, where the model's builder of tokens rewrites earlier ones, a list of one
            for each sequence, all with the reward of the episode: verl's trainers of version 1 take it. The
            `extra_fields` have the first and the last of the trainer's steps whose weights sampled it, as
            `min_global_steps` and `max_global_steps`.

        Raises:
            InfrastructureError: Something outside of the episode failed: it has no reward.
            UsageError: The row names no episode that can be graded, or the first prompt is too long.
        """
        versions = Versions(PolicyVersion(version="0", number=0))
        policy = _ServedPolicy(self, sampling_params, versions, _request_id(self.rollout_config, kwargs))
        record = _begin_with_writer(await play_row(read_row(kwargs), policy, versions))
        self.keep(record)
        outputs = [self._output(row, policy.metrics) for row in exported.rows(_as_source(record))]
        return outputs[0] if len(outputs) == 1 else outputs

    def keep(self, record: Trajectory) -> None:
        """Called with the record of each episode; a subclass, under a name of its own, may store it."""

    def _output(self, row: Row, metrics: Mapping[str, float]) -> AgentLoopOutput:
        end = self.rollout_config.response_length
        for column in ("response_ids", "response_mask", "response_logprobs"):
            row[column] = row[column][:end]
        extra = {**row["extra_fields"], "turn_scores": [], "tool_rewards": [], "reward_extra_info": {}}
        return AgentLoopOutput(**{**row, "metrics": dict(metrics), "extra_fields": extra})


class _ServedPolicy:
    """The model behind verl's servers in one episode, whose tokens it goes on with.

    Args:
        loop: The agent loop.
        sampling_params: How verl's server samples.
        versions: Where the trainer's steps are published as they come.
        request_id: What keeps the episode at one server.
    """

    name = "verl"

    def __init__(
        self, loop: ToolEnvAgentLoop, sampling_params: Mapping[str, Any], versions: Versions, request_id: str
    ) -> None:
        self.setting = _setting(loop, sampling_params)
        self.metrics: dict[str, float] = {}
        self._loop, self._versions, self._request_id = loop, versions, request_id
        self._sampling = {**sampling_params, "logprobs": True}
        self._parser = ToolParser.get_tool_parser(loop.rollout_config.multi_turn.format, loop.tokenizer)
        if self._parser.stop_token_ids:
            stops = {*(sampling_params.get("stop_token_ids") or ()), *self._parser.stop_token_ids}
            self._sampling["stop_token_ids"] = sorted(stops)
        self._ids: list[int] = []  # all tokens so far
        self._seen: list[
            dict[str, Any]
        ] = []  # the messages that they stand for, but for the model's last one
        self._end = 0  # how many tokens there may be

    async def act(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> PolicyOutput:
        """See `Policy.act`.

        Raises:
            GenerationAbortedError: The server gave the turn up.
            UsageError: The first prompt does not fit into `rollout.prompt_length`.
        """
        chat = [as_templates_expect(message) for message in messages]
        prompt = await (self._go_on(chat, tools) if self._ids else self._begin(chat, tools))
        room = self._end - len(prompt)
        if room <= 0:
            return PolicyOutput(action="", finish="context")
        sampled = await self._generate(prompt, room)
        ids = list(sampled.token_ids)
        self._ids, self._seen = [*prompt, *ids], chat
        is_cut = sampled.stop_reason == "length" or (
            len(ids) >= room and ids[-1] != self._loop.tokenizer.eos_token_id
        )
        return PolicyOutput(
            action=await self._read(ids, tools),
            tokens=Tokens(
                prompt_token_ids=tuple(prompt), token_ids=tuple(ids), logprobs=tuple(sampled.log_probs or ())
            ),
            policy_version=self._runs(sampled),
            finish="length" if is_cut else "stop",
        )

    async def _begin(self, chat: list[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> list[int]:
        # Not by the loop's own method, which cuts off the beginning of a prompt that is too long.
        loop = self._loop
        build = functools.partial(loop.continuous_token_builder.build_initial_tokens, chat, tools=list(tools))
        ids: list[int] = await loop.loop.run_in_executor(None, build)
        if len(ids) > loop.rollout_config.prompt_length:
            raise UsageError(
                f"The first prompt has {len(ids)} tokens. Make `rollout.prompt_length` at least that; it is "
                f"{loop.rollout_config.prompt_length}."
            )
        self._end = len(ids) + loop.rollout_config.response_length
        return ids

    async def _go_on(self, chat: list[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> list[int]:
        before = chat[: len(self._seen) + 1]
        merged, *_ = await self._loop.ct_merge_context_msg(before, chat, self._ids, [], tools=list(tools))
        ids: list[int] = merged.token_ids
        return ids

    async def _generate(self, prompt: list[int], room: int) -> Any:  # noqa: ANN401 - verl's TokenOutput
        with simple_timer("generate_sequences", self.metrics):
            sampled = await self._loop.server_manager.generate(
                request_id=self._request_id,
                prompt_ids=prompt,
                sampling_params={**self._sampling, "max_tokens": room},
            )
        if sampled.stop_reason in ("abort", "aborted") or not sampled.token_ids:
            raise GenerationAbortedError("verl's server gave up a turn.")
        return sampled

    async def _read(self, ids: list[int], tools: Sequence[dict[str, Any]]) -> Json:
        """What the sampled tokens do."""
        loop = self._loop
        if loop.rollout_config.multi_turn.format == _READ_HERE:
            decode = functools.partial(loop.tokenizer.decode, ids, skip_special_tokens=True)
            text: str = await loop.loop.run_in_executor(None, decode)
            return text
        schemas = [OpenAIFunctionToolSchema.model_validate(tool) for tool in tools]
        content, calls = await self._parser.extract_tool_calls(ids, schemas)
        content = content.removesuffix(loop.tokenizer.eos_token or "")
        if not calls:
            return content
        as_calls = [
            {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
        return {"role": "assistant", "content": content, "tool_calls": as_calls}

    def _runs(self, sampled: Any) -> tuple[PolicyRun, ...]:  # noqa: ANN401 - verl's TokenOutput
        """The steps whose weights sampled a turn.

        verl tells the first and the last, and not where one followed on the other: only the last token counts
        as the last one's. A server that was brought no weights yet has no step, which is 0 here.
        """
        first, last = (sampled.extra_fields.get(f"{end}_global_steps") or 0 for end in ("min", "max"))
        for step in (first, last):
            self._versions.follow(PolicyVersion(version=str(step), number=step))
        count = len(sampled.token_ids)
        counts = {first: count} if first == last else {first: count - 1, last: 1}
        return tuple(PolicyRun(version=str(step), count=count) for step, count in counts.items() if count)


def _begin_with_writer(record: Trajectory) -> Trajectory:
    """The record, beginning with the first version that wrote something, which nobody knew when it began.

    Raises:
        UsageError: Nothing was sampled.
    """
    first = record.head_version
    if first is None:
        raise UsageError("Nothing was sampled: `rollout.response_length` leaves no room.")
    listed = tuple(version for version in record.policy_versions if version.number >= first.number)
    agent = msgspec.structs.replace(record.agent, version=first.version)
    return msgspec.structs.replace(record, policy_versions=listed, agent=agent)


def _as_source(record: Trajectory) -> Source:
    return Source(record, sample=0, contexts=Contexts({}), tokenizer=None)


def _request_id(rollout_config: Any, row: Mapping[str, Any]) -> str:  # noqa: ANN401 - verl's configuration
    return f"det-{row.get('priority', 0)}" if rollout_config.full_determinism else uuid4().hex


# --- What a record says of the policy


def _setting(loop: ToolEnvAgentLoop, sampling_params: Mapping[str, Any]) -> PolicySetting:
    terms = ("actor_rollout_ref.actor.use_kl_loss", "algorithm.use_kl_in_reward")
    tokenizer, template = _digests(loop.tokenizer)
    return PolicySetting(
        reference_policy="ref" if any(OmegaConf.select(loop.config, term) for term in terms) else None,
        sampling=Sampling(
            temperature=sampling_params["temperature"], top_p=sampling_params["top_p"], seed=None, stop=()
        ),
        tokenizer=tokenizer,
        chat_template=template,
    )


@functools.lru_cache(maxsize=4)
def _digests(tokenizer: Any) -> tuple[str, str]:  # noqa: ANN401 - not installed where types are checked
    """Sha256 of a tokenizer's JSON as `tokenizers` writes it, and of its chat template."""
    texts = (tokenizer.backend_tokenizer.to_str(), str(tokenizer.chat_template))
    backend, template = (hashlib.sha256(text.encode()).hexdigest() for text in texts)
    return backend, template
