"""Our episodes as TRL's `rollout_func`: the agent talks to users turn by turn. Needs the extra `[trl]`.

    trainer = GRPOTrainer(
        model,
        rollout_func=EpisodeRollout("tool_envs/Retail-v0", {"split": "train"}, out="runs/grpo"),
        reward_funcs=episode_reward,
        train_dataset=make_dataset("tool_envs/Retail-v0", {"split": "train"}, range(1000)),
    )

All episodes of a batch are played here, and the turns of those that run are sampled together from the
trainer's model. What TRL gets is made of their records by `to_tokens`: the tokens as they were sent and
sampled, the probability of each in the distribution that it was drawn from (after temperature and top-p),
and 1 in `env_mask` on what the model wrote.

An episode that failed for its infrastructure after all retries is trained on in no token, and has no reward
(None); other reward functions have to give None for it, too. If all of a batch failed, that is raised.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from trl import GRPOTrainer

from tool_envs.env import Observation, ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.integrations.chat_suffix import GrowingChat, since_last_turn
from tool_envs.integrations.episode_rows import EpisodeRow
from tool_envs.integrations.trl_rows import row_of_prompt
from tool_envs.integrations.trl_sampling import Sampler, Turns, sample_turns
from tool_envs.messages import Json
from tool_envs.rollout.plan import PlannedEpisode
from tool_envs.rollout.player import FailedAttempt, LocalPlayer, Player, Work
from tool_envs.rollout.policy import Policy, PolicyOutput
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.capture import PolicySetting
from tool_envs.trajectory.record import PolicyVersion, Sampling, Tokens, Trajectory
from tool_envs.trajectory.store import TrajectoryWriter
from tool_envs.trajectory.tokens import NOT_SAMPLED, to_tokens

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


def episode_reward(episode_reward: Sequence[float | None], **columns: object) -> list[float | None]:  # noqa: ARG001
    """The reward function of `EpisodeRollout`: what the environment gave; None: nothing."""
    return list(episode_reward)


class EpisodeRollout:
    """A `rollout_func`: one episode for each prompt of `make_dataset` that it is given.

    A completion is all of an episode after its first prompt, and has at most the trainer's
    `max_completion_length` tokens; an episode that does not end in these is truncated. Reward functions also
    get `episode_status` (that of the outcome) and `policy_version` of each episode; versions are called after
    the trainer's steps, `step-0` being the model that training began with.

    Args:
        env_id: The environment.
        kwargs: Its arguments.
        agent: What the model is called in records.
        out: Folder for records, in which each mode and process has a store (`train-0`); None: none are kept.
        retries: How often an episode is tried again that failed for its infrastructure.
        turn_tokens: Tokens that a turn may have; None: as many as there is room for.
        sample: Samples turns; the default one wants whole weights in each process, and no vLLM.
        read_turn: What a model wrote, in tokens without the last one, as an action for `ToolEnv.step`; None:
            its text. For a model that writes calls in a form of its own, give one that reads them.

    Raises:
        UnknownNameError: There is no such environment, or it has no such argument.
    """

    def __init__(
        self,
        env_id: str,
        kwargs: Mapping[str, Json],
        *,
        agent: str = "trl",
        out: str | Path | None = None,
        retries: int = 2,
        turn_tokens: int | None = None,
        sample: Sampler = sample_turns,
        read_turn: Callable[[list[int]], Json] | None = None,
    ) -> None:
        self._env_id, self._kwargs, self._agent = env_id, dict(kwargs), agent
        self._out, self._retries, self._turn_tokens = out, retries, turn_tokens
        self._sample, self._read_turn = sample, read_turn
        self._example = unwrap(make_env(env_id, kwargs))  # of which no episode is played

    def __call__(self, prompts: list[Any], trainer: GRPOTrainer) -> dict[str, list[Any]]:
        """Play the episodes of a batch; see TRL's `rollout_func`.

        Raises:
            UsageError: A prompt is of no row of `make_dataset` for this environment, the model cannot be
                sampled from here, or a first prompt leaves no room in its context.
            InfrastructureError: All episodes failed.
        """
        rows = [row_of_prompt(prompt, self._env_id, self._kwargs) for prompt in prompts]
        version = PolicyVersion(version=f"step-{trainer.state.global_step}", number=trainer.state.global_step)
        results = _run(self._play(rows, trainer, version))
        self._keep(results, trainer)
        samples = [_to_sample(result, trainer.processing_class.eos_token_id) for result in results]
        return {
            **{field: [getattr(sample, field) for sample in samples] for field in _Sample._fields},
            "policy_version": [version.version] * len(samples),
        }

    async def _play(
        self, rows: list[EpisodeRow], trainer: GRPOTrainer, version: PolicyVersion
    ) -> list[Trajectory | FailedAttempt]:
        """Play all episodes at once; raises the first mistake."""
        tasks = self._example.domain.tasks
        planned = [
            PlannedEpisode(tasks.index(row.task_id), seat, row.seed, seat) for seat, row in enumerate(rows)
        ]
        turns = Turns(lambda prompts, limit: self._sample(trainer, prompts, limit), len(rows))
        policy = _Model(self._agent, trainer, turns, self._turn_tokens, self._read_turn)
        work = Work(
            env_id=self._env_id,
            kwargs=self._kwargs,
            policy=policy,
            versions=Versions(version),
            concurrency=len(rows),
            retries=self._retries,
            deadline=None,
        )
        with closing(LocalPlayer(work)) as player:
            results = await asyncio.gather(
                *(_attempt(player, episode, self._retries, turns) for episode in planned)
            )
        failed = [result for result in results if isinstance(result, FailedAttempt)]
        for attempt in failed:
            if attempt.mistake is not None:
                raise attempt.mistake
            _log.warning("no reward: %s", attempt.failure.message)
        if len(failed) == len(rows):
            raise InfrastructureError(f"All {len(rows)} episodes failed: {failed[0].failure.message}")
        return results

    def _keep(self, results: list[Trajectory | FailedAttempt], trainer: GRPOTrainer) -> None:
        if self._out is None:
            return
        mode = "train" if trainer.model.training else "eval"
        records = [result for result in results if isinstance(result, Trajectory)]
        folder = Path(self._out) / f"{mode}-{trainer.accelerator.process_index}"
        with closing(TrajectoryWriter(folder, sync_every=max(1, len(records)))) as writer:
            for record in records:
                writer.append(record)


def _run(work: Coroutine[Any, Any, _T]) -> _T:
    """What a coroutine returns; in a thread of its own where an event loop runs already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def _attempt(
    player: Player, planned: PlannedEpisode, retries: int, turns: Turns
) -> Trajectory | FailedAttempt:
    """Play an episode until it has a record, may not be tried again, or showed a mistake."""
    try:
        for number in range(1, retries + 1):
            result = await player.attempt(planned, number)
            if isinstance(result, Trajectory) or result.mistake is not None:
                return result
        return await player.attempt(planned, retries + 1)
    finally:
        turns.leave()


