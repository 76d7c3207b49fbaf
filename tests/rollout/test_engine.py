"""Laws of rollouts: each episode ends once, whatever becomes of the others, and none without cause."""

import asyncio
import math
import tempfile
import threading
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
import toy_domain
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_policies import GOLD, TASKS, Attempt, Faulty, engine, evaluated, versions
from virtual_clock import run_virtually

from tool_envs.agents import load_agent
from tool_envs.errors import ReplayMismatchError, UsageError
from tool_envs.evaluation import evaluate
from tool_envs.rollout import DeadlineExceededError, Engine, Plan, PolicyOutput, ScriptedPolicy, Versions
from tool_envs.simulators import AwaitedUser, Turn
from tool_envs.trajectory import PolicySetting, read_trajectories, record_episode, replay, to_tokens
from tool_envs.trajectory.capture import SCRIPTED
from tool_envs.trajectory.record import (
    PolicyRun,
    PolicyVersion,
    Sampling,
    Tokens,
    assistant_messages,
)

DEADLINE, LONGEST = 100.0, 5.0
MISTAKES = ("wrong", "cancelled")

attempts = st.builds(
    Attempt,
    fault=st.sampled_from([None, None, "lost", "wrong", "cancelled", "hangs", "length", "context"]),
    at=st.integers(0, 1),  # every episode has two turns and more
    latency=st.floats(0.0, LONGEST),
)


def expected_end(script, retries):
    """How an episode of that script ends, `recorded`, `lost` or by its fault, and after how many attempts."""
    for number in range(retries + 1):
        fault = script[min(number, len(script) - 1)].fault
        if fault in (None, "length", "context"):
            return ("recorded" if fault is None else fault), number + 1
        if fault in MISTAKES:
            return fault, number + 1
    return "lost", retries + 1


async def collect(engine):
    """All that ended, in order, and the exception at the end."""
    ended, error = [], None
    try:
        await engine.run(lambda episode, _: ended.append(episode))
    except Exception as problem:
        error = problem
    return ended, error


@settings(max_examples=60)
@given(st.data(), st.integers(1, 3), st.integers(1, 9), st.integers(0, 2))
def test_every_episode_ends_once_as_its_own_script_says(data, group_size, concurrency, retries):
    plan = Plan(range(TASKS), group_size, seed=5)
    scripts = {e.key: data.draw(st.lists(attempts, min_size=1, max_size=3)) for e in plan}
    policy = Faulty(scripts)
    with tempfile.TemporaryDirectory() as out:
        made = engine(policy, plan, out=out, concurrency=concurrency, retries=retries, deadline=DEADLINE)
        ended, error = run_virtually(collect(made))
        stored = list(read_trajectories(out))
        sidecar = Path(out) / "failures.jsonl"
        told = (
            [msgspec.json.decode(line) for line in sidecar.read_text().splitlines()]
            if sidecar.exists()
            else []
        )

    ends = {e: expected_end(scripts[e.key], retries) for e in plan}
    assert sorted(map(repr, (episode.planned for episode in ended))) == sorted(map(repr, plan))
    recorded = {e.planned for e in ended if e.record}
    assert recorded == {e for e, (end, _) in ends.items() if end not in (*MISTAKES, "lost")}
    assert {e.planned for e in ended if e.failure} == set(plan) - recorded

    # The store holds what was recorded, the sidecar each attempt that failed.
    assert sorted(r.to_line() for r in stored) == sorted(e.record.to_line() for e in ended if e.record)
    assert {(f["task"], f["sample"]) for f in told if f["is_last"]} == {
        (e.task, e.sample) for e in set(plan) - recorded
    }
    failed_attempts = sum(tries - (end not in (*MISTAKES, "lost")) for end, tries in ends.values())
    assert len(told) == failed_attempts
    assert policy.begun == {e.key: tries for e, (_, tries) in ends.items()}

    # Nobody was harmed: those that were not cut are as if nothing had happened around them.
    whole = {e.record.to_line() for e in ended if e.record and e.record.outcome.status == "completed"}
    assert whole == evaluated([e for e, (end, _) in ends.items() if end == "recorded"])
    for episode in ended:
        end = ends[episode.planned][0]
        if end in ("length", "context"):
            outcome = episode.record.outcome
            assert (outcome.status, outcome.ended_by, outcome.reward) == ("truncated", end, 0.0)
    assert all(f["record"] is None or f["record"]["outcome"]["reward"] is None for f in told)

    assert (error is not None) == any(end in MISTAKES for end, _ in ends.values())
    assert error is None or isinstance(error, (KeyError, UsageError))
    assert policy.most <= concurrency
    assert policy.running == 0


