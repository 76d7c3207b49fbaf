"""Credit: closed forms, what may not be compared, and that forking is replaying, only cheaper."""

import functools
import itertools
import math

import gymnasium
import msgspec
import pytest
import toy_domain
from credit_records import base_record, changed, play_and_record, rewarded, scored
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tool_envs.agents import Agent, load_agent, play
from tool_envs.agents.agent import say
from tool_envs.credit import (
    Estimate,
    StepValue,
    decisive_step,
    group_advantages,
    returns_to_go,
    step_advantages,
    step_values,
)
from tool_envs.env import ToolEnv
from tool_envs.environments import make_env
from tool_envs.errors import (
    EpisodeEndedError,
    InfrastructureError,
    ReplayMismatchError,
    UnknownNameError,
    UsageError,
)
from tool_envs.randomness import draw_below, splitmix64
from tool_envs.reward import ProcessSource
from tool_envs.trajectory.record import AssistantMessage, PolicyRun, PolicyVersion

DESK, TAU = toy_domain.ENV_ID, "tool_envs/TauBench-v0"
RETAIL, BOOKING = "tool_envs/Retail-v0", "tool_envs/Booking-v0"
ORACLE = load_agent("oracle")

rewards_of_steps = st.lists(st.floats(-1e6, 1e6), max_size=12)
discounts = st.floats(0.0, 1.0)
groups = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12)


# --- Returns to go


@given(rewards_of_steps, discounts)
def test_a_return_is_its_reward_and_the_discounted_next_return(rewards, discount):
    returns = returns_to_go(rewards, discount)

    for now, then, reward in zip(returns, [*returns, 0.0][1:], rewards, strict=True):
        assert now == reward + discount * then


@given(rewards_of_steps)
def test_without_discount_a_return_is_the_sum_and_with_all_of_it_the_reward(rewards):
    sums = [math.fsum(rewards[step:]) for step in range(len(rewards))]

    assert returns_to_go(rewards, 1.0) == pytest.approx(sums, abs=1e-6)
    assert returns_to_go(rewards, 0.0) == rewards


@given(st.integers(1, 20), st.floats(0.0, 0.99), st.floats(-10.0, 10.0))
def test_the_closed_forms_of_a_reward_at_the_end_and_of_one_at_each_step(steps, discount, reward):
    left = range(steps, 0, -1)

    at_end = returns_to_go([0.0] * (steps - 1) + [reward], discount)
    at_each = returns_to_go([reward] * steps, discount)

    assert at_end == pytest.approx([reward * discount ** (n - 1) for n in left])
    assert at_each == pytest.approx([reward * (1 - discount**n) / (1 - discount) for n in left])


@pytest.mark.parametrize("discount", [-0.1, 1.1, math.nan])
def test_a_discount_out_of_range_is_refused(discount):
    with pytest.raises(UsageError, match="is between"):
        returns_to_go([1.0], discount)


# --- Groups


def advantages(rewards, **options):
    """The values alone."""
    found = group_advantages([rewarded(reward) for reward in rewards], **options)
    return [advantage and advantage.value for advantage in found]


def test_the_golden_group():
    # Mean 1/4, sample standard deviation 1/2.
    assert advantages([1.0, 0.0, 0.0, 0.0], epsilon=0.0) == [1.5, -0.5, -0.5, -0.5]
    assert advantages([1.0, 0.0], epsilon=0.0) == pytest.approx([math.sqrt(0.5), -math.sqrt(0.5)])


@given(st.integers(2, 16), st.data())
def test_the_closed_form_of_a_reward_of_one_bit(size, data):
    solved = data.draw(st.integers(1, size - 1))
    share = solved / size
    deviation = math.sqrt(share * (1 - share) * size / (size - 1))

    values = advantages([1.0] * solved + [0.0] * (size - solved), epsilon=1e-4)

    assert values[0] == pytest.approx((1 - share) / (deviation + 1e-4))
    assert values[-1] == pytest.approx(-share / (deviation + 1e-4))


@given(groups)
def test_advantages_add_up_to_nothing_and_keep_the_order(rewards):
    values = advantages(rewards)

    assert math.fsum(values) == pytest.approx(0.0, abs=1e-3)
    for one, its in zip(rewards, values, strict=True):
        for other, others in zip(rewards, values, strict=True):
            assert its <= others or one > other


