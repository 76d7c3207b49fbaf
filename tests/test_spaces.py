import copy
import json
import os
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from hypothesis import given
from hypothesis import strategies as st
from strategies import SHIPPED, json_values, mutated_calls, shipped_schemas

from tool_envs.errors import UsageError
from tool_envs.schema import load_schema
from tool_envs.spaces import MessageSpace, ToolCallSpace

RETAIL = load_schema("retail", "1.0.0")
SPACES = [lambda seed=None: ToolCallSpace(RETAIL, seed), lambda seed=None: MessageSpace(seed)]
both_spaces = pytest.mark.parametrize("make", SPACES, ids=["ToolCallSpace", "MessageSpace"])


class EchoEnv(gymnasium.Env):
    """Answers every call with a message about it; ends after three."""

    def __init__(self):
        self.action_space = ToolCallSpace(RETAIL)
        self.observation_space = MessageSpace()

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.steps = 0
        return {"role": "user", "name": "user", "content": f"Grüß Gott {self.np_random.integers(100)}"}, {}

    def step(self, action):
        assert action in self.action_space
        self.steps += 1
        observation = {"role": "tool", "name": action["name"], "content": json.dumps(action["arguments"])}
        return observation, 0.0, self.steps == 3, False, {}


# Samples


@pytest.mark.parametrize(("domain", "version"), SHIPPED)
@given(seed=st.integers(0, 2**32))
def test_every_sample_is_contained(domain, version, seed):
    space = ToolCallSpace(load_schema(domain, version), seed)

    assert all(space.sample() in space for _ in range(20))


@given(seed=st.integers(0, 2**32))
def test_every_message_sample_is_contained(seed):
    space = MessageSpace(seed)

    assert all(space.sample() in space for _ in range(20))


def test_message_samples_go_beyond_ascii():
    space = MessageSpace(seed=0)

    assert any(not space.sample()["content"].isascii() for _ in range(50))


@both_spaces
def test_equal_seeds_give_equal_samples(make):
    a, b, c = make(5), make(5), make(6)
    samples = [[space.sample() for _ in range(20)] for space in (a, b, c)]
    a.seed(5)

    assert samples[0] == samples[1] != samples[2]
    assert [a.sample() for _ in range(20)] == samples[0]


def test_samples_are_the_same_in_every_process():
    program = (
        "import json; from tool_envs.schema import load_schema; from tool_envs.spaces import *;"
        "spaces = [ToolCallSpace(load_schema('retail', '1.0.0'), 7), MessageSpace(7)];"
        "print(json.dumps([s.sample() for _ in range(50) for s in spaces]))"
    )

    def output(hash_seed):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        ).stdout

    assert output("0") == output("1") == output("4242")


def test_samples_of_a_seed_stay_as_they_are():
    space = ToolCallSpace(RETAIL, seed=3)

    assert space.sample() == {
        "name": "cancel_pending_order",
        "arguments": {"order_id": "#W8504417", "reason": "no longer needed"},
    }


def test_a_mask_allows_only_its_tools():
    space = ToolCallSpace(RETAIL, seed=0)
    mask = np.array([name.startswith("get_") for name in RETAIL.tools], dtype=np.int8)

    names = {space.sample(mask=mask)["name"] for _ in range(100)}

    assert names == {"get_order_details", "get_product_details", "get_user_details"}


def test_probabilities_weigh_the_tools():
    space = ToolCallSpace(RETAIL, seed=0)
    probability = np.zeros(len(RETAIL.tools))
    probability[[0, 4]] = 0.25, 0.75
    names = [space.sample(probability=probability)["name"] for _ in range(1000)]
    tools = list(RETAIL.tools)

    assert set(names) == {tools[0], tools[4]}
    assert 200 < names.count(tools[0]) < 300


N = len(RETAIL.tools)
BAD_MASKS = {
    "list": {"mask": [1] * N},
    "dtype": {"mask": np.ones(N)},
    "shape": {"mask": np.ones(N + 1, dtype=np.int8)},
    "zeros": {"mask": np.zeros(N, dtype=np.int8)},
    "twos": {"mask": np.full(N, 2, dtype=np.int8)},
    "probability dtype": {"probability": np.ones(N, dtype=np.int8)},
    "probability sum": {"probability": np.ones(N)},
    "probability sign": {"probability": np.array([2.0, -1.0] + [0.0] * (N - 2))},
    "probability nan": {"probability": np.full(N, np.nan)},
    "both": {"mask": np.ones(N, dtype=np.int8), "probability": np.full(N, 1 / N)},
}


