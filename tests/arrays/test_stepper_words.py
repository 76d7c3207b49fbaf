"""Whose words are heard: the customer's own, or for controls nobody's, or another customer's."""

import numpy as np
import pytest
from stepper_lanes import POOL, lane_bits, make

from tool_envs.errors import UnknownNameError

WORDS = ("says ", "wants ", "asks for ", "because ", "does not know ", "demands ", "yes to ")


def words_seen(envs, steps=120):
    """For each field of the conversation that is made of words, how often it was shown."""
    fields = envs.reference.observations.fields["conversation"]
    of_words = [place for place, field in enumerate(fields) if field.startswith(WORDS)]
    rng, seen = np.random.default_rng(0), np.zeros(len(of_words), np.int64)
    observation, _ = envs.reset(seed=0)
    for _ in range(steps):
        seen += observation["conversation"][:, of_words].sum(axis=0)
        observation = envs.step(envs.sample_actions(rng))[0]
    return seen


@pytest.mark.parametrize("mask", ["policy", "schema"])
def test_blanked_lets_nothing_of_a_wish_be_heard(mask):
    assert not words_seen(make(32, words="blanked", mask=mask)).any()
    assert (words_seen(make(32, mask=mask)) > 0).sum() > 20


def test_shuffled_begins_with_the_words_of_any_other_task():
    heard, shuffled = (make(POOL, words=words, difficulty=1) for words in ("heard", "shuffled"))
    tasks = np.arange(POOL)

    own, _ = heard.reset(seed=0, options={"task_index": tasks})
    others, infos = shuffled.reset(seed=0, options={"task_index": tasks})

    spoken = [[lane_bits(own, one) == lane_bits(others, lane) for one in tasks] for lane in tasks]
    assert all(map(any, spoken))
    assert not any(each[lane] for lane, each in enumerate(spoken) if sum(each) == 1)
    # Families take turns: how far off the words are from must not tell the family.
    assert len({(each.index(True) - lane) % POOL for lane, each in enumerate(spoken)}) > POOL / 3
    assert infos["task_index"].tolist() == tasks.tolist()


def test_an_address_of_another_customer_is_not_wanted():
    """Who wants their own profile changed and is heard to tell another address turns that down."""
    envs = make(64, words="shuffled", difficulty=1, pool_size=256)
    choices = envs.reference.form.names
    rng = np.random.default_rng(0)
    moved = choices.index("propose_modify_user_address")
    says_yes = envs.reference.observations.fields["conversation"].index("says affirm")
    proposed = 0
    observation, _ = envs.reset(seed=0)
    for _ in range(400):
        masks = envs.action_masks()
        actions = np.where(masks[:, moved], moved, envs.sample_actions(rng))
        observation = envs.step(actions)[0]
        offered = actions == moved
        proposed += offered.sum()
        assert not observation["conversation"][offered, says_yes].any()
    assert proposed > 100


def test_an_unknown_value_is_refused():
    with pytest.raises(UnknownNameError, match="blanked"):
        make(words="silent")