@given(groups, st.floats(-100.0, 100.0), st.floats(0.1, 10.0))
def test_without_epsilon_advantages_know_neither_origin_nor_unit(rewards, shift, scale):
    assume(max(rewards) - min(rewards) > 1e-3)

    moved = advantages([shift + scale * reward for reward in rewards], epsilon=0.0)

    assert moved == pytest.approx(advantages(rewards, epsilon=0.0), rel=1e-6, abs=1e-6)


@given(st.floats(-1e3, 1e3), st.integers(1, 12), st.sampled_from([0.0, 1e-6]))
def test_where_all_are_equal_and_in_a_group_of_one_no_advantage_differs_from_zero(reward, size, epsilon):
    assert advantages([reward] * size, epsilon=epsilon) == [0.0] * size


@given(groups, st.data())
def test_a_failure_has_no_advantage_and_moves_no_other(rewards, data):
    places = data.draw(st.lists(st.integers(0, len(rewards)), max_size=4))
    with_failures = list(rewards)
    for place in places:
        with_failures.insert(place, None)

    values = advantages(with_failures)

    assert [value is None for value in values] == [reward is None for reward in with_failures]
    assert [value for value in values if value is not None] == advantages(rewards)


def test_a_group_may_be_empty_or_have_failed_altogether():
    assert group_advantages([]) == ()
    assert advantages([None, None]) == [None, None]


def test_what_was_reached_before_a_failure_is_no_reward():
    source = ProcessSource("sub_goals", None)
    group = [
        rewarded(reward, process=process, process_source=source)
        for reward, process in [(1.0, 0.5), (None, 0.25), (0.0, 0.0)]
    ]

    first, failed, last = group_advantages(group, reward="process")

    assert failed is None
    assert first.value == pytest.approx(-last.value)


def test_a_truncated_episode_counts_with_the_reward_that_it_was_given():
    env = make_env(DESK, {"max_steps": 2})
    cut, solved = play_and_record(env, load_agent("silent"), task_index=0), rewarded(1.0)

    values = group_advantages([cut, solved], epsilon=0.0)

    assert cut.outcome.status == "truncated"
    assert values[0].value == -values[1].value == pytest.approx(-math.sqrt(0.5))


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("schema.sha256", changed("schema", sha256="f00")),
        ("task.digest", changed("task", digest="f00")),
        ("simulator.digest", changed("simulator", digest="f00")),
        ("data.base_digest", changed("data", base_digest="f00")),
        ("grader_digest", changed(grader_digest="f00")),
    ],
)
def test_a_group_that_mixes_is_refused_by_name_and_values(field, other):
    part, _, name = field.rpartition(".")
    ours = getattr(getattr(base_record(), part), name) if part else getattr(base_record(), name)

    with pytest.raises(UsageError, match=f"one {field}, but trajectory 0 has '{ours}' .* 2 has 'f00'"):
        group_advantages([base_record(), rewarded(0.0), other])


def test_a_failure_of_another_task_is_refused_too():
    failed = msgspec.structs.replace(rewarded(None), task=changed("task", digest="f00").task)

    with pytest.raises(UsageError, match=r"one task\.digest"):
        group_advantages([failed, base_record()])


def referring(version):
    return changed(reference_policy=version)


def test_the_reference_is_that_of_the_record():
    assert group_advantages([base_record()])[0].reference_version is None
    assert group_advantages([referring("sft-3")])[0].reference_version == "sft-3"
    with pytest.raises(UsageError, match=r"one reference_policy, but .* 0 has 'sft-3' .* 1 has None"):
        group_advantages([referring("sft-3"), base_record()])


def by_versions(*versions):
    """A record whose first message the first of these versions wrote, and so on, the last one all others."""
    messages, writers = [], [*versions, *[versions[-1]] * len(base_record().messages)]
    for message in base_record().messages:
        if isinstance(message, AssistantMessage):
            run = PolicyRun(version=writers.pop(0), count=None)
            message = msgspec.structs.replace(message, policy_version=(run,))
        messages.append(message)
    published = tuple(
        PolicyVersion(version=version, number=number)
        for number, version in enumerate(dict.fromkeys(versions))
    )
    agent = msgspec.structs.replace(base_record().agent, version=versions[0])
    return changed(agent=agent, policy_versions=published, messages=tuple(messages))


