"""The array view of a whole domain: Gymnasium's contract, and the same episodes as the JSON view."""

import functools
import itertools
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import toy_arrays
from array_episodes import assert_same, forms, go_on, make, named, seeds, taking, variants
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from hypothesis import settings
from toy_arrays import ENV_ID, JSON_ID

from tool_envs.arrays.env import ArrayEnv
from tool_envs.arrays.observations import TableObservations
from tool_envs.errors import EpisodeEndedError, UnknownNameError, UsageError

WANTED = ["ask_name", "find_visitor", "list_free_hooks"]


# Gymnasium


@variants
@pytest.mark.parametrize("level", ["policy", "schema"])
def test_gymnasiums_checker_accepts_it(form, kind, level):
    check_env(make(form, kind, mask=level))


@variants
@settings(max_examples=20)
@seeds
def test_observations_are_in_the_space_and_types_are_pythons(form, kind, seed):
    env = make(form, kind)
    observation, info = env.reset(seed=seed)
    assert env.observation_space.contains(observation)
    keys = list(observation)
    for _, observation, reward, terminated, truncated, after in taking(env, seed):
        assert env.observation_space.contains(observation)
        assert list(observation) == keys
        assert observation["action_mask"].any()
        assert np.array_equal(observation["action_mask"], env.action_masks())
        assert [type(value) for value in (reward, terminated, truncated)] == [float, bool, bool]
        assert {name: type(value) for name, value in after.items()} == {
            name: type(value) for name, value in info.items()
        }
    assert {name: type(value) for name, value in info.items()} == {
        "steps": int,
        "choices": int,
        "success": float,
        "task_index": int,
    }


@variants
def test_no_two_calls_share_an_array(form, kind):
    env = make(form, kind)
    observations = [env.reset(seed=0)[0], *(step[1] for step in go_on(env, 0, 5))]
    arrays = [array for observation in observations for array in observation.values()]
    arrays += [env.action_masks(), env.action_masks()]

    assert not any(itertools.starmap(np.shares_memory, itertools.combinations(arrays, 2)))


def test_what_a_caller_does_with_its_arrays_changes_nothing():
    env, touched = make(), make()
    first, second = env.reset(seed=0)[0], touched.reset(seed=0)[0]
    for array in (*second.values(), touched.action_masks()):
        array[...] = 0

    assert first["action_mask"].any()
    assert_same(go_on(env, 0), go_on(touched, 0))


@variants
def test_the_spec_goes_through_json(form, kind):
    env = gymnasium.make(ENV_ID, action_form=form, observation=kind, mask="schema", max_steps=9)
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))

    assert again.spec == env.spec
    assert (again.action_space, again.observation_space) == (env.action_space, env.observation_space)
    assert again.unwrapped.json_env.max_steps == 9


@forms
def test_masks_are_reached_through_wrappers(form):
    env = RecordEpisodeStatistics(gymnasium.make(ENV_ID, action_form=form))
    observation, _ = env.reset(seed=0)

    assert np.array_equal(env.get_wrapper_attr("action_masks")(), observation["action_mask"])
    assert env.get_wrapper_attr("action_masks")().dtype == bool


@forms
def test_lanes_of_a_vector_are_single_environments(form):
    lanes = SyncVectorEnv([lambda: gymnasium.make(ENV_ID, action_form=form)] * 3)
    observations, _ = lanes.reset(seed=5)

    for lane in range(3):
        single, _ = make(form).reset(seed=5 + lane)
        assert_same([{name: array[lane] for name, array in observations.items()}], [single])
    lanes.close()


# Episodes


