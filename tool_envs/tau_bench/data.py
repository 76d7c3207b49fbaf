"""tau-bench's base data: indexes, texts made once, and tau-bench's state hash.

tau-bench hashes the text of the whole database: objects become sorted tuples of pairs, lists become tuples,
and everything else is written as Python writes it. So `1`, `1.0`, `True` and `"1"` all differ in it. Here
every record's text is made apart, and that of an untouched record only once.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import cast

from tool_envs.database import BaseData, Database, Record
from tool_envs.messages import Json

_LONG = 1200  # characters; a shorter text is written as quickly as it is put together


class TauData(BaseData):
    """The tables of one tau-bench domain.

    Args:
        tables: Table name -> key -> record.
        digest: Digest of the files that the tables were read from; None: digest of the tables themselves.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, Record]], digest: str | None = None) -> None:
        super().__init__(tables)
        self._digest = digest
        self._json_texts: dict[tuple[str, str], str] = {}
        self._hash_texts: dict[tuple[str, str], str] = {}
        self._part_texts: dict[tuple[Callable[[Json], str], str, str, str], str] = {}
        self._table_entries: dict[str, Mapping[str, str]] = {}
        self._table_texts: dict[str, str] = {}

    def json_text(self, table: str, key: str) -> str:
        """The JSON text of a base record, as tau-bench's tools write it."""
        text = self._json_texts.get((table, key))
        if text is None:
            text = self._json_texts[(table, key)] = json.dumps(self.tables[table][key])
        return text

    def hash_text(self, table: str, key: str) -> str:
        """The text of a base record in tau-bench's hash."""
        text = self._hash_texts.get((table, key))
        if text is None:
            text = self._hash_texts[(table, key)] = hashable_text(self.tables[table][key])
        return text

    def table_entries(self, table: str) -> Mapping[str, str]:
        """Key -> what a base record adds to the text of its table in the hash, sorted by key."""
        entries = self._table_entries.get(table)
        if entries is None:
            entries = {key: f"({key!r}, {self.hash_text(table, key)})" for key in sorted(self.tables[table])}
            self._table_entries[table] = entries
        return entries

    def table_text(self, table: str) -> str:
        """The text of a whole base table in the hash."""
        text = self._table_texts.get(table)
        if text is None:
            text = self._table_texts[table] = _tuple_text([*self.table_entries(table).values()])
        return text

    def changed_json_text(self, table: str, key: str, record: Record) -> str:
        """The JSON text of a changed record; of a long one the parts shared with the base are made once."""
        if key not in self.tables[table] or len(self.json_text(table, key)) < _LONG:
            return json.dumps(record)
        parts = [
            f"{encode_basestring_ascii(field)}: {self._part_text(json.dumps, table, key, field, value)}"
            for field, value in record.items()
        ]
        return f"{{{', '.join(parts)}}}"

    def changed_hash_text(self, table: str, key: str, record: Record) -> str:
        """The text of a changed record in the hash; parts shared with the base record are made once."""
        if key not in self.tables[table]:
            return hashable_text(record)
        parts = [
            f"({field!r}, {self._part_text(hashable_text, table, key, field, record[field])})"
            for field in sorted(record)
        ]
        return _tuple_text(parts)

    def _part_text(self, write: Callable[[Json], str], table: str, key: str, field: str, value: Json) -> str:
        base = self.tables[table][key]
        if field not in base or value is not base[field]:
            return write(value)
        place = (write, table, key, field)
        text = self._part_texts.get(place)
        if text is None:
            text = self._part_texts[place] = write(value)
        return text


