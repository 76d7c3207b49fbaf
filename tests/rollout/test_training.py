"""Batches for a trainer: how many may begin, and what becomes of episodes that fall behind."""

import asyncio
from contextlib import aclosing

from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_policies import TASKS, Attempt, Faulty, engine
from virtual_clock import run_virtually

from tool_envs.rollout import Admission, Plan, Versions
from tool_envs.trajectory import read_trajectories
from tool_envs.trajectory.record import PolicyVersion, assistant_messages


def trained():
    return Versions(PolicyVersion(version="base", number=0))


async def train(made, published, admission, stale="continue", seconds=1.0):
    """Take batches, and publish a version after each; returns them with the version that took them."""
    taken = []
    async with aclosing(made.batches(admission, stale)) as batches:
        async for batch in batches:
            taken.append((published.current.number, batch))
            await asyncio.sleep(seconds)
            published.publish(f"step-{published.current.number + 1}")
    return taken


def ages(taken):
    """How far behind each record was when it was taken."""
    return [
        number - record.policy_versions[0].number
        for number, batch in taken
        for group in batch
        for record in group.records
    ]


latencies = st.lists(st.sampled_from([0.0, 0.5, 3.0, 20.0]), min_size=24, max_size=24)


@settings(max_examples=40)
@given(latencies, st.integers(1, 2), st.integers(0, 2), st.integers(1, 6), st.data())
def test_batches_hold_all_groups_once_and_restarts_hold_them_to_the_bound(
    waits, batch_size, max_staleness, concurrency, data
):
    stale = data.draw(st.sampled_from(["continue", "restart", "keep"]))
    plan, published = Plan(range(TASKS), 3), trained()
    policy = Faulty({e.key: [Attempt(latency=wait)] for e, wait in zip(plan, waits, strict=False)})
    admission = Admission(batch_size, max_staleness, max_concurrent=4)
    made = engine(policy, plan, known=published, concurrency=concurrency)

    taken = run_virtually(train(made, published, admission, stale))

    groups = [group for _, batch in taken for group in batch]
    assert {len(batch) for _, batch in taken} == {batch_size}
    assert sorted(group.task for group in groups) == list(range(TASKS))
    assert all([r.seed for r in g.records] == [e.seed for e in plan.group(g.task)] for g in groups)
    assert (admission.running, admission.accepted) == (0, TASKS)
    assert policy.running == 0
    if stale == "restart" or max_staleness >= TASKS:
        assert max(ages(taken)) <= max_staleness
    if stale == "keep":
        assert all(len(r.policy_versions) == 1 for g in groups for r in g.records)


def test_without_staleness_rollouts_and_training_take_turns():
    published = trained()
    policy = Faulty({e.key: [Attempt(latency=1.0)] for e in Plan(range(TASKS), 2)})
    made = engine(policy, known=published, concurrency=8)

    taken = run_virtually(train(made, published, Admission(2, 0, 8)))

    assert ages(taken) == [0] * 8
    assert all(len(r.policy_versions) == 1 for _, batch in taken for g in batch for r in g.records)


def two_tasks(stale, max_staleness=0):
    """Task 0 is trained on, three times over, while task 1, of the first version, is played."""
    plan, published = Plan(range(3), 1), trained()
    slow, *_ = plan
    policy = Faulty({e.key: [Attempt(latency=0.9 if e == slow else 0.1)] for e in plan})
    made = engine(policy, plan, known=published, concurrency=3)
    taken = run_virtually(train(made, published, Admission(1, max_staleness, 3), stale))
    records = {g.task: r for _, batch in taken for g in batch for r in g.records}
    wrote = [m.policy_version[0].version for _, m in assistant_messages(records[0])]
    return records[0], wrote, policy.begun[slow.key]


def test_an_episode_that_goes_on_is_of_each_version_that_wrote_it():
    record, wrote, begun = two_tasks("continue", max_staleness=2)

    assert [v.number for v in record.policy_versions] == [0, 1, 2]
    assert list(dict.fromkeys(wrote)) == ["base", "step-1", "step-2"]
    assert begun == 1


def test_an_episode_that_keeps_its_version_is_of_that_alone():
    record, wrote, begun = two_tasks("keep", max_staleness=2)

    assert [v.number for v in record.policy_versions] == [0]
    assert set(wrote) == {"base"}
    assert begun == 1


def test_an_episode_that_is_too_old_is_begun_again(tmp_path):
    plan, published = Plan(range(4), 1), trained()
    slow, *_ = plan
    policy = Faulty({slow.key: [Attempt(latency=1e6), Attempt()]})
    made = engine(policy, plan, known=published, concurrency=4, out=tmp_path)

    taken = run_virtually(train(made, published, Admission(1, 1, 4), "restart"))

    assert max(ages(taken)) <= 1
    assert policy.begun[slow.key] == 2
    assert not (tmp_path / "failures.jsonl").exists()
    assert len(list(read_trajectories(tmp_path))) == 4


def test_an_ended_episode_of_a_group_that_goes_on_may_be_too_old_as_well():
    plan, published = Plan(range(3), 2), trained()
    (quick, slow), *_ = (plan.group(task) for task in plan.tasks)
    policy = Faulty({slow.key: [Attempt(latency=1e6), Attempt()]})
    made = engine(policy, plan, known=published, concurrency=4)

    taken = run_virtually(train(made, published, Admission(1, 1, 2), "restart"))

    assert max(ages(taken)) <= 1
    assert (policy.begun[quick.key], policy.begun[slow.key]) == (2, 2)


def test_a_group_that_grows_too_old_as_it_waits_is_played_again(tmp_path):
    plan, published = Plan(range(4), 1), trained()
    _, late, *_ = plan
    # It ends while the trainer makes the version for which it is too old.
    policy = Faulty({late.key: [Attempt(latency=0.3), Attempt()]})
    made = engine(policy, plan, known=published, out=tmp_path)

    taken = run_virtually(train(made, published, Admission(1, 1, 2), "restart"))

    assert max(ages(taken)) <= 1
    assert sorted(group.task for _, batch in taken for group in batch) == list(range(4))
    assert policy.begun[late.key] == 2
    assert [r.seed for r in read_trajectories(tmp_path)].count(late.seed) == 2


def test_groups_without_a_record_make_no_batch_and_hold_up_none():
    plan, published = Plan(range(TASKS), 2), trained()
    policy = Faulty({e.key: [Attempt("lost")] for e in plan.group(1)})
    admission = Admission(1, 0, 1)

    taken = run_virtually(train(engine(policy, plan, known=published), published, admission))

    assert [g.task for _, batch in taken for g in batch] == [0, 2, 3]
    assert (admission.running, admission.accepted) == (0, 3)


def test_a_version_that_is_published_elsewhere_lets_others_begin():
    plan, published = Plan(range(2), 1), trained()
    made = engine(None, plan, known=published)

    async def play():
        loop, taken = asyncio.get_running_loop(), []

        async def publish():
            await asyncio.sleep(100)
            published.publish("step-1")

        publishing = asyncio.create_task(publish())
        async with aclosing(made.batches(Admission(1, 0, 1))) as batches:
            async for batch in batches:
                taken.append((loop.time(), batch[0].task))
        await publishing
        return taken

    assert [(round(when), task) for when, task in run_virtually(play())] == [(0, 0), (100, 1)]