def test_policy_versions_may_differ_and_each_advantage_names_its_own():
    found = group_advantages([by_versions("7"), by_versions("7", "7", "8"), by_versions("8")])

    assert [advantage.policy_versions for advantage in found] == [("7",), ("7", "8"), ("8",)]


def test_an_advantage_says_what_it_was_taken_from():
    record = changed(grader_digest="abc")

    (found,) = group_advantages([record])
    (named,) = group_advantages([scored(0.3)], reward="rubric", group="batch 4")

    assert msgspec.to_builtins(found) == {
        "value": 0.0,
        "method": "group_normalised",
        "baseline": "group",
        "group": record.task.id,
        "step": None,
        "reward_bin": "terminal",
        "reward_source": "abc",
        "policy_versions": (record.agent.version,),
        "reference_version": None,
    }
    judged = f"letter@1.0.0 ({'d' * 64}), judged by critic@3"
    assert (named.group, named.reward_bin, named.reward_source) == ("batch 4", "rubric", judged)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ({"judge_version": "4"}, "reward source, .*critic@3.*critic@4"),
        ({"judge": "self"}, "reward source, .*critic@3.*self@3"),
        ({"digest": "e" * 64}, "reward source"),
        ({"group": ("a" * 64,)}, r"outcome\.ledger\.rubric_source\.group"),
    ],
)
def test_scores_of_other_judges_or_comparisons_are_not_mixed(source, named):
    group_advantages([scored(0.5), scored(-0.5)], reward="rubric")

    with pytest.raises(UsageError, match=f"one {named}"):
        group_advantages([scored(0.5), scored(-0.5, **source)], reward="rubric")


def test_a_judge_that_gave_no_score_gives_no_advantage_and_a_failure_was_not_judged():
    first, unscored, failed, last = group_advantages(
        [scored(0.5), scored(None), rewarded(None), scored(-0.5)], reward="rubric"
    )

    assert unscored is failed is None
    assert first.value == -last.value > 0.0


def ungraded():
    """A completed record of a task that no rule grades."""
    outcome = rewarded(0.0).outcome
    ledger = msgspec.structs.replace(outcome.ledger, terminal=None)
    return changed(outcome=msgspec.structs.replace(outcome, reward=None, ledger=ledger))


@given(groups, st.integers(0, 3))
def test_what_no_rule_grades_has_no_advantage_and_moves_no_other(rewards, size):
    group = [rewarded(reward) for reward in rewards]

    found = group_advantages([*[ungraded()] * size, *group])

    assert found[:size] == (None,) * size
    assert found[size:] == group_advantages(group)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": -1.0}, "at least 0.0"),
        ({"epsilon": math.nan}, "at least 0.0"),
    ],
)
def test_wrong_arguments_of_a_group_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        group_advantages([base_record()], **options)


def test_unknown_bins_and_rewards_that_are_no_numbers_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean: `terminal`"):
        group_advantages([base_record()], reward="terminus")
    with pytest.raises(UsageError, match="finite number, not nan"):
        advantages([math.nan, 1.0])


def test_of_two_agents_on_one_task_the_one_that_solved_it_did_better():
    env = make_env(RETAIL, {"split": "test"})
    names = ["oracle", "refuse", "silent"]
    group = [play_and_record(env, load_agent(name), task_index=3) for name in names]

    values = [advantage.value for advantage in group_advantages(group)]

    assert values[0] > 0.0 > values[1] == values[2]


# --- Steps: agents that can go on from any moment


def act(policy):
    """An agent of a policy."""
    return Agent(policy.__name__, "1", policy)


def finish(env):
    """What the task wants and was not done yet."""
    for call in env.task.actions:
        made = [c for message in env.episode.history for c in message.tool_calls]
        if (call.name, call.arguments) not in [(c.name, c.arguments) for c in made]:
            yield {"name": call.name, "arguments": call.arguments}


GIVE_UP = {"name": "transfer_to_human_agents", "arguments": {"summary": "I give up."}}


@act
def coin(env, _observation, key):
    """Solves the task for half of all keys; else only talks."""
    if key % 2:
        yield from finish(env)
    while True:
        yield say("Goodbye.")


@act
def shaky(env, _observation, key):
    """The oracle, which at one action in ten gives up."""
    while True:
        gives_up = draw_below(10, key, 0, env.episode.steps, 0) == 0
        yield GIVE_UP if gives_up else env.domain.oracle(env.episode)


