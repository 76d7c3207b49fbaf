"""Process rewards: apart from the reward, off by default, and with what gave them."""

import copy
import hashlib
import inspect
import itertools
import pickle

import pytest
import toy_domain
import toy_progress
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.reward import ProcessSource
from tool_envs.trajectory import Trajectory, record_episode, replay

DESK, RETAIL = toy_domain.ENV_ID, "tool_envs/Retail-v0"
WORDS, MISTAKES = "toy_progress:words_said", "toy_progress:mistakes"
SHOUT = {"name": "shout", "arguments": {}}
DIGEST = hashlib.sha256(inspect.getsource(toy_progress).encode()).hexdigest()

THINK = {"name": "think", "arguments": {}}
actions = st.lists(st.sampled_from(["Hello there.", "Yes", SHOUT, THINK]), min_size=1, max_size=6)


def desk(process, **kwargs):
    env = make_env(DESK, {"process": process, **kwargs})
    env.reset(seed=1)
    return env


def act(env, taken):
    """The process rewards of actions, and the rewards."""
    found = []
    for action in taken:
        if env.unwrapped.outcome is None:
            _, reward, *_, info = env.step(action)
            found.append((info.get("process_reward"), reward))
    return [list(each) for each in zip(*found, strict=True)]


@given(actions, st.sampled_from([WORDS, MISTAKES]))
def test_the_rewards_of_steps_add_up_to_how_far_the_episode_came(taken, process):
    measure = getattr(toy_progress, process.partition(":")[2])
    env = desk(process, max_steps=len(taken))

    rewards, _ = act(env, taken)

    assert sum(rewards) == env.unwrapped.outcome.ledger.process == measure(env.unwrapped.episode)


@given(actions)
def test_process_rewards_move_neither_the_reward_nor_the_conversation(taken):
    with_it, without = desk(WORDS, max_steps=len(taken)), desk(None, max_steps=len(taken))

    _, rewards = act(with_it, taken)

    none, others = act(without, taken)
    assert rewards == others
    assert set(none) == {None}
    assert with_it.unwrapped.messages == without.unwrapped.messages
    assert without.unwrapped.outcome.ledger.process is without.unwrapped.outcome.ledger.process_source is None


@given(actions, actions)
def test_a_fork_and_a_pickle_go_on_with_the_same_rewards(before, after):
    env = desk(WORDS).unwrapped
    act(env, before)
    if env.outcome is not None:
        return
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), desk(WORDS).unwrapped]  # noqa: S301 - ours
    others[-1].restore(env.snapshot())

    expected = act(env, after)

    assert [act(other, after) for other in others] == [expected] * 3


def test_the_source_is_recorded_and_the_record_is_replayed():
    env = desk(MISTAKES, max_steps=2)
    act(env, [SHOUT, "Hello."])

    trajectory = record_episode(env, "test", "v1", 1)

    ledger = trajectory.outcome.ledger
    assert (ledger.process, ledger.process_source) == (-0.5, ProcessSource(MISTAKES, DIGEST))
    assert trajectory.env.kwargs["process"] == MISTAKES
    assert Trajectory.from_json(trajectory.to_json()) == trajectory
    replay(trajectory)


def test_what_was_reached_before_a_failure_stands_in_the_ledger_with_its_source():
    env = desk(MISTAKES, user="dead_line")
    env.step(SHOUT)
    with pytest.raises(InfrastructureError):
        env.step("Hello?")

    trajectory = record_episode(env, "test", "v1", 1)

    assert trajectory.outcome.reward is None
    assert trajectory.outcome.ledger.process == -0.5
    assert Trajectory.from_json(trajectory.to_json()) == trajectory


def test_sub_goals_name_themselves():
    env = make_env(RETAIL, {"difficulty": 1, "process": "sub_goals"}).unwrapped
    env.reset(seed=0)
    reached = []
    while env.outcome is None:
        *_, info = env.step(env.domain.oracle(env.episode))
        reached.append(info["process_reward"])

    assert env.outcome.ledger.process == list(itertools.accumulate(reached))[-1] == 1.0
    assert env.outcome.ledger.process_source == ProcessSource("sub_goals", None)


@pytest.mark.parametrize(
    ("process", "problem"),
    [
        ("sub_goals", "these tasks have no sub-goals"),
        (True, '`process` is None, "sub_goals" or "module:function", not True'),
        (False, "not False"),
        ("sub-goals", "not 'sub-goals'"),
        (":words_said", "not ':words_said'"),
        ("no_such_module:f", "no module 'no_such_module' with its source"),
        ("math:sqrt", "no module 'math' with its source"),
        (toy_progress.BROKEN, "'nothing_at_all' is no function that is defined in 'toy_progress'"),
        ("toy_progress:A_NUMBER", "'A_NUMBER' is no function"),
        ("toy_progress:math", "'math' is no function"),
    ],
)
def test_what_names_no_process_rewards_is_refused(process, problem):
    with pytest.raises(UsageError, match=problem):
        make_env(DESK, {"process": process})


def test_a_measure_that_is_no_number_is_refused_at_the_step():
    env = desk("toy_progress:not_a_number")

    with pytest.raises(UsageError, match=r"'toy_progress:not_a_number' are finite numbers, not nan"):
        env.step("Hello.")