@given(st.integers(1, 20), st.lists(st.floats(0, 9), min_size=12, max_size=12))
@settings(max_examples=20)
def test_records_depend_neither_on_concurrency_nor_on_what_waits_for_what(concurrency, latencies):
    plan = Plan(range(TASKS), 3)
    scripts = {e.key: [Attempt(latency=latency)] for e, latency in zip(plan, latencies, strict=True)}

    ended, error = run_virtually(collect(engine(Faulty(scripts), plan, concurrency=concurrency)))

    assert error is None
    assert {e.record.to_line() for e in ended} == evaluated(plan)


def test_records_of_the_oracle_are_those_of_an_evaluation():
    env_id, kwargs, oracle, lines = "tool_envs/Retail-v0", {"split": "test"}, load_agent("oracle"), []

    def note(env, result):
        lines.append(record_episode(env, oracle.name, oracle.version, result.seed).to_line())

    evaluate(env_id, kwargs, oracle, tasks=range(6), seed=11, on_episode=note)
    made = Engine(env_id, kwargs, ScriptedPolicy(oracle), versions(oracle), Plan(range(6), seed=11))
    ended, error = asyncio.run(collect(made))

    assert error is None
    assert sorted(e.record.to_line() for e in ended) == sorted(lines)


# --- Failures


def ended_with(*script, **options):
    """How one episode of a script ends, and the exception at the end."""
    plan = Plan([0])
    (only,) = plan
    (ended,), error = run_virtually(collect(engine(Faulty({only.key: list(script)}), plan, **options)))
    return ended, error


def test_an_episode_that_takes_too_long_has_failed_and_keeps_what_was_said():
    ended, error = ended_with(Attempt("hangs", at=1), deadline=DEADLINE, retries=0)

    failure = ended.failure
    assert error is None
    assert (failure.error, failure.kind) == (DeadlineExceededError.__name__, "infrastructure")
    assert (failure.record.outcome.ended_by, failure.record.outcome.reward) == (failure.error, None)
    assert [m.trainable for m in failure.record.messages] == [False] * 3


def test_a_mistake_is_raised_after_all_others_and_its_words_stay_out_of_files(tmp_path):
    ended, error = ended_with(Attempt("wrong"), retries=5, out=tmp_path)

    assert isinstance(error, KeyError)
    assert "without a reward: 1." in error.__notes__[0]
    assert (ended.failure.kind, ended.failure.attempt, ended.failure.record) == ("mistake", 1, None)
    assert "secret" not in (tmp_path / "failures.jsonl").read_text()
    assert "rollout_policies, line" in ended.failure.message


class Constant:
    """A policy that always gives the same turn."""

    name, setting = "constant", SCRIPTED

    def __init__(self, **output):
        self.output = PolicyOutput(**output)

    async def act(self, messages, tools):
        self.messages, self.tools = messages, tools
        return self.output


def play_one(policy, published=None, **options):
    async def play():
        made = Engine(toy_domain.ENV_ID, {}, policy, published or versions(), Plan([2]), **options)
        return await collect(made)

    (ended,), error = run_virtually(play())
    return ended, error


@pytest.mark.parametrize(
    "output",
    [
        {"action": {1, 2}},
        {"action": "x", "policy_version": (PolicyRun(version="never published", count=None),)},
        {"action": "x", "cost": math.nan},
        {"action": "x", "finish": "length", "cost": -1.0},
    ],
)
def test_what_no_policy_may_return_is_a_mistake_and_no_reward(output):
    ended, error = play_one(Constant(**output))

    assert isinstance(error, UsageError)
    assert (ended.record, ended.failure.kind) == (None, "mistake")


def test_a_user_who_is_not_there_is_tried_again(monkeypatch):
    monkeypatch.setitem(
        toy_domain.load().simulators, "scripted", lambda *_: toy_domain.DeadLineUser(fails_at=0)
    )

    ended, error = ended_with(Attempt(), retries=3)

    assert error is None
    assert (ended.failure.error, ended.failure.attempt) == ("InfrastructureError", 4)
    assert ended.failure.record is None


