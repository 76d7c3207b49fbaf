"""Learns to serve a store with sb3-contrib; `python examples/train_sb3.py [CHOICES]`."""

import sys

import gymnasium
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.integrations.sb3 import GymnasiumVecEnv


def make(split: str) -> VecMonitor:
    """Many episodes at once, as Stable-Baselines3 takes them."""
    kind = {"difficulty": 1, "observation": "features", "split": split, "autoreset_mode": "SameStep"}
    return VecMonitor(GymnasiumVecEnv(gymnasium.make_vec("tool_envs/RetailArray-v0", num_envs=256, **kind)))


model = MaskablePPO("MultiInputPolicy", make("train"), n_steps=32, batch_size=2048, n_epochs=4, verbose=1)
model.learn(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
success, _ = evaluate_policy(model, make("test"), n_eval_episodes=256, deterministic=False)
print(f"held-out tasks: success {success:.3f}")