# --- What TRL gets


class _Sample(NamedTuple):
    """A completion; the fields' names are those of what a `rollout_func` returns."""

    prompt_ids: list[int]
    completion_ids: list[int]
    logprobs: list[float]
    env_mask: list[int]
    episode_reward: float | None
    episode_status: str


def _to_sample(result: Trajectory | FailedAttempt, end: int) -> _Sample:
    if isinstance(result, FailedAttempt):  # TRL wants a token
        return _Sample([end], [end], [0.0], [0], None, "infrastructure")
    (sequence,) = to_tokens(result)  # a prompt always goes on with all that was before
    start = next(n for n, version in enumerate(sequence.versions) if version != NOT_SAMPLED)
    return _Sample(
        list(sequence.input_ids[:start]),
        list(sequence.input_ids[start:]),
        list(sequence.logprobs[start:]),
        list(sequence.loss_mask[start:]),
        sequence.reward,
        result.outcome.status,
    )


# --- The trainer's model as a policy


class _Model:
    """An `EpisodePolicy` that samples from the trainer's model."""

    def __init__(
        self,
        name: str,
        trainer: GRPOTrainer,
        turns: Turns,
        turn_tokens: int | None,
        read_turn: Callable[[list[int]], Json] | None,
    ) -> None:
        self.name, self.turns, self.turn_tokens = name, turns, turn_tokens
        tokenizer = trainer.processing_class
        self.ends = frozenset(trainer.eos_token_ids)
        self.chat = GrowingChat(tokenizer, trainer.eos_token_ids, trainer.chat_template_kwargs)
        self.read_turn = read_turn or tokenizer.decode
        self.completion: int = trainer.max_completion_length
        self.context: int = trainer.model.config.get_text_config().max_position_embeddings
        self.setting = PolicySetting(
            reference_policy=_name_reference(trainer),
            sampling=Sampling(
                temperature=trainer.temperature, top_p=trainer.top_p, seed=None, stop=self.chat.ends
            ),
            tokenizer=_sha256(tokenizer.backend_tokenizer.to_str()),
            chat_template=_sha256(tokenizer.chat_template),
        )

    def begin(self, env: ToolEnv, observation: Observation, key: int) -> Policy:  # noqa: ARG002 - seats are all it needs
        """See `EpisodePolicy.begin`; the key is the number of the episode in its batch."""
        return _ModelEpisode(self, key)


class _ModelEpisode:
    """One episode of it, which goes on with the very tokens that were sampled."""

    def __init__(self, model: _Model, seat: int) -> None:
        self.name, self.setting = model.name, model.setting
        self._model, self._seat = model, seat
        self._ids: list[int] = []
        self._begins = 0  # where the completion does

    async def act(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> PolicyOutput:
        """See `Policy.act`."""
        model = self._model
        if self._ids:
            self._ids += model.chat.go_on(since_last_turn(messages))
        else:
            self._ids = model.chat.begin(messages, tools)
            self._begins = len(self._ids)
        room = self._room()
        if room <= 0:
            return PolicyOutput(action=None, finish="context")
        prompt = list(self._ids)
        drawn = await model.turns.draw(self._seat, prompt, room)
        self._ids += drawn.token_ids
        has_ended = drawn.token_ids[-1] in model.ends
        return PolicyOutput(
            action=model.read_turn(drawn.token_ids[: len(drawn.token_ids) - has_ended]),
            tokens=Tokens(
                prompt_token_ids=tuple(prompt),
                token_ids=tuple(drawn.token_ids),
                logprobs=tuple(drawn.logprobs),
            ),
            finish="stop" if has_ended else "length",
        )

    def _room(self) -> int:
        """How many tokens the next turn may have."""
        model, size = self._model, len(self._ids)
        if size >= model.context and size == self._begins:
            raise UsageError(f"The first prompt has {size} tokens, but the model's context {model.context}.")
        rest = min(self._begins + model.completion, model.context) - size
        return rest if model.turn_tokens is None else min(rest, model.turn_tokens)


def _name_reference(trainer: GRPOTrainer) -> str | None:
    """The version that TRL takes the KL divergence against."""
    if trainer.beta == 0.0:
        return None
    if trainer.args.sync_ref_model:
        return f"step-0, mixed with the policy every {trainer.args.ref_model_sync_steps} steps"
    return "step-0"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
