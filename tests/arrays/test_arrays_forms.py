"""Both forms of actions: exact masks, what can be expressed, and what is no action at all."""

import itertools

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_arrays import ARRAYS, DOCUMENT, ENV_ID

from tool_envs.array_view import SKIPPED, Layout, Slot, Verb, completions
from tool_envs.arrays.forms import FORMS, NOTHING, MultidiscreteForm, Partial, SequentialForm
from tool_envs.arrays.layout import make_layout
from tool_envs.errors import UsageError
from tool_envs.schema import ToolSchema

LEVELS = ("policy", "schema")
REFUSALS = ("no_room", "hook_twice", "no_such_visitor")
LAYOUT = make_layout(ToolSchema.from_document(DOCUMENT, "toy"), ARRAYS)
NUMBER = {verb.name: number for number, verb in enumerate(LAYOUT.verbs)}
SEQUENTIAL, MULTIDISCRETE = SequentialForm(LAYOUT, "policy"), MultidiscreteForm(LAYOUT, "policy")

moments = given(seed=st.integers(0, 10_000), steps=st.integers(0, 40))


def make(form, level="policy"):
    return gymnasium.make(ENV_ID, action_form=form, mask=level).unwrapped


def wander(env, seed, steps):
    """Start an episode and take some possible actions; it is still running then."""
    env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(steps):
        before = env.snapshot()
        if any(env.step(env.action_space.sample(mask=env.sample_mask()))[2:4]):
            env.restore(before)
            break
    return env.snapshot()


def scene_of(env):
    return env._play.scene


def allowed_actions(env, level):
    """All actions that the scene allows."""
    numbers = np.flatnonzero(scene_of(env).allowed(level, -1, ())).tolist()
    return {
        Partial(number, chosen)
        for number in numbers
        for chosen in completions(scene_of(env), level, number, LAYOUT.verbs[number])
    }


def actions_from(env, partial):
    """All actions that possible choices lead to; each way must lead to one."""
    form, scene = env.form, scene_of(env)
    if form.is_whole(partial):
        return [partial]
    mask = form.mask(scene, partial)
    choices = np.flatnonzero(mask).tolist()
    ways = [actions_from(env, form.take(scene, partial, mask, choice)) for choice in choices]
    assert all(ways)
    return list(itertools.chain(*ways))


def as_choices(action):
    """An action as choices of the sequential form."""
    verb = LAYOUT.verbs[action.verb]
    named = zip(verb.slots, action.chosen, strict=True)
    names = [f"{slot.source} {slot.labels[choice]}" for slot, choice in named if choice != SKIPPED]
    return [action.verb, *map(SEQUENTIAL.names.index, names)]


def as_array(action, rest=0):
    """An action in the multidiscrete form; `rest` stands in the dimensions that it does not read."""
    verb = LAYOUT.verbs[action.verb]
    chosen = dict(zip((slot.name for slot in verb.slots), action.chosen, strict=True))
    read = [chosen.get(slot.name, SKIPPED) for slot in LAYOUT.slots]
    return np.array([action.verb, *(rest if choice == SKIPPED else choice for choice in read)])


# Masks


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=40)
@moments
def test_possible_choices_lead_to_exactly_the_allowed_actions(level, seed, steps):
    env = make("sequential", level)
    partial = wander(env, seed, steps).partial
    made = actions_from(env, NOTHING)

    assert set(made) == allowed_actions(env, level)
    assert len(made) == len(set(made))
    assert set(actions_from(env, partial)) <= set(made)


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=15)
@moments
def test_every_allowed_action_is_carried_out_in_both_forms(level, seed, steps):
    one_by_one, at_once = (make(form, level) for form in FORMS)
    before = wander(at_once, seed, steps)
    for action in allowed_actions(at_once, level):
        one_by_one.restore(before)
        at_once.restore(before)
        for choice in as_choices(action):
            *result, _ = one_by_one.step(choice)
        *result_at_once, _ = at_once.step(as_array(action))

        assert result[0]["invalid"] == result_at_once[0]["invalid"] == 0
        assert result[1:] == result_at_once[1:]
        assert one_by_one.json_env.messages == at_once.json_env.messages
        assert one_by_one.json_env.episode.steps == before.episode.fields["steps"] + 1
        code = one_by_one.json_env.episode.history[-1].code
        assert code is None or (level == "schema" and code in REFUSALS)


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=40)
@moments
def test_a_dimension_allows_what_some_allowed_action_has_there(level, seed, steps):
    env = make("multidiscrete", level)
    wander(env, seed, steps)
    parts = [np.zeros(size, bool) for size in env.action_space.nvec]
    for action in allowed_actions(env, level):
        verb = LAYOUT.verbs[action.verb]
        parts[0][action.verb] = True
        for slot, choice in zip(verb.slots, action.chosen, strict=True):
            if choice != SKIPPED:
                parts[1 + LAYOUT.slots.index(slot)][choice] = True
    for part in parts:
        part[0] |= not part.any()

    assert np.array_equal(env.action_masks(), np.concatenate(parts))