@pytest.mark.parametrize("arguments", BAD_MASKS.values(), ids=BAD_MASKS)
def test_bad_masks_and_probabilities_are_refused(arguments):
    with pytest.raises(UsageError, match=r"mask|probability"):
        ToolCallSpace(RETAIL, seed=0).sample(**arguments)


def test_messages_take_no_mask():
    with pytest.raises(UsageError, match="neither"):
        MessageSpace().sample(mask=np.ones(2, dtype=np.int8))


# Membership


@given(st.data())
def test_a_call_is_contained_exactly_when_its_tool_accepts_it(data):
    schema = data.draw(shipped_schemas)
    call = data.draw(mutated_calls(schema))
    tool = schema.tools.get(call["name"])

    assert (call in ToolCallSpace(schema)) == (tool is not None and tool.accepts_reference(call["arguments"]))


@both_spaces
@given(value=json_values)
def test_other_json_values_are_not_contained(make, value):
    assert value not in make()


class Hostile(dict):
    def __getitem__(self, key):
        raise RuntimeError

    keys = __eq__ = __len__ = __getitem__
    __hash__ = None


CALL = {"name": "think", "arguments": {"thought": "x"}}
MESSAGE = {"role": "user", "name": "user", "content": "x"}
ODD = [
    None,
    (),
    "think",
    object(),
    Hostile(CALL),
    CALL | {"id": "1"},
    CALL | {"name": ["think"]},
    CALL | {"name": "\ud800"},
    CALL | {"arguments": {"thought": "\ud800"}},
    CALL | {"arguments": {"thought": float("nan")}},
    CALL | {"arguments": None},
    {"name": "think"},
    {1: 2, 3: 4},
    MESSAGE | {"role": "assistant"},
    MESSAGE | {"role": ["user"]},
    MESSAGE | {"content": b"x"},
    MESSAGE | {"content": "\ud800"},
    MESSAGE | {"more": 1},
]


@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
@both_spaces
def test_odd_values_are_not_contained(make, value):
    assert value not in make()


def test_calls_and_messages_are_contained():
    assert CALL in ToolCallSpace(RETAIL)
    assert MESSAGE | {"content": "ü" * 100_000} in MessageSpace()


# What Gymnasium asks of a space


@both_spaces
def test_copies_are_equal_and_go_on_alike(make):
    space = make(1)
    space.sample()
    copies = [copy.deepcopy(space), pickle.loads(pickle.dumps(space))]  # noqa: S301
    following = [space.sample() for _ in range(5)]

    assert all(other == space for other in copies)
    assert all([other.sample() for _ in range(5)] == following for other in copies)


@both_spaces
def test_samples_survive_json(make):
    space = make(1)
    samples = [space.sample() for _ in range(20)]

    assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples)))) == samples


def test_spaces_are_equal_by_schema():
    assert ToolCallSpace(RETAIL, 1) == ToolCallSpace(RETAIL, 2)
    assert ToolCallSpace(RETAIL) != ToolCallSpace(load_schema("retail", "1.1.0"))
    assert MessageSpace() == MessageSpace(1)
    assert MessageSpace() != ToolCallSpace(RETAIL)


def test_representations_are_short():
    assert repr(ToolCallSpace(RETAIL)) == "ToolCallSpace(retail 1.0.0, 17 tools)"
    assert repr(MessageSpace()) == "MessageSpace()"


@both_spaces
def test_spaces_have_no_array_form(make):
    assert not make().is_np_flattenable
    assert make().shape is None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_env_with_the_spaces_passes_the_checker():
    check_env(EchoEnv(), skip_render_check=True)


@pytest.mark.parametrize("make", [SyncVectorEnv, lambda envs: AsyncVectorEnv(envs, shared_memory=False)])
def test_vector_envs_step_with_the_spaces(make):
    envs = make([EchoEnv] * 2)
    try:
        envs.action_space.seed(0)
        observations, _ = envs.reset(seed=0)
        for _ in range(5):
            actions = envs.action_space.sample()
            observations, *_ = envs.step(actions)

        assert len(observations) == 2
        assert all(observation in MessageSpace() for observation in observations)
        assert observations[0]["name"] == actions[0]["name"]
    finally:
        envs.close()
