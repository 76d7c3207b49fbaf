"""The copy-on-write database against a plain dict that is copied whole."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from tool_envs.database import BaseData, Database

TABLES = {"books": {"B1": {"n": 1}, "B2": {"n": 2}}, "loans": {}, "empty": {}}

TABLE = st.sampled_from(sorted(TABLES))
KEY = st.sampled_from(["B1", "B2", "B3", "", "\u00fc"])
RECORD = st.fixed_dictionaries(
    {"n": st.integers(1, 3)}, optional={"x": st.lists(st.text(max_size=2), max_size=2)}
)


def fresh():
    return Database(BaseData(copy.deepcopy(TABLES)))


def whole(database):
    return {table: dict(database.items(table)) for table in TABLES}


class DatabaseAgainstDict(RuleBasedStateMachine):
    """All databases of one run share a base; each has a dict that says what it should hold."""

    snapshots = Bundle("snapshots")

    def __init__(self):
        super().__init__()
        self.base = BaseData(copy.deepcopy(TABLES))
        self.database = Database(self.base)
        self.model = copy.deepcopy(TABLES)
        self.digests = {}

    @rule(table=TABLE, key=KEY, record=RECORD)
    def put(self, table, key, record):
        self.database.put(table, key, record)
        self.model[table][key] = copy.deepcopy(record)

    @rule(table=TABLE, key=KEY)
    def put_base_record_back(self, table, key):
        if key in TABLES[table]:
            self.put(table, key, copy.deepcopy(TABLES[table][key]))

    @rule(table=TABLE, key=KEY)
    def get(self, table, key):
        assert self.database.get(table, key) == self.model[table].get(key)

    @rule(target=snapshots)
    def snapshot(self):
        return self.database.snapshot(), copy.deepcopy(self.model)

    @rule(moment=snapshots)
    def restore(self, moment):
        self.database.restore(moment[0])
        self.model = copy.deepcopy(moment[1])

    @rule(moment=consumes(snapshots), target=snapshots)
    def restore_elsewhere(self, moment):
        self.database = Database(self.base)
        self.restore(moment)
        return multiple(moment)

    @invariant()
    def holds_what_it_should(self):
        assert whole(self.database) == self.model

    @invariant()
    def digest_stands_for_the_state(self):
        state = json.dumps(self.model, sort_keys=True)
        digest = self.digests.setdefault(state, self.database.digest())
        assert self.database.digest() == digest
        assert len(set(self.digests.values())) == len(self.digests)

    @invariant()
    def base_is_untouched(self):
        assert self.base.tables == TABLES


TestDatabaseAgainstDict = DatabaseAgainstDict.TestCase


def test_keys_keep_the_order_of_the_base_and_new_ones_theirs():
    database = fresh()
    for key in ("B9", "B2", "B3"):
        database.put("books", key, {"n": 7})

    assert [key for key, _ in database.items("books")] == ["B1", "B2", "B9", "B3"]


def test_two_databases_over_one_base_share_nothing_else():
    base = BaseData(TABLES)
    first, second = Database(base), Database(base)
    first.put("books", "B1", {"n": 9})

    assert second.get("books", "B1") == {"n": 1}
    assert first.digest() != second.digest() == Database(base).digest()


@given(st.dictionaries(st.tuples(TABLE, KEY), RECORD, max_size=5), st.randoms())
def test_the_digest_does_not_depend_on_the_way(changes, random):
    first, second = fresh(), fresh()
    for (table, key), record in changes.items():
        first.put(table, key, record)
    for (table, key), record in random.sample(sorted(changes.items(), key=repr), len(changes)):
        second.put(table, key, {"n": 3, "other": True})
        second.put(table, key, dict(reversed(record.items())))

    assert first.digest() == second.digest()


def test_the_digest_depends_on_the_base():
    other = Database(BaseData({**TABLES, "books": {}}))

    assert other.digest() != fresh().digest()


def test_only_what_was_put_counts_as_changed():
    database = fresh()
    database.get("books", "B1")
    database.put("loans", "L1", {"n": 1})

    assert dict(database.changed) == {("loans", "L1"): {"n": 1}}


@pytest.mark.parametrize("use", [Database.get, Database.items, Database.put])
def test_an_unknown_table_is_a_key_error(use):
    with pytest.raises(KeyError, match="boks"):
        {
            Database.get: lambda: fresh().get("boks", "B1"),
            Database.items: lambda: list(fresh().items("boks")),
            Database.put: lambda: fresh().put("boks", "B1", {}),
        }[use]()
