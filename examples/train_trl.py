"""Trains a language model to serve a store, by TRL's GRPO on the reward at the end of episodes alone.

    python examples/train_trl.py --model Qwen/Qwen3-0.6B --output_dir runs/trl --max_steps 200 \
        --per_device_train_batch_size 8 --num_generations 8 --max_completion_length 4096

Options are those of `GRPOConfig`, too. The model calls tools and talks to customers turn by turn; records of
all episodes, with the version of the model that wrote them, are kept in the output folder. Wants
`pip install -e '.[trl]'`.
"""

import os
from dataclasses import dataclass

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # TRL calls rollout functions experimental

from trl import GRPOConfig, GRPOTrainer, TrlParser

from tool_envs.integrations.trl_rollouts import EpisodeRollout, episode_reward
from tool_envs.integrations.trl_rows import make_dataset

ENV_ID = "tool_envs/Retail-v0"


@dataclass
class Options:
    """What is trained, and on what."""

    model: str
    difficulty: int = 1
    tasks: int = 1000  # of the training split
    turn_tokens: int = 256


def main() -> None:
    """Train."""
    options, config = TrlParser((Options, GRPOConfig)).parse_args_and_config()
    kwargs = {"split": "train", "difficulty": options.difficulty}
    rollout = EpisodeRollout(
        ENV_ID, kwargs, out=f"{config.output_dir}/records", turn_tokens=options.turn_tokens
    )
    trainer = GRPOTrainer(
        options.model,
        args=config,
        train_dataset=make_dataset(ENV_ID, kwargs, range(options.tasks), seed=config.seed),
        rollout_func=rollout,
        reward_funcs=episode_reward,
    )
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