@act
def hostile(env, _observation, _key):
    """Draws from all that can be drawn from, forgets what was said, and starts another episode."""
    env.np_random.random()
    env.action_space.sample()
    env.episode.history.clear()
    env.reset(seed=99)
    while True:
        yield say("Goodbye.")


OTHERS = [load_agent(name) for name in ("random", "guess", "silent", "transfer")]
AGENTS = {
    DESK: [coin, *OTHERS],
    TAU: [coin, *OTHERS],
    RETAIL: [shaky, ORACLE, *OTHERS],
    BOOKING: [shaky, ORACLE, *OTHERS],
}


@functools.cache
def env_of(env_id, **kwargs):
    return make_env(env_id, kwargs).unwrapped


def begin(env_id, seed, task=None):
    """An environment at the start of an episode."""
    env = env_of(env_id)
    env.reset(seed=seed, options={} if task is None else {"task_index": task})
    return env


def acted(env, agent, key, most=8):
    """The first actions of an agent, without the last that would end the episode; they are not taken."""
    before, actions = env.snapshot(), []
    script = agent.policy(env, {"role": "user", "name": "user", "content": ""}, key)
    action = next(script)
    while len(actions) < most:
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
        actions.append(action)
        action = script.send(observation)
    script.close()
    env.restore(before)
    return actions


# --- Steps: laws

env_ids = st.sampled_from(list(AGENTS))
seeds = st.integers(0, 2**53 - 1)


def state_of(env):
    """All that decides how an environment goes on, in this episode and in later ones."""
    return (
        env.snapshot(),
        env.data_digest(),
        env.outcome,
        env.np_random.bit_generator.state,
        env.action_space.np_random.bit_generator.state,
        env._key,
        env._number,
    )


@given(env_ids, seeds, st.data())
@settings(max_examples=30)
def test_an_environment_is_never_changed(env_id, seed, data):
    env = begin(env_id, seed)
    agent = data.draw(st.sampled_from([hostile, *AGENTS[env_id]]))
    for action in acted(env, load_agent("random"), seed + 1, most=data.draw(st.integers(0, 3))):
        env.step(action)
    actions = acted(env, load_agent("random"), seed, most=3)
    episode, before = env.episode, state_of(env)

    step_values(env, actions, agent, rollouts=2, seed=seed)

    assert env.episode is episode
    assert state_of(env) == before


def replayed(env_id, seed, actions, agent, key):
    """What `step_values` is a short cut for: a new episode, its first actions, and then the agent."""
    env = begin(env_id, seed)
    observation = {"role": "user", "name": "user", "content": env.episode.history[0].content}
    for action in actions:
        observation, *_ = env.step(action)
    play(env, agent, observation, key)
    return env.outcome.reward


@given(env_ids, seeds, st.data())
@settings(max_examples=20)
def test_a_fork_gives_what_a_replay_from_the_start_gives(env_id, seed, data):
    agent = data.draw(st.sampled_from(AGENTS[env_id]))
    actions = acted(begin(env_id, seed), agent, seed, most=4)

    values = step_values(begin(env_id, seed), actions, agent, rollouts=3, seed=seed)

    assert [value.action for value in values] == actions
    for step, value in enumerate(values):
        keys = [splitmix64(seed, step, number, 0) for number in range(3)]
        expected = [replayed(env_id, seed, actions[:step], agent, key) for key in keys]
        assert value.before.value == sum(expected) / 3


@given(env_ids, seeds)
@settings(max_examples=15)
def test_equal_seeds_give_equal_values(env_id, seed):
    agent = AGENTS[env_id][0]
    actions = acted(begin(env_id, seed), agent, seed, most=3)

    first = step_values(begin(env_id, seed), actions, agent, rollouts=2, seed=seed)

    assert step_values(begin(env_id, seed), actions, agent, rollouts=2, seed=seed) == first


def test_other_seeds_give_other_completions():
    env = begin(DESK, 0, task=0)

    found = {step_values(env, [say("Hello.")], coin, 4, seed)[0].before.value for seed in range(20)}

    assert len(found) > 1


@given(st.sampled_from([RETAIL, BOOKING]), st.integers(0, 30), seeds)
@settings(max_examples=10)
def test_the_advantages_of_an_episode_add_up_to_its_reward_less_the_first_value(env_id, task, seed):
    record = play_and_record(env_of(env_id), shaky, seed=seed, key=seed, task_index=task)

    values = step_values(env_of(env_id), record, shaky, rollouts=3, seed=seed)

    gained = math.fsum(value.advantage for value in values)
    assert gained == pytest.approx(record.outcome.reward - values[0].before.value)
    assert all(value.after == then.before for value, then in itertools.pairwise(values))
    assert values[-1].after == Estimate(value=record.outcome.reward, standard_error=0.0)


