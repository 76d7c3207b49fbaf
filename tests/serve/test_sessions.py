"""Sessions: what is recorded of them, when they end, and how many there can be."""

import asyncio

import pytest
import toy_domain
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import EpisodeEndedError, InfrastructureError, UnknownNameError, UsageError
from tool_envs.serve.sessions import (
    SessionGoneError,
    SessionInUseError,
    Sessions,
    TooManySessionsError,
    UnknownSessionError,
)
from tool_envs.trajectory import TrajectoryWriter, read_trajectories, replay
from tool_envs.trajectory.refs import AgentRef

AGENT = AgentRef(name="visitor", version="7")
TTL = 60.0


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def records(tmp_path):
    with TrajectoryWriter(tmp_path / "records") as writer:
        yield writer


@pytest.fixture
def sessions(records, clock):
    return Sessions(toy_domain.ENV_ID, {}, records=records, limit=3, ttl=TTL, clock=clock)


def reset(session, **kwargs):
    return asyncio.run(session.reset(AGENT, **kwargs))


def step(session, action="Hello."):
    return asyncio.run(session.step(action))


def recorded(records):
    return list(read_trajectories(records.path))


def ends(records):
    return [(each.outcome.status, each.outcome.reward, each.outcome.ended_by) for each in recorded(records)]


def test_an_episode_is_that_of_the_environment_itself(sessions, records):
    env, session = unwrap(make_env(toy_domain.ENV_ID, {})), sessions.open()
    where = {"seed": 3, "options": {"task_id": "where"}}

    assert reset(session, **where) == env.reset(**where)
    for action in ({"name": "get_book", "arguments": {"book_id": "B3"}}, {"name": "lend"}, "At Cellar-7."):
        assert step(session, action) == env.step(action)
    while env.outcome is None:
        assert step(session, "Goodbye.") == env.step("Goodbye.")
    assert env.outcome.reward == 1.0
    (record,) = recorded(records)
    assert record.outcome == env.outcome
    assert (record.agent, record.seed, record.task.id) == (AGENT, 3, "where")
    replay(record)


def test_what_is_left_is_recorded_with_the_reason(sessions, records, clock):
    first, second, third = (sessions.open() for _ in range(3))
    reset(first)
    reset(first)
    sessions.close(first)
    reset(second)
    clock.now = TTL / 2
    reset(third)
    clock.now = TTL
    sessions.expire()

    assert ends(records) == [("truncated", 0.0, reason) for reason in ("reset", "closed", "silence")]
    assert sessions.find(third.id) is third
    assert len(sessions) == 1


def test_what_a_stopped_server_leaves_has_no_reward(sessions, records):
    reset(sessions.open())
    sessions.stop()

    assert ends(records) == [("infrastructure", None, "ServerStoppedError")]


def test_silence_can_be_a_failure(records, clock):
    sessions = Sessions(toy_domain.ENV_ID, {}, records=records, silence="fails", clock=clock)
    reset(sessions.open())
    clock.now = sessions.ttl
    sessions.expire()

    assert ends(records) == [("infrastructure", None, "PlayerLostError")]


def test_what_could_not_be_recorded_does_not_begin(sessions, records):
    session = sessions.open()
    with pytest.raises(UsageError, match="name and version"):
        asyncio.run(session.reset(AgentRef(name="visitor", version="")))
    with pytest.raises(UsageError, match="JSON values"):
        reset(session, options={"fails_at": float("nan")})
    sessions.stop()

    assert recorded(records) == []


def test_a_session_in_which_nothing_began_leaves_no_record(sessions, records):
    sessions.close(sessions.open())
    sessions.open()
    sessions.stop()

    assert recorded(records) == []


def test_a_failure_outside_is_recorded_without_a_reward(records):
    sessions = Sessions(toy_domain.ENV_ID, {"user": "dead_line"}, records=records)
    session = sessions.open()
    reset(session, options={"fails_at": 1})
    with pytest.raises(InfrastructureError, match="dead"):
        step(session)
    with pytest.raises(EpisodeEndedError):
        step(session)
    with pytest.raises(InfrastructureError, match="dead"):
        reset(session, options={"fails_at": 0})
    sessions.close(session)

    assert ends(records) == [("infrastructure", None, "InfrastructureError")]


