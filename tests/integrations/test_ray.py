"""Episodes played in Ray actors give the records of those played here, also when actors die."""

import asyncio
import functools
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs an environment of its own: make test-integrations LIBRARIES=ray")

import ray
from ray_policies import ORACLE, Deadly, Mistaken, Waiting

from tool_envs.errors import UsageError
from tool_envs.randomness import draw_below
from tool_envs.rollout import Engine, Gate, Plan, ScriptedPolicy, Versions
from tool_envs.rollout.episode import GivenUpError
from tool_envs.rollout.player import LocalPlayer, Work
from tool_envs.rollout.ray import RayPlayer
from tool_envs.trajectory.record import PolicyVersion, assistant_messages

pytestmark = pytest.mark.library("ray")

ENV_ID = "tool_envs/Retail-v0"
PLAN = Plan(range(8), 2, seed=3)
WORKERS, CONCURRENCY = 2, 6
IN_RAY = functools.partial(RayPlayer, workers=WORKERS, options={"num_cpus": 0})
FIRST = PolicyVersion(version=ORACLE.version, number=0)


@pytest.fixture(autouse=True, scope="module")
def local_ray():
    with pytest.raises(UsageError, match=r"ray\.init"):
        IN_RAY(work(ScriptedPolicy(ORACLE)))
    beside = {"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}}
    ray.init(
        address="local",
        num_cpus=WORKERS,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env=beside,
    )
    yield
    ray.shutdown()


def work(policy, versions=None):
    return Work(
        env_id=ENV_ID,
        kwargs={},
        policy=policy,
        versions=versions or Versions(FIRST),
        concurrency=CONCURRENCY,
        retries=2,
        deadline=None,
    )


def play(policy, player, plan=PLAN, on_episode=lambda _: None, **kwargs):
    """What ended, in order, and the summary."""
    ended = []

    def note(episode, _to_play):
        ended.append(episode)
        on_episode(episode)

    engine = Engine(
        ENV_ID, {}, policy, Versions(FIRST), plan, concurrency=CONCURRENCY, player=player, **kwargs
    )
    return ended, asyncio.run(engine.run(note))


def lines(ended):
    return sorted(episode.record.to_line() for episode in ended)


@functools.cache
def undisturbed():
    """Of the episodes played here: lines, and how many turns each has."""
    ended, summary = play(ScriptedPolicy(ORACLE), LocalPlayer)
    assert summary.mean_reward == 1.0
    turns = {episode.planned: len(list(assistant_messages(episode.record))) for episode in ended}
    return lines(ended), turns


def test_ray_listens_on_loopback():
    assert [node["NodeManagerAddress"] for node in ray.nodes()] == ["127.0.0.1"]


@pytest.mark.shows("rollouts in actors give the same records")
def test_the_records_are_those_of_episodes_played_here():
    ended, summary = play(ScriptedPolicy(ORACLE), IN_RAY)

    assert lines(ended) == undisturbed()[0]
    assert summary.failed_attempts == {}


@pytest.mark.shows("actors may die")
@pytest.mark.parametrize("seed", range(4))
def test_an_actor_that_dies_at_any_moment_loses_its_running_episodes_only(seed, tmp_path):
    expected, turns = undisturbed()
    victim = list(PLAN)[draw_below(len(PLAN), seed, 0, 0, 0)]
    turn = draw_below(turns[victim], seed, 0, 0, 1)

    ended, summary = play(Deadly(tmp_path, victim.key, turn), IN_RAY)

    assert lines(ended) == expected
    assert summary.failed_attempts.keys() == {"WorkerLostError"}
    assert 1 <= summary.failed_attempts["WorkerLostError"] <= CONCURRENCY // WORKERS


def test_an_episode_that_is_tried_once_and_loses_its_actor_has_no_reward(tmp_path):
    plan = Plan(range(1), 2, seed=3)
    victim = plan.group(0)[0]

    ended, summary = play(Deadly(tmp_path, victim.key, 1), IN_RAY, plan, retries=0)

    failed = [episode for episode in ended if episode.record is None]
    assert [episode.planned for episode in failed] == [victim]
    assert (failed[0].failure.kind, failed[0].failure.is_last) == ("infrastructure", True)
    assert (summary.recorded, summary.failed) == (1, 1)


async def begin(policy, versions):
    """An episode of a waiting policy, that has come to where it waits, and its player."""
    player = IN_RAY(work(policy, versions))
    episode = asyncio.ensure_future(player.attempt(PLAN.group(0)[0], 1))
    while not (policy.folder / "waits").exists():
        await asyncio.sleep(0.01)
    return player, episode


@pytest.mark.shows("versions of the policy change while episodes run")
def test_actors_hear_of_versions_while_episodes_run(tmp_path):
    async def run():
        versions = Versions(FIRST)
        player, episode = await begin(Waiting(tmp_path), versions)
        versions.publish("step-1")
        await asyncio.gather(*(worker.actor.start.remote() for worker in player._workers))
        (tmp_path / "go").touch()
        during, after = await episode, await player.attempt(PLAN.group(1)[0], 1)
        player.close()
        versions.publish("step-2")
        return during, after

    during, after = asyncio.run(run())
    wrote = [message.policy_version[0].version for _, message in assistant_messages(during)]

    assert wrote[:3] == [FIRST.version, FIRST.version, "step-1"]
    assert [version.version for version in during.policy_versions] == [FIRST.version, "step-1"]
    assert [version.version for version in after.policy_versions] == ["step-1"]


def test_a_stale_episode_is_given_up_in_its_actor(tmp_path):
    async def run():
        player, episode = await begin(Waiting(tmp_path), Versions(FIRST))
        player.give_up(lambda head: head > 0)
        player.give_up(lambda head: head == 0)
        with pytest.raises(GivenUpError):
            await episode
        player.close()

    asyncio.run(run())


@pytest.mark.parametrize(("pickles", "error"), [(True, ValueError), (False, RuntimeError)])
def test_a_mistake_is_raised_here_with_the_place_where_it_was_made(pickles, error):
    with pytest.raises(error, match="a mistake") as raised:
        play(Mistaken(pickles), IN_RAY, Plan(range(2)))

    assert any("ray_policies.py" in note for note in raised.value.__notes__)
    note = "Episodes that ended so, without a reward: 2. All others were played."
    assert note in raised.value.__notes__


def test_a_policy_behind_a_gate_is_refused():
    policy = Waiting("nowhere")
    policy.gate = Gate()

    with pytest.raises(UsageError, match="pickle"):
        IN_RAY(work(policy))


def test_there_is_at_least_one_worker():
    with pytest.raises(UsageError, match="workers"):
        RayPlayer(work(ScriptedPolicy(ORACLE)), workers=0)
