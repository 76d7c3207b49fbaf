"""Learns to serve a store with sb3-contrib; `python examples/train_sb3.py [CHOICES]`."""

import sys

import gymnasium
from gymnasium.vector import AutoresetMode
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.integrations.sb3 import GymnasiumVecEnv

ENVS = {"id": "tool_envs/RetailArray-v0", "num_envs": 64, "difficulty": 1, "observation": "features"}
MODE = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": AutoresetMode.SAME_STEP}}
train, test = (
    VecMonitor(GymnasiumVecEnv(gymnasium.make_vec(split=split, **ENVS, **MODE)))
    for split in ("train", "test")
)
model = MaskablePPO("MultiInputPolicy", train, n_steps=32, batch_size=512, n_epochs=4, verbose=1)
model.learn(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
success, _ = evaluate_policy(model, test, n_eval_episodes=256, deterministic=False)
print(f"held-out tasks: success {success:.3f}")