def as_read(action):
    """The verb of an array, and what stands in the dimensions that it reads; the rest is -1."""
    verb, *choices = action
    slots = LAYOUT.verbs[verb].slots
    chosen = [choices[LAYOUT.slots.index(slot)] for slot in slots]
    ended = {slot.name for slot, choice in zip(slots, chosen, strict=True) if slot.ends(choice)}
    read = {slot for slot in slots if slot.needs not in ended}
    return (verb, *(c if slot in read else SKIPPED for slot, c in zip(LAYOUT.slots, choices, strict=True)))


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), steps=st.integers(0, 40), data=st.data())
def test_at_once_what_the_mask_allows_is_carried_out_if_it_can_be_expressed(seed, steps, data):
    env = make("multidiscrete")
    before = wander(env, seed, steps)
    parts = env.sample_mask()
    verb = data.draw(st.sampled_from(np.flatnonzero(parts[0]).tolist()))
    action = (verb, *(data.draw(st.integers(0, len(part) - 1)) for part in parts[1:]))
    possible = all(part[choice] for part, choice in zip(parts, as_read(action), strict=True) if choice >= 0)
    expressible = {tuple(as_array(found, SKIPPED)) for found in allowed_actions(env, "schema")}
    observation, *_ = env.step(action)
    carried_out = env.json_env.episode.steps - before.episode.fields["steps"]

    assert carried_out == (possible and as_read(action) in expressible)
    assert observation["invalid"] == 1 - carried_out


def prepare(env, *actions):
    """Find the visitor, list the free hooks, and take these actions."""
    env.reset(options={"task_id": "ada-(0, 1)-(2, 0)-plain"})
    begin = (Partial(NUMBER[verb]) for verb in ("ask_name", "find_visitor", "list_free_hooks"))
    for action in (*begin, *actions):
        observation, *_ = env.step(as_array(action))
        assert observation["invalid"] == 0


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_possible_by_itself_is_carried_out_though_it_is_not_altogether(level):
    env = make("multidiscrete", level)
    verb, answer = ("move_coats", "hook_twice") if level == "schema" else ("propose_move_coats", None)
    twice = Partial(NUMBER[verb], (1, 1, 0, 0, 1))
    prepare(env, twice)

    assert twice not in allowed_actions(env, "policy")
    assert env.json_env.episode.history[-1].code == answer


def test_what_cannot_be_expressed_is_not_carried_out_though_all_its_parts_are_possible():
    env = make("multidiscrete")
    prepare(env, Partial(NUMBER["look_at_hook"], (1,)))
    observation, *_ = env.step(as_array(Partial(NUMBER["tell_coat"], (0,))))

    assert observation["invalid"] == 1


def test_what_is_never_there_is_possible_nowhere():
    env = make("multidiscrete")
    both = (0, 1, 0, 2, 0)
    prepare(env, Partial(NUMBER["propose_move_coats"], both), Partial(NUMBER["move_coats"], both))
    env.step(as_array(Partial(NUMBER["list_free_hooks"])))
    names = {name for name, bit in zip(env.form.names, env.action_masks(), strict=True) if bit}

    assert {name for name in names if name.startswith(("hook_ids[1]", "new_hook"))} == {
        "hook_ids[1] no more",
        "new_hook_ids[0] 0",
        "new_hook_ids[1] 0",
    }


def test_a_verb_reads_its_own_dimensions_alone():
    env = make("multidiscrete")
    env.reset(seed=0)
    more = Partial(NUMBER["more"])

    assert {env.describe(as_array(more, rest)) for rest in (0, 1)} == {"say: Anything else?"}


@pytest.mark.parametrize("masked", ["look_at_hook", "hook_id 1"])
def test_what_the_mask_forbids_is_not_taken_though_it_can_be_expressed(masked):
    env = make("multidiscrete")
    env.reset(seed=0)
    for verb in ("ask_name", "find_visitor"):
        env.step(as_array(Partial(NUMBER[verb])))
    look, mask = Partial(NUMBER["look_at_hook"], (1,)), env.action_masks()
    action = tuple(as_array(look).tolist())

    assert env.form.take(scene_of(env), NOTHING, mask, action) == look
    mask[env.form.names.index(masked)] = False
    assert env.form.take(scene_of(env), NOTHING, mask, action) is None


@pytest.mark.parametrize("form", [SEQUENTIAL, MULTIDISCRETE])
def test_a_scene_that_allows_nothing_is_a_mistake(form):
    class Nothing:
        def allowed(self, level, verb, chosen):  # noqa: ARG002 - the interface of a scene
            return np.zeros(9, bool)

    with pytest.raises(UsageError, match="always allow something"):
        form.mask(Nothing(), NOTHING)


# Spaces


def test_an_index_of_the_sequential_form_means_one_thing():
    assert SEQUENTIAL.names == (
        *(verb.name for verb in LAYOUT.verbs),
        *("own 0", "own 1", "own 2", "own no more"),
        *("tag plain", "tag gold"),
        *("free 0", "free 1", "free 2"),
    )
    assert SEQUENTIAL.space.n == len(SEQUENTIAL.names)


