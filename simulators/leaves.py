"""Arguments of a write taken apart, so that texts can be compared with them: lists of objects by member."""

from collections.abc import Iterator, Mapping

from tool_envs.errors import UsageError
from tool_envs.messages import Json


def leaves_of(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Leaf -> its value.

    A list of objects becomes a list for each of their members, all else stays: `flights` of
    `[{"flight_number": "HAT001", "date": "2025-07-03"}]` becomes `flight_number` and `date`. Numbers in
    objects are no leaves: they are sums, of which a text names many others, too.
    """
    return {leaf: value for _, leaf, value in _parts(arguments)}


def owners_of(arguments: Mapping[str, Json]) -> dict[str, str]:
    """Leaf -> the argument that it is a part of.

    Raises:
        UsageError: Two arguments have a leaf of the same name.
    """
    owners: dict[str, str] = {}
    for name, leaf, _ in _parts(arguments):
        if owners.setdefault(leaf, name) != name:
            raise UsageError(f"The arguments {owners[leaf]!r} and {name!r} both have {leaf!r} in them.")
    return owners


def _parts(arguments: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    """Argument, leaf, value of the leaf."""
    for name, value in arguments.items():
        if not _holds_objects(value):
            yield name, name, value
            continue
        for member, first in value[0].items():
            if not isinstance(first, int | float):
                yield name, member, [one[member] for one in value]


def _holds_objects(value: Json) -> bool:
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], dict)