class RetailData(TauData):
    """The tables `orders`, `products` and `users`. E-mails, names and products never change."""

    @cached_property
    def user_by_email(self) -> Mapping[str, str]:
        """E-mail in lower case -> id of the first user who has it."""
        found: dict[str, str] = {}
        for user_id, user in self.tables["users"].items():
            found.setdefault(user["email"].lower(), user_id)
        return found

    @cached_property
    def users_by_name(self) -> Mapping[str, Mapping[str, list[str]]]:
        """First name -> last name (both in lower case) -> ids of the users of that name, in their order."""
        found: dict[str, dict[str, list[str]]] = {}
        for user_id, user in self.tables["users"].items():
            first, last = user["name"]["first_name"].lower(), user["name"]["last_name"].lower()
            found.setdefault(first, {}).setdefault(last, []).append(user_id)
        return found

    @cached_property
    def product_list_text(self) -> str:
        """JSON text of all products: name -> product id, sorted by name."""
        ids = {product["name"]: product["product_id"] for product in self.tables["products"].values()}
        return json.dumps(dict(sorted(ids.items())))


class AirlineData(TauData):
    """The tables `flights`, `reservations` and `users`. Flights never change."""

    def __init__(self, tables: Mapping[str, Mapping[str, Record]], digest: str | None = None) -> None:
        super().__init__(tables, digest)
        self._flight_texts: dict[tuple[str, str, str | None], str] = {}

    @cached_property
    def flights_from(self) -> Mapping[str, Sequence[str]]:
        """Airport -> keys of the flights from there, in their order."""
        found: dict[str, list[str]] = {}
        for key, flight in self.tables["flights"].items():
            found.setdefault(flight["origin"], []).append(key)
        return found

    @cached_property
    def routes(self) -> Mapping[tuple[str, str], Sequence[str]]:
        """Origin and destination -> keys of the flights between them, in their order."""
        found: dict[tuple[str, str], list[str]] = {}
        for key, flight in self.tables["flights"].items():
            found.setdefault((flight["origin"], flight["destination"]), []).append(key)
        return found

    def flight_text(self, key: str, day: str, date: str | None = None) -> str:
        """The JSON text of a flight in a search: what is so every day, what is so on `day`, and `date`.

        Raises:
            KeyError: The flight has no such day.
        """
        text = self._flight_texts.get((key, day, date))
        if text is None:
            flight = self.tables["flights"][key]
            shown = {field: value for field, value in flight.items() if field != "dates"}
            shown |= flight["dates"][day]
            text = json.dumps(shown if date is None else {**shown, "date": date})
            self._flight_texts[(key, day, date)] = text
        return text


def hashable_text(value: Json) -> str:
    """The text of a JSON value inside of tau-bench's hash.

    Raises:
        RecursionError: The value is nested some hundred levels deep.
    """
    if isinstance(value, dict):
        return _tuple_text([f"({key!r}, {hashable_text(part)})" for key, part in sorted(value.items())])
    if isinstance(value, list):
        return _tuple_text([hashable_text(part) for part in value])
    return repr(value)


def changes(database: Database) -> dict[tuple[str, str], str]:
    """The hash texts of the records that differ from the base data.

    Two states over the same base data have equal state hashes exactly when their changes are equal.
    """
    base = cast("TauData", database.base)
    found = {}
    for (table, key), record in database.changed.items():
        text = base.changed_hash_text(table, key, record)
        if key not in base.tables[table] or text != base.hash_text(table, key):
            found[(table, key)] = text
    return found


def state_hash(database: Database) -> str:
    """tau-bench's hash of the whole database: sha256 in hexadecimal."""
    base = cast("TauData", database.base)
    changed = changes(database)
    tables = [f"({table!r}, {_table_text(base, table, changed)})" for table in sorted(base.tables)]
    return hashlib.sha256(_tuple_text(tables).encode()).hexdigest()


def _table_text(base: TauData, table: str, changed: Mapping[tuple[str, str], str]) -> str:
    entries = {key: f"({key!r}, {text})" for (name, key), text in changed.items() if name == table}
    if not entries:
        return base.table_text(table)
    entries = {**base.table_entries(table), **entries}
    return _tuple_text([entries[key] for key in sorted(entries)])


def _tuple_text(parts: Sequence[str]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