def test_the_dimensions_of_the_multidiscrete_form_are_verbs_and_slots():
    assert MULTIDISCRETE.space.nvec.tolist() == [len(LAYOUT.verbs), *(slot.choices for slot in LAYOUT.slots)]
    assert len(MULTIDISCRETE.names) == MULTIDISCRETE.space.nvec.sum()


@pytest.mark.parametrize("form", [SEQUENTIAL, MULTIDISCRETE])
def test_no_two_indexes_have_one_name(form):
    assert len(set(form.names)) == len(form.names)


def test_slots_of_one_table_share_their_indexes_and_no_more_comes_last():
    slots = (Slot("a[1]", 2, optional=True, source="rows"), Slot("b", 2, source="rows"))
    layout = Layout((Verb("say", "speech", slots=slots),), slots)

    assert SequentialForm(layout, "policy").names == ("say", "rows 0", "rows 1", "rows no more")


def test_a_layout_without_slots_has_both_forms():
    layout = Layout((Verb("more", "speech"), Verb("less", "speech")), ())

    assert SequentialForm(layout, "policy").space.n == 2
    assert MultidiscreteForm(layout, "policy").space.nvec.tolist() == [2]


def test_the_choices_so_far_are_one_hot():
    partial = Partial(NUMBER["move_coats"], (2, 3, 1, 0, SKIPPED))
    shown = {
        name for name, bit in zip(SEQUENTIAL.partial_names, SEQUENTIAL.partial(partial), strict=True) if bit
    }

    assert shown == {"move_coats", "hook_ids[0] 2", "hook_ids[1] no more", "tag gold", "new_hook_ids[0] 0"}
    assert not SEQUENTIAL.partial(NOTHING).any()
    assert SEQUENTIAL.partial(NOTHING).shape == SEQUENTIAL.partial(partial).shape


# What is an action


@pytest.mark.parametrize(
    "action", [5, np.int64(5), np.int8(5), np.uint64(5), np.array(5), np.array(5, np.int32), np.True_ + 4]
)
def test_integers_are_choices(action):
    assert SEQUENTIAL.read(action) == 5
    assert type(SEQUENTIAL.read(action)) is int


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (-1, "from 0 to 17, not -1"),
        (18, "from 0 to 17, not 18"),
        (np.int64(99), "from 0 to 17, not 99"),
        pytest.param(10**5000, "from 0 to 17, not an integer of more than 64 bits", id="huge"),
        (True, "one integer.*not true"),
        (np.True_, "one integer.*not bool of shape"),
        (1.0, "one integer.*not 1.0"),
        (np.float32(1), "one integer.*not float32 of shape"),
        (np.array([1]), r"one integer.*not int64 of shape \(1,\)"),
        (np.array(1.0), r"one integer.*not float64 of shape \(\)"),
        (np.array([[1, 2]]), r"one integer.*not int64 of shape \(1, 2\)"),
        ([1], "one integer.*not an array of 1"),
        ("1", 'one integer.*not "1"'),
        (None, "one integer.*not null"),
        ({"name": "x"}, "one integer.*not an object of 1"),
        (object(), "one integer.*not a object"),
    ],
)
def test_what_is_no_choice_is_refused(action, problem):
    with pytest.raises(UsageError, match=problem):
        SEQUENTIAL.read(action)


WHOLE = (3, 0, 2, 3, 1, 0, 2)


@pytest.mark.parametrize("kind", [tuple, list, np.array, np.int8, np.uint64])
def test_arrays_of_integers_are_whole_actions(kind):
    read = MULTIDISCRETE.read(kind(WHOLE))

    assert read == WHOLE
    assert {type(value) for value in read} == {int}


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (3, "array of 7 integers, not 3"),
        (WHOLE[:6], "array of 7 integers"),
        ([*WHOLE, 0], "array of 7 integers, not an array of 8"),
        (np.array(WHOLE, float), r"array of 7 integers, not float64 of shape \(7,\)"),
        (np.array(WHOLE, bool), "array of 7 integers, not bool"),
        (np.array([WHOLE]), r"array of 7 integers, not int64 of shape \(1, 7\)"),
        ([WHOLE, 1], "array of 7 integers"),
        ([None] * 7, "array of 7 integers"),
        ([10**30] * 7, "array of 7 integers"),
        ("3023102", "array of 7 integers"),
        (None, "array of 7 integers, not null"),
        ((9, *WHOLE[1:]), r"below \[9, 3, .*not \[9, 0"),
        ((-1, *WHOLE[1:]), r"below \[9, 3, .*not \[-1, 0"),
        ((*WHOLE[:6], 3), "each in its dimension"),
    ],
)
def test_what_is_no_whole_action_is_refused(action, problem):
    with pytest.raises(UsageError, match=problem):
        MULTIDISCRETE.read(action)


@pytest.mark.parametrize("form", FORMS)
def test_samples_of_the_space_are_actions(form):
    env = make(form)
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(50):
        env.form.read(env.action_space.sample())
        assert env.action_space.contains(env.action_space.sample(mask=env.sample_mask()))
