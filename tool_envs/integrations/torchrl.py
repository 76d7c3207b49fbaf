"""TorchRL: a vectorized array view as a batched environment whose random actions obey the masks.

    envs = gymnasium.make_vec("tool_envs/RetailArray-v0", num_envs=256, autoreset_mode="Disabled")
    rollout = masked_env(envs).rollout(100, break_when_any_done=False)

A policy takes masks from the key `action_mask` of what it is shown: `MaskedCategorical` with
`in_keys={"logits": "logits", "mask": "action_mask"}`.
"""

from typing import Any

import torch
from gymnasium.spaces import MultiDiscrete
from gymnasium.vector import AutoresetMode, VectorEnv
from torchrl.data import MultiCategorical
from torchrl.envs import ActionMask, Compose, DTypeCastTransform, GymWrapper, TransformedEnv

from tool_envs.errors import UsageError


def masked_env(envs: VectorEnv[Any, Any, Any]) -> TransformedEnv:
    """An environment of TorchRL with the batch size `(num_envs,)`.

    Actions are int64, of shape `(num_envs,)` or `(num_envs, dimensions)`; `action_mask` is bool.

    Args:
        envs: Its mode of autoreset is `Disabled`: TorchRL resets the lanes whose episodes have ended.

    Raises:
        UsageError: It resets itself.
    """
    mode = envs.metadata.get("autoreset_mode")
    if mode is not AutoresetMode.DISABLED:
        raise UsageError(
            f"TorchRL resets lanes itself; the environment needs the `autoreset_mode` Disabled, not {mode}."
        )
    env = GymWrapper(envs, categorical_action_encoding=True)
    if isinstance(envs.single_action_space, MultiDiscrete):
        # Gymnasium makes a Box of a batch of these, and TorchRL has no masks for that.
        sizes = envs.single_action_space.nvec
        env.action_spec = MultiCategorical(
            torch.as_tensor(sizes), shape=(envs.num_envs, len(sizes)), dtype=torch.int64
        )
    as_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    return TransformedEnv(env, Compose(as_bool, ActionMask()))
