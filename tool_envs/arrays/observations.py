"""The two kinds of observations: tables, or all of them as one vector of features."""

import math
from collections.abc import Mapping

import numpy as np
from gymnasium.spaces import Box, Dict

from tool_envs.array_view import ArrayView, Mask, Table
from tool_envs.errors import UsageError

ACTION_MASK, FEATURES = "action_mask", "features"

Observation = dict[str, Table]

# What `torch.nn.ModuleDict` has itself: libraries make one of it with a part for each key.
_NOT_FOR_TORCH = {"items", "keys", "values", "pop", "update", "clear", "train", "eval", "type", "forward"}


class TableObservations:
    """Observations with a key for each table, and `action_mask`.

    Args:
        view: The domain's tables.
        own: Tables beside those of the domain, as `view.shapes` and `view.fields` have them: name ->
            dtype and fields; they have no other axis.
        choices: What each index of the mask stands for.

    Attributes:
        fields: Key -> what stands along the last axis.

    Raises:
        UsageError: A table's name is taken, or there are not as many names of fields as fields.
    """

    def __init__(
        self, view: ArrayView, own: Mapping[str, tuple[str, tuple[str, ...]]], choices: tuple[str, ...]
    ) -> None:
        for name in view.shapes:
            if name in {*own, ACTION_MASK, FEATURES, *_NOT_FOR_TORCH}:
                raise UsageError(f"A table cannot be called `{name}`; give it another name.")
        forms = {**view.shapes, **{name: ((len(fields),), dtype) for name, (dtype, fields) in own.items()}}
        self.boxes = {name: _box(*form) for name, form in forms.items()}
        self.mask_box = _box((len(choices),), "int8")
        self.fields = {**view.fields, **{name: fields for name, (_, fields) in own.items()}}
        for name, box in self.boxes.items():
            if len(self.fields.get(name, ())) != box.shape[-1]:
                named = len(self.fields.get(name, ()))
                raise UsageError(f"The table `{name}` has {box.shape[-1]} fields, but names for {named}.")
        self.fields[ACTION_MASK] = choices

    def space(self) -> Dict:
        """The observation space: a `Dict` of `Box`, int8 of 0 and 1 or float32 from -1 to 1."""
        return Dict({**self.boxes, ACTION_MASK: self.mask_box})

    def pack(self, tables: Observation, mask: Mask) -> Observation:
        """The observation of fresh tables and a mask."""
        return {**tables, ACTION_MASK: mask.astype(np.int8)}

    def unpack(self, observation: Mapping[str, Table]) -> Observation:
        """The tables and the mask of an observation."""
        return dict(observation)


class FeatureObservations(TableObservations):
    """All tables in a row as one float32 vector `features`, and `action_mask`."""

    def space(self) -> Dict:
        """The observation space: `features` from -1 to 1, and `action_mask`."""
        size = sum(math.prod(box.shape) for box in self.boxes.values())
        return Dict({FEATURES: _box((size,), "float32"), ACTION_MASK: self.mask_box})

    def pack(self, tables: Observation, mask: Mask) -> Observation:
        """As `TableObservations.pack`."""
        features = np.concatenate([tables[name].ravel() for name in self.boxes], dtype=np.float32)
        return {FEATURES: features, ACTION_MASK: mask.astype(np.int8)}

    def unpack(self, observation: Mapping[str, Table]) -> Observation:
        """As `TableObservations.unpack`."""
        tables: Observation = {}
        rest = observation[FEATURES]
        for name, box in self.boxes.items():
            size = math.prod(box.shape)
            tables[name], rest = rest[:size].reshape(box.shape), rest[size:]
        return {**tables, ACTION_MASK: observation[ACTION_MASK]}


KINDS = {"tables": TableObservations, "features": FeatureObservations}
"""By the name that `observation=` takes."""


def _box(shape: tuple[int, ...], dtype: str) -> Box:
    if dtype == "int8":
        return Box(0, 1, shape, np.int8)
    return Box(-1, 1, shape, np.float32)