# --- Steps: examples


def test_the_estimate_of_a_fair_coin_and_its_standard_error():
    env, rollouts = begin(DESK, 0, task=0), 400

    (value,) = step_values(env, [say("Hello.")], coin, rollouts, seed=5)

    share = value.before.value
    assert abs(share - 0.5) < 5 * 0.5 / math.sqrt(rollouts)
    assert value.before.standard_error == pytest.approx(math.sqrt(share * (1 - share) / (rollouts - 1)))
    assert value.standard_error == math.hypot(value.before.standard_error, value.after.standard_error)


def test_the_call_that_settles_a_task_is_worth_what_the_coin_left_open():
    env = begin(DESK, 0, task=0)
    actions = [*finish(env), *[say("Goodbye.")] * 3]

    values = step_values(env, actions, coin, 64, seed=1)

    lend = values[1]
    assert lend.after == Estimate(value=1.0, standard_error=0.0, rollouts=64)
    assert lend.advantage == 1.0 - lend.before.value
    assert 0.3 < lend.before.value < 0.7
    assert decisive_step(values) is lend


@pytest.mark.parametrize("env_id", [RETAIL, BOOKING])
def test_an_oracle_that_may_give_up_is_worth_the_chance_that_it_does_not(env_id):
    env, rollouts = env_of(env_id), 64
    record = play_and_record(env, ORACLE, seed=6)

    values = step_values(env, record, shaky, rollouts, seed=0)

    for value in values:
        chance = 0.9 ** (record.outcome.steps - value.step)
        deviation = math.sqrt(chance * (1 - chance) / rollouts)
        assert abs(value.before.value - chance) < 4 * deviation


def counting(monkeypatch):
    """How often environments step and reset."""
    counts = {"step": 0, "reset": 0}
    for name in counts:
        method = getattr(ToolEnv, name)

        def count(self, *args, name=name, method=method, **kwargs):
            counts[name] += 1
            return method(self, *args, **kwargs)

        monkeypatch.setattr(ToolEnv, name, count)
    return counts


