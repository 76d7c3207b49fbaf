"""RLlib: a network for PPO that obeys the masks of the array view's `features`.

    config = (
        PPOConfig()
        .environment("tool_envs:tool_envs/RetailArray-v0", env_config={"observation": "features"})
        .env_runners(gym_env_vectorize_mode="vector_entry_point", num_envs_per_env_runner=256)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedModule))
    )

The id names the module to import, as other processes know of no environments before. RLlib expects
Gymnasium's usual autoreset, `NextStep`.
"""

from typing import Any

import gymnasium
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical, TorchMultiCategorical
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn

_IMPOSSIBLE = -1e9


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """A policy and a value with two layers in common, for `Discrete` and `MultiDiscrete` actions.

    Observations are a `Dict` with `features` and `action_mask`. `model_config={"hidden": 256}` is the layers'
    width.
    """

    def setup(self) -> None:
        """Make the layers; RLlib calls it."""
        (features,) = self.observation_space["features"].shape
        (choices,) = self.observation_space["action_mask"].shape
        hidden = (self.model_config or {}).get("hidden", 256)
        self.body = nn.Sequential(
            nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.policy, self.value = nn.Linear(hidden, choices), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)  # begins as a random choice of what is possible
        if isinstance(self.action_space, gymnasium.spaces.Discrete):
            self.action_dist_cls = TorchCategorical
        else:
            self.action_dist_cls = TorchMultiCategorical.get_partial_dist_cls(
                input_lens=self.action_space.nvec.tolist()
            )

    def compute_values(
        self,
        batch: dict[str, Any],
        embeddings: object = None,  # noqa: ARG002 - as in RLlib
    ) -> torch.Tensor:
        """Values of a batch of observations."""
        return self.value(self.body(batch[Columns.OBS]["features"])).squeeze(-1)

    def _forward(self, batch: dict[str, Any], **_: object) -> dict[str, torch.Tensor]:
        observation = batch[Columns.OBS]
        logits = self.policy(self.body(observation["features"]))
        impossible = observation["action_mask"] == 0
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(impossible, _IMPOSSIBLE)}