# --- Cut turns

CUT = Tokens(prompt_token_ids=(1, 2, 3), token_ids=(4, 5), logprobs=(-0.5, -0.25))
SAMPLES = PolicySetting(
    reference_policy=None,
    sampling=Sampling(temperature=1.0, top_p=1.0, seed=None, stop=()),
    tokenizer="0" * 64,
    chat_template="0" * 64,
)


@pytest.mark.parametrize("finish", ["length", "context"])
@pytest.mark.parametrize("action", ["I will lo", '<tool_call>{"name": "lend", "argu', {"content": "half"}])
def test_a_cut_turn_is_recorded_as_it_was_sampled_and_not_carried_out(finish, action):
    policy = Constant(action=action, tokens=CUT, finish=finish, cost=0.5)
    policy.setting = SAMPLES
    ended, error = play_one(policy)

    record = ended.record
    last = record.messages[-1]
    assert error is None
    assert (record.outcome.status, record.outcome.ended_by, record.outcome.steps) == ("truncated", finish, 0)
    assert (last.action, last.tokens, last.content, last.tool_calls) == (action, CUT, "", ())
    assert last.policy_version == (PolicyRun(version=GOLD.version, count=2),)
    assert record.costs == {"agent": 0.5, "user": 0.0}
    (sequence,) = to_tokens(record)
    assert (sequence.input_ids, sequence.loss_mask) == ((1, 2, 3, 4, 5), (0, 0, 0, 1, 1))
    replay(record)


def test_a_turn_for_which_there_was_no_room_leaves_no_message():
    ended, _ = play_one(Constant(action=None, finish="context"))

    assert list(assistant_messages(ended.record)) == []
    assert ended.record.outcome.ended_by == "context"
    replay(ended.record)


def test_a_replay_does_not_truncate_what_should_have_gone_on():
    ended, _ = play_one(Constant(action="I will lo", finish="length"))
    answered = msgspec.structs.replace(
        ended.record, outcome=msgspec.structs.replace(ended.record.outcome, ended_by="limit")
    )

    with pytest.raises(ReplayMismatchError):
        replay(answered)


# --- Users, policies and versions


def test_a_policy_sees_the_domain_policy_the_conversation_and_the_tools():
    policy = Constant(action="Hello?", finish="stop")
    play_one(policy)

    system, opening, *rest = policy.messages
    assert system == {"role": "system", "content": toy_domain.POLICY}
    assert opening == {"role": "user", "content": "Where is Dune?"}
    assert rest[0] == {"role": "assistant", "content": "Hello?"}
    assert [tool["function"]["name"] for tool in policy.tools][-1] == "respond"


class SlowUser(AwaitedUser):
    """Thinks for a minute before each word, and leaves after three."""

    name, version, digest, not_understood = "slow", "1.0.0", "", 0
    here = most = 0

    def __init__(self):
        self.said = 0

    async def areset(self, goal, key):  # noqa: ARG002 - the interface of a user
        return await self.arespond("")

    async def arespond(self, agent_text):  # noqa: ARG002 - the interface of a user
        SlowUser.here += 1
        SlowUser.most = max(SlowUser.most, SlowUser.here)
        await asyncio.sleep(60)
        SlowUser.here -= 1
        self.said += 1
        return Turn("Hm.", ended=self.said == 3)


def test_users_who_are_far_away_are_awaited_in_one_thread(monkeypatch):
    monkeypatch.setitem(toy_domain.load().simulators, "scripted", lambda *_: SlowUser())
    plan, threads = Plan(range(TASKS), 50), threading.active_count()

    async def play():
        made = Engine(toy_domain.ENV_ID, {}, Constant(action="Yes?"), versions(), plan, concurrency=200)
        ended, error = await collect(made)
        return ended, error, asyncio.get_running_loop().time()

    ended, error, seconds = run_virtually(play())
    assert error is None
    assert {e.record.outcome.ended_by for e in ended} == {"user"}
    assert (SlowUser.most, round(seconds / 60)) == (200, 3)
    assert threading.active_count() == threads


class Publishing(Constant):
    """Publishes a version after its first turn."""

    def __init__(self, published, **output):
        super().__init__(**output)
        self.published = published

    async def act(self, messages, tools):
        output = await super().act(messages, tools)
        if self.published.current.number == 7:
            self.published.publish("eighth")
        return output


