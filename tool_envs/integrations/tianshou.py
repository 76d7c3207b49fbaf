"""Tianshou: the compiled stepper as its vector environment, and a network that obeys the masks.

    envs = gymnasium.make_vec("tool_envs/RetailArray-v0", num_envs=256, autoreset_mode="Disabled", **kind)
    collector = Collector(algorithm, GymnasiumVectorEnv(envs))

`MaskedActor` is the `actor` of a `DiscreteActorPolicy`. Tianshou's own `DummyVectorEnv` takes environments of
`gymnasium.make` as they are; what it gives fits `MaskedActor` too.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from tianshou.data import Batch
from tianshou.env import BaseVectorEnv
from tianshou.utils.net.common import AbstractDiscreteActor, ModuleWithVectorOutput
from torch import nn

from tool_envs.errors import UsageError

_IMPOSSIBLE = -1e9

Ids = int | Sequence[int] | npt.NDArray[np.int64] | None
"""Numbers of lanes; None: all."""


class GymnasiumVectorEnv(BaseVectorEnv):
    """A vector environment of Gymnasium that can step some of its lanes alone, as Tianshou steps them.

    Observations are a `Batch` with a key for each of theirs.

    Args:
        envs: Its mode of autoreset is `Disabled`, and it has `step_subset` (see `tool_envs.arrays.vector`).

    Raises:
        UsageError: It resets itself, or cannot step some lanes alone.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        mode = envs.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.DISABLED:
            raise UsageError(
                f"Tianshou resets lanes itself; the environment needs `autoreset_mode` Disabled, not {mode}."
            )
        if not hasattr(envs.unwrapped, "step_subset"):
            raise UsageError(
                f"{envs} cannot step some lanes alone; use `DummyVectorEnv` of Tianshou instead."
            )
        # Not the base class's own, which makes an environment for each lane.
        self.envs: Any = envs
        self.env_num = envs.num_envs
        self.is_async = self.is_closed = False

    def get_env_attr(self, key: str, id: Ids = None) -> list[Any]:  # noqa: A002 - as in Tianshou
        """An attribute of each lane: its spaces, or what they have in common."""
        value = getattr(self.envs, f"single_{key}" if key.endswith("_space") else key)
        return [value for _ in self._ids(id)]

    def set_env_attr(self, key: str, value: object, id: Ids = None) -> None:  # noqa: A002, ARG002 - likewise
        """Refused: lanes have no attributes of their own.

        Raises:
            AttributeError: Always.
        """
        raise AttributeError(f"Lanes have no attributes of their own; `{key}` stays as it is.")

    def seed(self, seed: int | list[int | None] | None = None) -> list[int | None]:
        """Seed all lanes, which starts episodes: lane i with `seed + i`, or the i-th of a list."""
        self.envs.reset(seed=seed)
        if isinstance(seed, int):
            return [seed + lane for lane in range(self.env_num)]
        return seed or [None] * self.env_num

    def reset(self, env_id: Ids = None, **options: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as in Tianshou
        """Start episodes in some lanes; gives observations and infos of these."""
        ids = self._ids(env_id)
        if len(ids) < self.env_num:
            mask = np.zeros(self.env_num, np.bool_)
            mask[ids] = True
            options = {**options, "options": {**(options.get("options") or {}), "reset_mask": mask}}
        observation, infos = self.envs.reset(**options)
        return Batch({name: values[ids] for name, values in observation.items()}), _infos(infos, ids)

    def step(self, action: Any, id: Ids = None) -> tuple[Any, Any, Any, Any, Any]:  # noqa: A002, ANN401 - likewise
        """Take an action in some lanes; gives observations, rewards, two kinds of ends and infos of these."""
        ids = self._ids(id)
        observation, *rest, infos = self.envs.unwrapped.step_subset(ids, np.asarray(action))
        return Batch(observation), *rest, _infos(infos, ids)

    def close(self) -> None:
        """Close the environment."""
        self.envs.close()
        self.is_closed = True

    def _ids(self, ids: Ids) -> npt.NDArray[np.int64]:
        return np.arange(self.env_num) if ids is None else np.atleast_1d(np.asarray(ids, np.int64))


class MaskedActor(AbstractDiscreteActor):
    """Logits of all choices for observations with `features` and `action_mask`.

    Args:
        network: Gives a vector for `features`.
        choices: How many there are.
    """

    def __init__(self, network: ModuleWithVectorOutput, choices: int) -> None:
        super().__init__(choices)
        self.network = network
        self.last = nn.Linear(network.get_output_dim(), choices)
        nn.init.orthogonal_(self.last.weight, 0.01)  # begins as a random choice of what is possible

    def get_preprocess_net(self) -> ModuleWithVectorOutput:
        """The network before the last layer."""
        return self.network

    def forward(
        self,
        obs: Any,  # noqa: ANN401 - a batch of observations
        state: object = None,
        info: dict[str, Any] | None = None,  # noqa: ARG002 - as in Tianshou
    ) -> tuple[torch.Tensor, object]:
        """Logits, of shape (observations, choices), and the state as it came."""
        vectors, state = self.network(torch.as_tensor(obs.features), state)
        impossible = torch.as_tensor(obs.action_mask) == 0
        return self.last(vectors).masked_fill(impossible, _IMPOSSIBLE), state


def _infos(infos: dict[str, Any], ids: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
    """For each lane a dict, with its number as `env_id`."""
    known = [name for name in infos if f"_{name}" in infos]
    each = [{**{name: infos[name][lane] for name in known}, "env_id": lane} for lane in ids.tolist()]
    return np.array(each, object)
