"""Gymnasium spaces of the JSON view: tool calls as actions, messages as observations."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Space

from tool_envs.errors import UsageError
from tool_envs.json_values import is_json
from tool_envs.messages import Json
from tool_envs.schema import ToolSchema
from tool_envs.schema.sampling import sample_text, sample_value

_ROLES = ("user", "tool")
_MESSAGE_KEYS = {"role", "name", "content"}
_CALL_KEYS = {"name", "arguments"}


class _JsonSpace(Space[dict[str, Json]]):
    """What both spaces share: no shape, no flattening, samples that are JSON already."""

    def __init__(self, seed: int | np.random.Generator | None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Always False."""
        return False

    def to_jsonable(self, sample_n: Iterable[dict[str, Json]]) -> list[Json]:
        """The samples themselves: they are JSON values."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Json]) -> list[dict[str, Json]]:
        """The values themselves."""
        return list(sample_n)

    def _draw(self, n: int) -> int:
        # Raw 64-bit numbers: numpy promises that these never change, unlike what its Generator makes of them.
        return (int(self.np_random.bit_generator.random_raw()) * n) >> 64


class ToolCallSpace(_JsonSpace):
    """All valid calls `{"name": str, "arguments": dict}` of a tool schema; `respond` is one of its tools.

    Args:
        schema: The tools.
        seed: Seed or generator of `sample`.
    """

    def __init__(self, schema: ToolSchema, seed: int | np.random.Generator | None = None) -> None:
        self.schema = schema
        super().__init__(seed)

    def sample(
        self,
        mask: npt.NDArray[np.int8] | None = None,
        probability: npt.NDArray[np.float64] | None = None,
    ) -> dict[str, Json]:
        """A random valid call: a tool first, all tools alike, then its arguments.

        Args:
            mask: int8 array over the tools in the order of `schema.tools`: 1 for those that may be chosen.
            probability: float64 array over the tools in that order, with sum 1; not together with `mask`.

        Raises:
            UsageError: The mask or the probabilities are not as said, or the schema cannot be sampled.
        """
        tool = list(self.schema.tools.values())[self._choose(mask, probability)]
        return {"name": tool.name, "arguments": sample_value(tool.parameters, self._draw)}

    def _choose(self, mask: npt.NDArray[np.int8] | None, probability: npt.NDArray[np.float64] | None) -> int:
        if mask is not None and probability is not None:
            raise UsageError("Give `mask` or `probability`, not both.")
        if mask is not None:
            _check_array("mask", mask, np.int8, len(self.schema.tools))
            if not ((mask == 0) | (mask == 1)).all() or not mask.any():
                raise UsageError(f"`mask` must hold 0 and 1, and at least one 1; got {mask.tolist()}.")
            allowed = np.flatnonzero(mask)
            return int(allowed[self._draw(len(allowed))])
        if probability is not None:
            _check_array("probability", probability, np.float64, len(self.schema.tools))
            if not ((probability >= 0).all() and np.isclose(probability.sum(), 1)):
                raise UsageError(
                    f"`probability` must hold numbers >= 0 that sum to 1; got {probability.tolist()}."
                )
            return self._choose_weighted(probability)
        return self._draw(len(self.schema.tools))

    def _choose_weighted(self, probability: npt.NDArray[np.float64]) -> int:
        possible = np.flatnonzero(probability)
        point = self._draw(1 << 53) / (1 << 53)
        place = int(np.searchsorted(np.cumsum(probability[possible]), point, side="right"))
        return int(possible[min(place, len(possible) - 1)])

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - any object may be asked about
        """Whether `x` is a valid call; never raises."""
        if type(x) is not dict or len(x) != 2 or x.keys() != _CALL_KEYS or type(x["name"]) is not str:
            return False
        tool = self.schema.tools.get(x["name"])
        return tool is not None and tool.accepts(x["arguments"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCallSpace) and self.schema == other.schema

    def __repr__(self) -> str:
        return f"ToolCallSpace({self.schema.domain} {self.schema.version}, {len(self.schema.tools)} tools)"


class MessageSpace(_JsonSpace):
    """All messages `{"role": "user" or "tool", "name": str, "content": str}`; texts may be any Unicode.

    Args:
        seed: Seed or generator of `sample`.
    """

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(seed)

    def sample(self, mask: None = None, probability: None = None) -> dict[str, Json]:
        """A random short message, now and then with characters outside of ASCII.

        Raises:
            UsageError: A mask or probabilities were given; there is nothing that they could mean.
        """
        if mask is not None or probability is not None:
            raise UsageError("MessageSpace.sample takes neither `mask` nor `probability`.")
        role = _ROLES[self._draw(len(_ROLES))]
        return {
            "role": role,
            "name": sample_text(self._draw, 1, 8),
            "content": sample_text(self._draw, 0, 32),
        }

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - any object may be asked about
        """Whether `x` is such a message; never raises."""
        if type(x) is not dict or x.keys() != _MESSAGE_KEYS:
            return False
        texts = (x["role"], x["name"], x["content"])
        return all(type(text) is str and is_json(text) for text in texts) and x["role"] in _ROLES

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageSpace)

    def __repr__(self) -> str:
        return "MessageSpace()"


def _check_array(name: str, array: object, dtype: type, length: int) -> None:
    if not (isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == (length,)):
        wanted = f"a numpy array of {dtype.__name__} and shape ({length},)"
        got = (
            f"{array.dtype} and shape {array.shape}"
            if isinstance(array, np.ndarray)
            else type(array).__name__
        )
        raise UsageError(f"`{name}` must be {wanted}, one number per tool; got {got}.")