def test_nothing_is_played_again(monkeypatch):
    env = begin(RETAIL, 3)
    record = play_and_record(env, ORACLE, seed=3)
    length, rollouts = record.outcome.steps, 2
    counts = counting(monkeypatch)

    values = step_values(env, record, ORACLE, rollouts, seed=0)

    # The walk, and from each moment but the last what was left; a replay would add as much again in front.
    assert counts == {"step": length + rollouts * length * (length + 1) // 2, "reset": 1}
    assert [value.before.value for value in values] == [1.0] * length


def test_a_record_and_its_actions_have_the_same_values_in_a_wrapper_too():
    env = env_of(RETAIL)
    record = play_and_record(env, shaky, seed=4, key=9)
    actions = [message.action for message in record.messages if isinstance(message, AssistantMessage)]

    by_record = step_values(gymnasium.Wrapper(env), record, shaky, 2, seed=1)
    env.reset(seed=4)

    assert step_values(env, actions, shaky, 2, seed=1) == by_record
    assert [value.message for value in by_record] == [
        number for number, message in enumerate(record.messages) if isinstance(message, AssistantMessage)
    ]


def test_completions_that_the_limit_cuts_are_counted():
    env = make_env(DESK, {"max_steps": 2, "user": "scripted"})
    env.reset(seed=0, options={"task_index": 0, "user_turns": ["Hi."] * 9})

    (value,) = step_values(env, [say("Hello.")], load_agent("silent"), 3, seed=0)

    assert value.before == Estimate(value=0.0, standard_error=0.0, rollouts=3, truncated=3)


def test_completions_whose_infrastructure_fails_count_nowhere_else():
    @act
    def caller(_env, _observation, key):
        """Calls into the dead line, or closes the desk."""
        while True:
            yield say("Hello?") if key % 2 else {"name": "close_desk", "arguments": {}}

    env = make_env(DESK, {"user": "dead_line"})
    env.reset(seed=0, options={"task_index": 2, "fails_at": 1})
    rollouts, seed = 16, 3
    failing = sum(splitmix64(seed, 0, number, 0) % 2 for number in range(rollouts))

    (value,) = step_values(env, [{"name": "think", "arguments": {}}], caller, rollouts, seed)

    assert 0 < failing < rollouts
    assert value.before == Estimate(
        value=0.0, standard_error=0.0, rollouts=rollouts - failing, failed=failing
    )


def test_where_every_completion_fails_there_is_no_value_and_no_advantage():
    @act
    def unreachable(_env, _observation, _key):
        raise InfrastructureError("The model server is down.")
        yield

    env = begin(DESK, 0, task=0)

    (value,) = step_values(env, [say("Hello.")], unreachable, 2, seed=0)

    assert value.before == Estimate(value=None, standard_error=None, failed=2)
    assert value.advantage is value.standard_error is decisive_step([value], errors=0.0) is None


def test_one_completion_has_no_standard_error():
    (value,) = step_values(begin(DESK, 0), [say("Hello.")], coin, 1, seed=0)

    assert value.before.standard_error is value.standard_error is None
    assert value.before.rollouts == 1


def test_a_failure_while_the_actions_are_played_is_raised():
    env = make_env(DESK, {"user": "dead_line"})
    env.reset(seed=0, options={"fails_at": 1})

    with pytest.raises(InfrastructureError, match="The line is dead"):
        step_values(env, [say("Hello?")], load_agent("transfer"), 1, seed=0)


@pytest.mark.parametrize(
    ("played", "rollouts", "message"),
    [
        ([], 0, "at least 1, not 0"),
        ([], 1.5, "at least 1, not 1.5"),
        ("Hello.", 1, "a list of actions"),
        ({"name": "think", "arguments": {}}, 1, "a list of actions"),
        (rewarded(None), 1, "no reward to give credit for"),
    ],
)
def test_wrong_arguments_of_steps_are_refused(played, rollouts, message):
    with pytest.raises(UsageError, match=message):
        step_values(begin(DESK, 0), played, coin, rollouts, seed=0)


def test_an_agent_that_stops_is_refused():
    with pytest.raises(UsageError, match="`stops` stopped before the end"):
        step_values(begin(DESK, 0), [], Agent("stops", "1", lambda *_: iter(())), 1, seed=0)


def test_actions_outside_of_an_episode_are_refused():
    env = begin(DESK, 0, task=0)
    with pytest.raises(EpisodeEndedError):
        step_values(env, [{"name": "close_desk", "arguments": {}}, say("Hello.")], coin, 1, seed=0)
    with pytest.raises(EpisodeEndedError):
        step_values(make_env(DESK, {}), [say("Hello.")], coin, 1, seed=0)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (changed("schema", sha256="f00"), r"schema\.sha256"),
        (changed("task", digest="f00"), r"task\.digest"),
        (changed("simulator", digest="f00"), r"simulator\.digest"),
        (changed("data", base_digest="f00"), r"data\.base_digest"),
        (changed(grader_digest="f00"), "grader_digest"),
        (rewarded(0.0), r"outcome\.reward"),
    ],
)
def test_a_record_of_something_else_is_refused_by_name(other, named):
    with pytest.raises(ReplayMismatchError, match=f"{named}: recorded .*, met "):
        step_values(env_of(DESK), other, coin, 1, seed=0)


# --- The call that decided it


def estimate(value, error=0.0):
    return Estimate(value=value, standard_error=error, rollouts=2)


def steps(*worth, errors=None):
    """Steps that lead through these values."""
    moments = [estimate(*pair) for pair in zip(worth, errors or [0.0] * len(worth), strict=True)]
    return [
        StepValue(step=number, message=number, action="", before=before, after=after)
        for number, (before, after) in enumerate(itertools.pairwise(moments))
    ]


@pytest.mark.parametrize(
    ("worth", "decided"),
    [
        ([1.0, 1.0, 0.0, 0.0], 1),
        ([1.0, 0.0, 1.0, 0.0], 2),
        ([0.0, 1.0, 0.0], 1),
        ([0.5, 0.9, 0.6, 0.0], 2),
        ([0.8, 0.1, 0.6, 1.0], 1),
        ([0.2, 0.7, 1.0], 0),
        ([1.0, 1.0, 1.0], None),
        ([0.5], None),
        ([1.0, None, 0.0], None),
        ([1.0, None, 1.0, 0.0], 2),
    ],
)
def test_the_step_that_moved_most_towards_the_end_decided(worth, decided):
    found = decisive_step(steps(*worth))

    assert (found and found.step) == decided


