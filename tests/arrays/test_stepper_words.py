"""Whose words are heard: the customer's own, or for controls nobody's, or another customer's."""

import numpy as np
import pytest
from stepper_lanes import POOL, bits, make

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


def test_shuffled_begins_with_the_words_of_the_next_task():
    heard, shuffled = (make(POOL, words=words, difficulty=1) for words in ("heard", "shuffled"))
    tasks = np.arange(POOL)

    own, _ = heard.reset(seed=0, options={"task_index": (tasks + 1) % POOL})
    others, infos = shuffled.reset(seed=0, options={"task_index": tasks})

    assert bits(own) == bits(others)
    assert infos["task_index"].tolist() == tasks.tolist()


def test_an_unknown_value_is_refused():
    with pytest.raises(UnknownNameError, match="blanked"):
        make(words="silent")