def test_no_more_than_the_limit(sessions, clock):
    first, *_ = (sessions.open() for _ in range(3))
    with pytest.raises(TooManySessionsError, match="All 3 sessions") as full:
        sessions.open()
    clock.now = TTL - 3
    with pytest.raises(TooManySessionsError) as soon:
        sessions.open()
    sessions.close(first)
    sessions.open()

    assert (full.value.retry_after, soon.value.retry_after) == (10, 3)


def test_ids_of_no_session(sessions):
    session = sessions.open()
    sessions.close(session)

    for gone in (session.id, "0" * 32):
        with pytest.raises(SessionGoneError, match="Open another one"):
            sessions.find(gone)
    for unknown in ("", "0" * 31, "G" * 32, "0" * 32 + "\n"):
        with pytest.raises(UnknownSessionError, match="32 hexadecimal digits"):
            sessions.find(unknown)
    with pytest.raises(SessionGoneError):
        step(session)


def test_one_thing_at_a_time(sessions, clock, monkeypatch):
    session = sessions.open()
    reset(session)

    async def race():
        waiting = asyncio.Event()

        async def slow(_):
            await waiting.wait()
            return "answer"

        monkeypatch.setattr(session.env, "astep", slow)
        running = asyncio.create_task(session.step("one"))
        await asyncio.sleep(0)
        with pytest.raises(SessionInUseError):
            await session.step("two")
        with pytest.raises(SessionInUseError):
            sessions.close(session)
        clock.now = 10 * TTL
        sessions.expire()  # whoever waits for an answer is not silent
        waiting.set()
        return await running

    assert asyncio.run(race()) == "answer"
    assert session.silent_for == 0


def test_mistakes_in_the_setting():
    with pytest.raises(UnknownNameError, match="Did you mean"):
        Sessions("tool_envs/Retial-v0", {})
    with pytest.raises(UsageError, match="above 0"):
        Sessions(toy_domain.ENV_ID, {}, limit=0)


class Players(RuleBasedStateMachine):
    """Whatever players do, each episode that began is recorded once, as soon as it is over."""

    def __init__(self):
        super().__init__()
        self.clock, self.kept = Clock(), []
        self.sessions = Sessions(toy_domain.ENV_ID, {}, records=self, limit=3, ttl=TTL, clock=self.clock)
        self.open, self.running, self.begun = [], set(), 0

    def append(self, record):
        self.kept.append(record)

    def sync(self):
        """Nothing to do: the records are in memory."""

    @precondition(lambda self: len(self.open) < 3)
    @rule()
    def come(self):
        self.open.append(self.sessions.open())

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def begin(self, data):
        session = data.draw(st.sampled_from(self.open))
        reset(session, seed=0)
        self.begun += 1
        self.running.add(session.id)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), action=st.sampled_from(["Hello.", {"name": "close_desk", "arguments": {}}]))
    def act(self, data, action):
        session = data.draw(st.sampled_from([each for each in self.open if each.id in self.running]))
        *_, terminated, truncated, _ = step(session, action)
        if terminated or truncated:
            self.running.remove(session.id)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def go(self, data):
        session = data.draw(st.sampled_from(self.open))
        self.sessions.close(session)
        self._forget(session)

    @rule(seconds=st.floats(0, TTL))
    def wait(self, seconds):
        self.clock.now += seconds
        silent = [each for each in self.open if each.silent_for >= TTL]
        self.sessions.expire()
        for session in silent:
            self._forget(session)

    def _forget(self, session):
        self.open.remove(session)
        self.running.discard(session.id)

    @invariant()
    def each_once(self):
        assert len(self.kept) == self.begun - len(self.running)
        assert len(self.sessions) == len(self.open)


TestPlayers = Players.TestCase
TestPlayers.settings = settings(max_examples=30, stateful_step_count=30)
