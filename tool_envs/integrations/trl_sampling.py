"""Turns sampled from a TRL trainer's model, those of all episodes together. Needs the extra `[trl]`."""

import asyncio
import copy
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch
from torch.nn.utils.rnn import pad_sequence
from trl import GRPOTrainer
from trl.models import unwrap_model_for_generation

from tool_envs.errors import UsageError


class Drawn(NamedTuple):
    """What was sampled after a prompt: tokens, the one that ended it too, and their log-probabilities."""

    token_ids: list[int]
    logprobs: list[float]


Sampler: TypeAlias = Callable[[GRPOTrainer, list[list[int]], int], list[Drawn]]
"""`(trainer, prompts in tokens, at most so many tokens) -> what was sampled after each`."""


def sample_turns(trainer: GRPOTrainer, prompts: list[list[int]], limit: int) -> list[Drawn]:
    """Sample from the trainer's model by `generate`, with the trainer's settings.

    The scores of a batch are held in memory until it ends: 4 bytes for each prompt, sampled token and token
    of the vocabulary.

    Raises:
        UsageError: The trainer's process has not the whole model at hand: vLLM samples, or it is sharded.
    """
    for name in ("use_vllm", "is_fsdp_enabled", "is_deepspeed_enabled"):
        if getattr(trainer, name):
            raise UsageError(f"Expected a trainer with its whole model at hand; this one has {name}=True.")
    device = trainer.accelerator.device
    given = [torch.tensor(prompt) for prompt in prompts]
    pad = trainer.processing_class.pad_token_id
    config = copy.deepcopy(trainer.generation_config)
    config.update(max_new_tokens=limit, return_dict_in_generate=True, output_scores=True)
    with (
        unwrap_model_for_generation(
            trainer.model_wrapped,
            trainer.accelerator,
            generation_kwargs=trainer.generation_kwargs,
            gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
        ) as model,
        torch.no_grad(),
    ):
        made = model.generate(
            input_ids=pad_sequence(given, True, pad, "left").to(device),
            attention_mask=pad_sequence([torch.ones_like(row) for row in given], True, 0, "left").to(device),
            generation_config=config,
        )
    ids = made.sequences[:, -len(made.scores) :]
    logprobs = [
        torch.log_softmax(scores.float(), -1).gather(1, ids[:, place, None])
        for place, scores in enumerate(made.scores)
    ]
    ends = set(trainer.eos_token_ids)
    rows = zip(ids.tolist(), torch.cat(logprobs, 1).tolist(), strict=True)
    return [_until_end(Drawn(*row), ends) for row in rows]


def _until_end(drawn: Drawn, ends: set[int]) -> Drawn:
    """What comes after the end is padding."""
    size = next((n for n, number in enumerate(drawn.token_ids, 1) if number in ends), len(drawn.token_ids))
    return Drawn(drawn.token_ids[:size], drawn.logprobs[:size])


class Turns:
    """Samples the turns of all episodes of a batch together, once each of those that run waits for one.

    So what is sampled together does not depend on how long users or tools take.
    """

    def __init__(self, sample: Callable[[list[list[int]], int], list[Drawn]], running: int) -> None:
        self._sample, self._running = sample, running
        self._waiting: dict[int, tuple[list[int], int, asyncio.Future[Drawn]]] = {}

    async def draw(self, seat: int, prompt: list[int], room: int) -> Drawn:
        """A turn of the episode at a seat: at most `room` tokens after a prompt."""
        future: asyncio.Future[Drawn] = asyncio.get_running_loop().create_future()
        self._waiting[seat] = prompt, room, future
        self._serve()
        return await future

    def leave(self) -> None:
        """One of the episodes is over."""
        self._running -= 1
        self._serve()

    def _serve(self) -> None:
        if not self._waiting or len(self._waiting) < self._running:
            return
        # One that was cancelled waits no more: another episode showed a mistake.
        waiting = [each for _, each in sorted(self._waiting.items()) if not each[2].done()]
        self._waiting.clear()
        if not waiting:
            return
        try:
            turns = self._sample([prompt for prompt, _, _ in waiting], max(room for _, room, _ in waiting))
        except Exception as mistake:
            for _, _, future in waiting:
                future.set_exception(mistake)
            return
        for (_, room, future), drawn in zip(waiting, turns, strict=True):
            future.set_result(Drawn(drawn.token_ids[:room], drawn.logprobs[:room]))