def test_each_turn_is_of_the_version_in_force_when_it_was_asked_for():
    published = Versions(PolicyVersion(version="seventh", number=7))
    ended, _ = play_one(Publishing(published, action="Hm."), published)

    record = ended.record
    wrote = [message.policy_version[0].version for _, message in assistant_messages(record)]
    assert wrote == ["seventh", "eighth"]
    assert [(v.version, v.number) for v in record.policy_versions] == [("seventh", 7), ("eighth", 8)]
    assert record.agent.version == "seventh"


# --- Groups


def test_a_group_comes_when_all_of_its_episodes_have_ended():
    plan = Plan(range(3), 2)
    first, *others = (plan.group(task) for task in plan.tasks)
    scripts = {e.key: [Attempt(latency=10.0)] for e in first}
    scripts |= {others[1][0].key: [Attempt("lost", latency=1.0)]}

    async def play():
        return [group async for group in engine(Faulty(scripts), plan).groups()]

    groups = run_virtually(play())
    assert [group.task for group in groups] == [1, 2, 0]
    assert [(len(g.records), len(g.failures)) for g in groups] == [(2, 0), (1, 1), (2, 0)]
    assert [r.seed for r in groups[2].records] == [e.seed for e in first]


def test_a_group_that_was_broken_off_is_whole_after_the_next_command(tmp_path):
    plan = Plan(range(2), 3)
    (_, lost, _), (*_, late) = (plan.group(task) for task in plan.tasks)
    scripts = {lost.key: [Attempt("lost"), Attempt()], late.key: [Attempt("lost"), Attempt()]}
    policy = Faulty(scripts)

    async def play():
        return [g async for g in engine(policy, plan, out=tmp_path, retries=0).groups()]

    assert [len(g.records) for g in run_virtually(play())] == [2, 2]
    again = run_virtually(play())
    assert [[r.seed for r in g.records] for g in again] == [
        [e.seed for e in plan.group(task)] for task in (0, 1)
    ]
    assert policy.begun.total() == 8
    assert run_virtually(play()) == []


def test_nothing_runs_on_after_a_loop_over_groups_was_left():
    policy = Faulty({e.key: [Attempt(latency=float(e.task))] for e in Plan(range(TASKS), 2)})

    async def play():
        async with aclosing(engine(policy).groups()) as groups:
            first = await anext(groups)
        assert policy.running == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return first

    assert run_virtually(play()).task == 0


def test_a_plan_without_tasks_is_over_at_once(tmp_path):
    made = engine(plan=Plan([]), out=tmp_path)

    summary = run_virtually(made.run())

    assert (summary.episodes, summary.recorded, summary.mean_reward) == (0, 0, None)


# --- What is refused


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"concurrency": 0}, "concurrency=0"),
        ({"retries": -1}, "retries=-1"),
        ({"deadline": 0}, "deadline=0"),
        ({"plan": Plan([0, 99])}, "Unknown task index 99"),
    ],
)
def test_an_engine_refuses_what_makes_no_sense(options, problem):
    with pytest.raises(UsageError, match=problem):
        engine(**options)


@pytest.mark.parametrize(
    ("tasks", "options", "problem"),
    [
        ([1, 1], {}, "stands twice"),
        ([0], {"group_size": 0}, "of at least 1, not 0"),
        ([0], {"seed": -1}, "below 2\\*\\*53, not -1"),
        ([0], {"seed": 2**53}, "below 2\\*\\*53"),
    ],
)
def test_a_plan_refuses_what_makes_no_sense(tasks, options, problem):
    with pytest.raises(UsageError, match=problem):
        Plan(tasks, **options)


@given(
    st.integers(0, 2**53 - 1), st.integers(1, 40), st.lists(st.integers(0, 2**30), unique=True, max_size=5)
)
def test_no_two_episodes_of_a_plan_share_a_seed_or_a_key(seed, group_size, tasks):
    episodes = list(Plan(tasks, group_size, seed))

    assert len(episodes) == len(Plan(tasks, group_size, seed)) == group_size * len(tasks)
    assert len({e.seed for e in episodes}) == len({e.key for e in episodes}) == len(episodes)
    assert all(0 <= e.seed < 2**53 for e in episodes)