@forms
@settings(max_examples=20)
@seeds
def test_episodes_are_those_of_the_json_view(form, seed):
    env, json_env = make(form), gymnasium.make(JSON_ID).unwrapped
    _, info = env.reset(seed=seed)
    json_env.reset(seed=seed)
    assert json_env.task == json_env.domain.tasks[info["task_index"]]
    ends = [step[2:5] for step in go_on(env, seed) if step[5]["steps"] > json_env.episode.steps]
    for message in env.json_env.episode.history:
        if message.role == "assistant":
            end = json_env.step(message.action)[1:4]

    assert ends[-1] == end
    assert json_env.messages == env.json_env.messages


@pytest.mark.parametrize("index", range(len(toy_arrays.load().tasks)))
def test_the_reward_comes_at_the_end_alone(index):
    env = make()
    env.reset(options={"task_index": index})
    call = env.json_env.task.goal["call"]
    old = [f"own {hook[2]}" for hook in call["hook_ids"]] + ["own no more"] * (len(call["hook_ids"]) == 1)
    new = [f"free {hook[2]}" for hook in call["new_hook_ids"]]
    choices = [*old, f"tag {call['tag']}", *new]
    names = [*WANTED, "propose_move_coats", *choices, "move_coats", *choices, "more"]
    came = [named(env, name) for name in names]

    assert [step[1] for step in came] == [0.0] * (len(names) - 1) + [1.0]
    assert [step[2:4] for step in came] == [(False, False)] * (len(names) - 1) + [(True, False)]
    assert [step[4]["success"] for step in came] == [0.0] * (len(names) - 1) + [1.0]
    assert came[-1][4] == {"steps": 6, "choices": len(names), "success": 1.0, "task_index": index}


def test_an_action_that_is_half_made_does_nothing_yet():
    env = make()
    env.reset(seed=0)
    named(env, *WANTED)
    before = len(env.json_env.episode.history)
    observation, reward, terminated, truncated, info = named(env, "propose_move_coats", "own 1")
    partial = [env.form.partial_names[field] for field in np.flatnonzero(observation["partial"])]

    assert partial == ["propose_move_coats", "hook_ids[0] 1"]
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert len(env.json_env.episode.history) == before
    assert info == {"steps": 3, "choices": 5, "success": 0.0, "task_index": info["task_index"]}


def test_the_scene_hears_every_message_once_with_the_action_that_it_came_of(monkeypatch):
    heard = []
    saw = toy_arrays.CloakroomScene.saw
    monkeypatch.setattr(
        toy_arrays.CloakroomScene,
        "saw",
        lambda scene, action, messages: (heard.append((action, messages)), saw(scene, action, messages)),
    )
    env = make()
    env.reset(seed=0)
    go_on(env, 0)
    first, *rest = heard

    assert first == (None, env.json_env.episode.history[:1])
    assert [message for _, messages in heard for message in messages] == env.json_env.episode.history
    assert [action for action, _ in rest] == [messages[0].action for _, messages in rest]


@forms
def test_a_choice_that_is_not_possible_is_ignored_and_shown(form):
    env = make(form, max_steps=10)
    before, _ = env.reset(seed=0)
    masked = int(np.flatnonzero(~env.action_masks())[0])
    action = masked if form == "sequential" else [masked, *[0] * (len(env.action_space.nvec) - 1)]
    after, reward, terminated, truncated, info = env.step(action)

    assert (reward, terminated, truncated) == (0.0, False, False)
    assert (info["steps"], info["choices"]) == (0, 1)
    assert (before.pop("invalid"), after.pop("invalid")) == (0, 1)
    np.testing.assert_allclose(before.pop("left"), [1, 1])
    np.testing.assert_allclose(after.pop("left"), [1, 79 / 80])
    assert_same([before], [after])


def test_the_next_possible_choice_takes_the_flag_back():
    env = make()
    env.reset(seed=0)

    assert [named(env, name)[0]["invalid"][0] for name in ("move_coats", "more")] == [1, 0]


