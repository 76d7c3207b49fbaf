"""The compiled stepper, Gymnasium's vector of single environments beside it, and what is done with both."""

import copy

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

import tool_envs  # noqa: F401 - registers the ids

ID = "tool_envs/RetailArray-v0"
LANES = 4
POOL = 24
FORMS = ("sequential", "multidiscrete")
MODES = ("NextStep", "SameStep", "Disabled")
VERSIONS = ("1.0.0", "1.1.0", "2.0.0")


def make(num_envs=LANES, **kwargs):
    """The compiled stepper."""
    return gymnasium.make_vec(ID, num_envs, **{"pool_size": POOL, **kwargs}).unwrapped


def make_sync(num_envs=LANES, autoreset_mode="NextStep", **kwargs):
    """Its reference."""
    mode = AutoresetMode(autoreset_mode)
    return gymnasium.make_vec(
        ID, num_envs, "sync", vector_kwargs={"autoreset_mode": mode}, **{"pool_size": POOL, **kwargs}
    )


def bits(value):
    """The value in a form in which `==` sees types, shapes and each bit."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: bits(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [bits(inner) for inner in value]
    return type(value), repr(value)


def lane_bits(observations, lane):
    """One lane of observations."""
    return bits({name: table[lane] for name, table in observations.items()})


def state(envs, lanes=None):
    """All that a snapshot of some lanes holds, for `==`."""
    snapshot = envs.snapshot(lanes)
    return [fields_of(array) for array in snapshot.kept]


def fields_of(array):
    """A structured array without what lies between its fields."""
    if array.dtype.names is None:
        return bits(np.ascontiguousarray(array))
    return {name: fields_of(array[name]) for name in array.dtype.names}


def some_actions(envs, rng, legal=1.0):
    """For each lane an action: with a chance of `legal` one that is possible, else any one of the space."""
    actions = envs.sample_actions(rng)
    space = envs.single_action_space
    shape = (envs.num_envs, *space.shape)
    anything = rng.integers(0, space.n if space.shape == () else space.nvec, shape)
    wild = rng.random(envs.num_envs) > legal
    actions[wild] = anything[wild]
    return actions


def run(envs, seed, steps=20, legal=0.9):
    """Steps with actions that are a function of the seed and of what is possible; all that they gave."""
    rng = np.random.default_rng(seed)
    return [bits(envs.step(some_actions(envs, rng, legal))) for _ in range(steps)]


def compare(both, moves, seed=0, legal=0.9):
    """Do the same with the stepper and its reference, and hold what they give against each other.

    Args:
        both: The stepper and the reference.
        moves: Each `step`, or the arguments of a `reset`; the first one is a reset.
        seed: Of the actions.
        legal: The share of those that are possible.

    Returns:
        How many episodes ended.
    """
    stepper, rng = both[0].unwrapped, np.random.default_rng(seed)
    over, ends = np.zeros(stepper.num_envs, bool), 0
    for move in moves:
        if move == "step" and over.any():
            move = {"options": {"reset_mask": over}}
        if move == "step":
            actions = some_actions(stepper, rng, legal)
            given, wanted = (envs.step(actions) for envs in both)
            ends += int((given[2] | given[3]).sum())
            if stepper.autoreset_mode is AutoresetMode.DISABLED:
                over = given[2] | given[3]
        else:
            given, wanted = (envs.reset(**copy.deepcopy(move)) for envs in both)
            over = over & ~begun_by(move, stepper.num_envs)
        assert bits(given) == bits(wanted)
        assert np.array_equal(stepper.action_masks(), given[0]["action_mask"] > 0)
    return ends


def begun_by(move, lanes):
    """Which lanes a reset is for."""
    return (move.get("options") or {}).get("reset_mask", np.ones(lanes, bool))


def short_run(form, mode="NextStep", steps=150):
    """Compare two lanes for some steps; for a process of its own. Returns how many episodes ended."""
    kwargs = {"action_form": form, "autoreset_mode": mode, "max_steps": 12, "pool_size": 4}
    both = make(2, **kwargs), make_sync(2, **kwargs)
    return compare(both, [{"seed": 1}, *["step"] * steps])


def first_beyond(numbers):
    """Reads where nothing is; to be compiled."""
    return numbers[len(numbers)]
