"""Stable-Baselines3 and sb3-contrib: a `VecEnv` over a vectorized array view, with action masks.

    envs = gymnasium.make_vec("tool_envs/RetailArray-v0", num_envs=256, autoreset_mode="SameStep")
    model = MaskablePPO("MultiInputPolicy", GymnasiumVecEnv(envs))

Stable-Baselines3's own `make_vec_env` steps one environment after the other in Python; this adapter hands on
whole arrays.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from tool_envs.errors import UsageError

_MASK, _MASKS = "action_mask", "action_masks"


class GymnasiumVecEnv(VecEnv):
    """A vector environment of Gymnasium as Stable-Baselines3 knows them.

    `step` gives float32 rewards and, for each lane, an info. Infos are empty but for those of lanes whose
    episode ended, which have

    * `terminal_observation`: the last observation of the episode (`step` returns the next one's first);
    * `TimeLimit.truncated`: whether it was cut short, so that its last value counts;
    * `is_success`: whether it ended with a reward above 0, if the environment's own infos have `success`;
    * what else the environment's own last info has.

    `env_method("action_masks")`, which MaskablePPO calls, gives the masks of the last observation. Lanes have
    no other methods and no attributes of their own.

    Args:
        envs: Its observations are a `Dict` with the key `action_mask`, its mode of autoreset is `SameStep`,
            and what it gives is not overwritten by its next step.

    Raises:
        UsageError: `envs` has no masks, or resets itself in another way.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        space = envs.single_observation_space
        if not (isinstance(space, gymnasium.spaces.Dict) and _MASK in space.spaces):
            raise UsageError(
                f"Observations need to be a `Dict` with the key `{_MASK}`, not of {space!r:.200}."
            )
        mode = envs.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.SAME_STEP:
            raise UsageError(
                "Stable-Baselines3 takes the last observation of an episode and the first of the next from "
                f"one step; make the environment with the `autoreset_mode` SameStep, not {mode}."
            )
        self.envs = envs
        self._masks: npt.NDArray[np.bool_] | None = None
        self._actions: npt.NDArray[Any] | None = None
        super().__init__(envs.num_envs, space, envs.single_action_space)

    def reset(self) -> Any:  # noqa: ANN401 - a dict of arrays, which Stable-Baselines3 types more widely
        """Start an episode in each lane, with what `seed` and `set_options` were given before.

        Raises:
            UsageError: The lanes were given different options.
        """
        options = self._options[0]
        if any(other != options for other in self._options):
            raise UsageError(f"Options hold for all lanes; got different ones: {self._options!r:.200}.")
        # Lane i gets the seed of lane 0 plus i, here as there.
        observations, infos = self.envs.reset(seed=self._seeds[0], options=options or None)
        self.reset_infos = [_info_of(infos, lane) for lane in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        self._keep_masks(observations)
        return observations

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Set down the actions, shape `(num_envs,)` or `(num_envs, dimensions)`, for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Take the step; see the class for what it returns."""
        observations, rewards, terminations, truncations, infos = self.envs.step(self._actions)
        dones = np.logical_or(terminations, truncations)
        lanes: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for lane in np.flatnonzero(dones).tolist():
            lanes[lane] = {
                **_last_info(infos.get("final_info", {}), lane),
                "terminal_observation": infos["final_obs"][lane],
                "TimeLimit.truncated": bool(truncations[lane] and not terminations[lane]),
            }
        self._keep_masks(observations)
        return observations, rewards.astype(np.float32), dones, lanes

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """What can be chosen now: bool of shape `(num_envs, choices)`.

        Raises:
            UsageError: There was no `reset` yet.
        """
        if self._masks is None:
            raise UsageError("There are no masks before the first `reset`.")
        return self._masks

    def close(self) -> None:
        """Close the environment."""
        self.envs.close()

    def env_method(
        self,
        method_name: str,
        *method_args: Any,  # noqa: ANN401 - as in `VecEnv`
        indices: VecEnvIndices = None,
        **method_kwargs: Any,  # noqa: ANN401 - as in `VecEnv`
    ) -> list[Any]:
        """The mask of each lane, for the method `action_masks`.

        Raises:
            AttributeError: It is another method.
        """
        if method_name != _MASKS or method_args or method_kwargs:
            raise AttributeError(f"Lanes have the method `{_MASKS}()`, and no method `{method_name}`.")
        masks = self.action_masks()
        return [masks[lane] for lane in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of the vector environment, once for each lane."""
        value = self.action_masks if attr_name == _MASKS else getattr(self.envs, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(
        self,
        attr_name: str,
        value: object,  # noqa: ARG002 - as in `VecEnv`
        indices: VecEnvIndices = None,  # noqa: ARG002 - as in `VecEnv`
    ) -> None:
        """Refused: lanes have no attributes of their own.

        Raises:
            AttributeError: Always.
        """
        raise AttributeError(f"Lanes have no attributes of their own; `{attr_name}` stays as it is.")

    def env_is_wrapped(
        self,
        wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]],  # noqa: ARG002 - as in `VecEnv`
        indices: VecEnvIndices = None,
    ) -> list[bool]:
        """No lane is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def _get_indices(self, indices: VecEnvIndices) -> Iterable[int]:
        lanes: Iterable[int] = super()._get_indices(indices)
        return lanes

    def _keep_masks(self, observations: Mapping[str, npt.NDArray[Any]]) -> None:
        self._masks = observations[_MASK].astype(np.bool_)


def _last_info(infos: Mapping[str, Any], lane: int) -> dict[str, Any]:
    info = _info_of(infos, lane)
    return info | {"is_success": bool(info["success"] > 0)} if "success" in info else info


def _info_of(infos: Mapping[str, Any], lane: int) -> dict[str, Any]:
    """One lane's share of infos in Gymnasium's form: an array for each key, with a mask `_key` beside it."""
    return {key: infos[key][lane] for key in infos if f"_{key}" in infos and infos[f"_{key}"][lane]}