@forms
def test_choices_are_limited_to_eight_for_each_action(form):
    env = make(form, max_steps=2)
    env.reset(seed=0)
    nothing = np.array([3] + [0] * (len(env.action_space.nvec) - 1)) if form == "multidiscrete" else 3
    came = [env.step(nothing)[1:4] for _ in range(16)]

    assert came == [(0.0, False, False)] * 15 + [(0.0, False, True)]
    with pytest.raises(EpisodeEndedError):
        env.step(nothing)


def test_the_limit_of_actions_is_that_of_the_json_view():
    env = make(max_steps=2)
    env.reset(seed=0)

    assert [named(env, "more")[1:4] for _ in range(2)] == [(0.0, False, False), (0.0, False, True)]
    with pytest.raises(EpisodeEndedError):
        named(env, "more")


@pytest.mark.parametrize(
    "use", [lambda env: env.step(0), lambda env: env.action_masks(), lambda env: env.snapshot()]
)
def test_nothing_works_before_the_first_reset_and_after_close(use):
    env = make()
    with pytest.raises(EpisodeEndedError, match="Call `reset`"):
        use(env)
    env.reset(seed=0)
    env.close()
    env.close()
    with pytest.raises(EpisodeEndedError, match="Call `reset`"):
        use(env)


def test_an_action_of_another_type_leaves_the_episode_as_it_was():
    env, untouched = make(), make()
    env.reset(seed=0)
    untouched.reset(seed=0)
    with pytest.raises(UsageError):
        env.step("more")

    assert_same(go_on(env, 0), go_on(untouched, 0))


# Where views come from


def test_the_bundle_of_a_service_desk_takes_an_array_view(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "third_domain")
    from library_desk import env as library

    view = toy_arrays.CloakroomArrays()
    monkeypatch.setattr(library, "service_domain", functools.partial(library.service_domain, arrays=view))

    assert library.load_domain.__wrapped__("test", 1).arrays is view


# The programmer's mistakes


@pytest.mark.parametrize(
    ("kwargs", "problem"),
    [
        ({"action_form": "flat"}, "action form 'flat'.*sequential, multidiscrete"),
        ({"action_form": []}, r"action form \[\]"),
        ({"mask": "none"}, "mask 'none'.*policy, schema"),
        ({"observation": "feature"}, "Did you mean: `features`"),
        ({"render_mode": "human"}, "render_mode 'human'"),
    ],
)
def test_unknown_values_of_arguments_are_told(kwargs, problem):
    with pytest.raises(UnknownNameError, match=problem):
        ArrayEnv(JSON_ID, **kwargs)


def test_unknown_arguments_are_told():
    with pytest.raises(TypeError, match="color"):
        ArrayEnv(JSON_ID, color="red")


@pytest.mark.parametrize(
    ("env_id", "kwargs", "problem"),
    [
        (JSON_ID, {"arrays": False}, "domain cloakroom has no array view"),
        (JSON_ID, {"user": "human"}, "no argument `user`"),
        (JSON_ID, {"max_steps": 0}, "`max_steps` is .* not 0"),
    ],
)
def test_arguments_that_cannot_be_are_told(env_id, kwargs, problem):
    with pytest.raises(UsageError, match=problem):
        ArrayEnv(env_id, **kwargs)


def test_options_of_reset_are_those_of_the_json_view():
    with pytest.raises(UnknownNameError, match="option of reset 'task'"):
        make().reset(options={"task": 1})


@pytest.mark.parametrize("name", ["items", "action_mask", "invalid", "features"])
def test_names_of_tables_that_are_taken_are_refused(name):
    view = toy_arrays.CloakroomArrays()
    view.shapes[name] = ((2,), "int8")

    with pytest.raises(UsageError, match=f"cannot be called `{name}`"):
        TableObservations(view, {"invalid": ("int8", ("a",))}, ("b",))


def test_each_field_has_a_name():
    view = toy_arrays.CloakroomArrays()
    view.fields["free"] = ("shown",)

    with pytest.raises(UsageError, match="`free` has 2 fields, but names for 1"):
        TableObservations(view, {}, ("a",))
