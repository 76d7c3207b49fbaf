"""The database of an episode: shared base data, and what this episode changed (copy on write)."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from tool_envs.canonical import canonical_json, digest

Record: TypeAlias = Any
"""A JSON object. A record is never changed after it was put: an update puts a new record."""

Snapshot: TypeAlias = dict[tuple[str, str], Record]
"""What an episode had changed at some moment; give it back to `Database.restore` only."""


class BaseData:
    """The tables that all episodes start from: read-only, shared, loaded once.

    Args:
        tables: Table name -> key -> record. The caller hands them over and changes nothing afterwards.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        self.tables = tables
        self._digest: str | None = None

    @property
    def digest(self) -> str:
        """Digest of all tables (computed once, when first asked for)."""
        if self._digest is None:
            self._digest = digest(self.tables)
        return self._digest


class Database:
    """Copy-on-write view of a `BaseData`: one episode's own state is a flat dict of the records that it put.

    Reading costs one dict look-up more than the base data; `snapshot` and `restore` copy that flat dict.
    """

    __slots__ = ("_changed", "base")

    def __init__(self, base: BaseData) -> None:
        self.base = base
        self._changed: Snapshot = {}

    def get(self, table: str, key: str) -> Record | None:
        """The record, or None.

        Raises:
            KeyError: There is no such table.
            TypeError: `key` is not hashable.
        """
        record = self._changed.get((table, key))
        return self.base.tables[table].get(key) if record is None else record

    def put(self, table: str, key: str, record: Record) -> None:
        """Store a new record, or a new version of one; neither it nor what it holds may change afterwards."""
        if table not in self.base.tables:
            raise KeyError(table)
        self._changed[(table, key)] = record

    def items(self, table: str) -> Iterator[tuple[str, Record]]:
        """All (key, record) of a table: the base data's keys in their order, then new keys in theirs."""
        base = self.base.tables[table]
        changed = self._changed
        for key, record in base.items():
            yield key, changed.get((table, key), record)
        for (name, key), record in list(changed.items()):
            if name == table and key not in base:
                yield key, record

    @property
    def changed(self) -> Mapping[tuple[str, str], Record]:
        """The records put in this episode, by (table, key); some may equal their base record."""
        return self._changed

    def snapshot(self) -> Snapshot:
        """The state now, for `restore`."""
        return self._changed.copy()

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to the state of a snapshot, which stays usable."""
        self._changed = snapshot.copy()

    def digest(self) -> str:
        """Digest of the whole state: of the base data and of the records that differ from it.

        Equal states have equal digests, whichever way they were reached.
        """
        changes = []
        for (table, key), record in sorted(self._changed.items(), key=lambda item: item[0]):
            base = self.base.tables[table].get(key)
            if base is None or canonical_json(base) != canonical_json(record):
                changes.append([table, key, record])
        return digest({"base": self.base.digest, "changes": changes})
