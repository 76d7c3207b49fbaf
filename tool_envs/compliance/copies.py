"""Checks of snapshots, pickles and deep copies, and of the data that all episodes share."""

import copy
import hashlib
import io
import pickle

from tool_envs.compliance.episodes import expect_same, go_on, planned, play, say
from tool_envs.compliance.expectations import expect
from tool_envs.compliance.subject import Subject, unwrapped
from tool_envs.database import BaseData
from tool_envs.env import ToolEnv
from tool_envs.messages import Json

MAX_PICKLE = 100_000
"""Bytes that a pickled environment may have in the middle of an episode."""


def snapshot(subject: Subject) -> None:
    """An episode forks at every step, and every branch is what a fresh replay gives."""
    env, actions = subject.bare(), planned(subject, 1)
    expected = play(subject.bare(), 1, actions)[1:]
    env.reset(seed=1)
    moments = []
    for action in actions[: len(expected)]:
        moments.append(env.snapshot())
        env.step(action)
    for number in reversed(range(len(moments))):
        env.restore(moments[number])
        go_on(env, [say("No."), *actions])
        env.restore(moments[number])
        expect_same(expected[number:], go_on(env, actions[number:]), f"the fork at step {number}")


def restore_elsewhere(subject: Subject) -> None:
    """A snapshot goes on in a second environment, which shares nothing that changes with the first."""
    first, second = subject.bare(), subject.bare()
    actions = planned(subject, 2)
    expected = play(subject.bare(), 2, actions)[1:]
    half = len(expected) // 2
    first.reset(seed=2)
    go_on(first, actions[:half])
    moment = first.snapshot()
    second.restore(moment)
    expect_same(expected[half:], go_on(second, actions[half:]), "the second environment")
    second.restore(moment)
    go_on(second, [say("No."), *reversed(actions[: len(expected)])])
    expect_same(expected[half:], go_on(first, actions[half:]), "the first environment")


def pickled(subject: Subject) -> None:
    """A pickle goes on as the original does, in this episode and the next, and does not carry the data."""
    env, actions = subject.make(), planned(subject, 4)
    inner = unwrapped(env)
    env.reset(seed=4)
    go_on(inner, actions[:3])
    data = _pickle_without(inner.domain.base, env)
    expect(len(data) < MAX_PICKLE, f"the pickle has {len(data)} bytes, more than {MAX_PICKLE}")
    _expect_goes_on(inner, unwrapped(pickle.loads(data)), actions[3:])  # noqa: S301 - made above


def deep_copy(subject: Subject) -> None:
    """A deep copy goes on as the original does, in this episode and the next, and shares the data."""
    env, actions = subject.bare(), planned(subject, 4)
    env.reset(seed=4)
    go_on(env, actions[:3])
    copied = copy.deepcopy(env)
    expect(copied.domain is env.domain, "the copy has a domain of its own")
    _expect_goes_on(env, copied, actions[3:])


def _expect_goes_on(env: ToolEnv, copied: ToolEnv, actions: list[Json]) -> None:
    came = go_on(copied, actions)
    expect_same(go_on(env, actions), came, "the copy")
    expect_same([list(env.reset())], [list(copied.reset())], "the copy's next episode")


def _pickle_without(data: object, env: object) -> bytes:
    """The pickle of an environment; fails when the base data or a table of it goes in."""
    forbidden = {id(data), id(getattr(data, "tables", None))}
    forbidden |= {id(table) for table in getattr(data, "tables", {}).values()}

    class Pickler(pickle.Pickler):
        def persistent_id(self, value: object) -> None:
            expect(id(value) not in forbidden, "the pickle carries the base data")

    buffer = io.BytesIO()
    Pickler(buffer).dump(env)
    return buffer.getvalue()


def base_data_unchanged(subject: Subject) -> None:
    """No episode changes the data that all episodes start from."""
    env = subject.bare()
    before = _fingerprint(env.domain.base)
    for seed in range(5):
        play(env, seed, planned(subject, seed))
        expect(_fingerprint(env.domain.base) == before, f"the episode with seed {seed} changed the base data")


def _fingerprint(base: BaseData) -> str:
    """Digest of all records as they are now, whatever they are made of; a base may keep its own digest."""
    seen = hashlib.sha256()
    for name, table in base.tables.items():
        for key, record in table.items():
            seen.update(f"{name} {key} {record!r}\n".encode())
    return seen.hexdigest()


CHECKS = (snapshot, restore_elsewhere, pickled, deep_copy, base_data_unchanged)