def test_what_could_be_chance_did_not_decide():
    values = steps(0.6, 0.4, 0.1, errors=[0.1, 0.1, 0.01])

    assert decisive_step(values, errors=0.0).step == 1
    assert decisive_step(values, errors=2.5).step == 1
    assert decisive_step(values, errors=3.0) is None


def test_without_standard_errors_one_must_ask_for_any_advantage():
    values = steps(1.0, 0.0, errors=[None, 0.0])

    assert decisive_step(values, errors=0.0).step == 0
    with pytest.raises(UsageError, match="two rollouts or more"):
        decisive_step(values)
    with pytest.raises(UsageError, match="is at least"):
        decisive_step(values, errors=-1)


SABOTEURS = [(env_id, rule) for env_id in (RETAIL, BOOKING) for rule in env_of(env_id).domain.saboteurs]


def sabotaged(env_id, rule, most=2, tasks=120):
    """The first tasks where a saboteur finds a place: each with its actions and the step of the breach."""
    env, found = env_of(env_id, split="test"), []
    for task in range(tasks):
        actions = []
        env.reset(seed=task, options={"task_index": task})
        while env.outcome is None:
            actions.append(env.domain.saboteurs[rule](env.episode))
            env.step(actions[-1])
        if env.outcome.violations:
            found.append((task, actions, env.outcome.violations[0]["step"]))
        if len(found) == most:
            break
    return env, found


@pytest.mark.parametrize(("env_id", "rule"), SABOTEURS)
def test_the_sabotaged_call_decided_an_episode_of_the_oracle(env_id, rule):
    env, episodes = sabotaged(env_id, rule)

    assert len(episodes) == 2
    for task, actions, breach in episodes:
        env.reset(seed=task, options={"task_index": task})

        values = step_values(env, actions, ORACLE, rollouts=2, seed=0)

        assert decisive_step(values).step == breach
        assert [value.before.value for value in values[: breach + 1]] == [1.0] * (breach + 1)
        assert {value.after.value for value in values[breach:]} == {0.0}


def test_an_undisturbed_oracle_decided_nothing():
    env = env_of(RETAIL)

    values = step_values(env, play_and_record(env, ORACLE, seed=2), ORACLE, rollouts=2, seed=0)

    assert {value.advantage for value in values} == {0.0}
    assert decisive_step(values) is None


@pytest.mark.parametrize("rule", ["explicit_yes", "one_customer"])
def test_under_an_agent_that_makes_mistakes_the_sabotaged_call_still_decided(rule):
    env, ((task, actions, breach),) = sabotaged(RETAIL, rule, most=1)
    env.reset(seed=task, options={"task_index": task})

    values = step_values(env, actions, shaky, rollouts=32, seed=0)

    assert 0.0 < values[breach].before.value < 1.0
    assert values[breach].standard_error > 0.0
    assert decisive_step(values).step == breach


# --- Advantages of steps


def test_the_advantages_of_steps_are_records_too():
    env = env_of(RETAIL)
    record = play_and_record(env, shaky, seed=4, key=9)
    values = step_values(env, record, ORACLE, 2, seed=1)

    found = step_advantages(record, values, ORACLE)

    assert [advantage.value for advantage in found] == [value.advantage for value in values]
    assert [advantage.step for advantage in found] == list(range(record.outcome.steps))
    assert {msgspec.structs.replace(advantage, value=0.0, step=0) for advantage in found} == {
        msgspec.structs.replace(
            group_advantages([record])[0],
            step=0,
            method="monte_carlo",
            baseline=f"oracle@{ORACLE.version}",
            policy_versions=(shaky.version,),
        )
    }


def test_a_step_without_a_value_has_no_advantage_and_other_actions_are_refused():
    record, gold = base_record(), [m.action for m in base_record().messages if hasattr(m, "action")]
    places = [number for number, message in enumerate(record.messages) if hasattr(message, "action")]
    values = [
        StepValue(step=step, message=place, action=action, before=estimate(None), after=estimate(1.0))
        for step, (place, action) in enumerate(zip(places, gold, strict=True))
    ]

    assert step_advantages(record, values, coin) == (None,) * len(gold)
    with pytest.raises(UsageError, match="of other actions"):
        step_advantages(record, values[1:], coin)
