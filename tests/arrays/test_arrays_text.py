"""Arrays as text: what actions do, what observations show, and the whole rendered."""

import numpy as np
from array_episodes import KINDS, forms, go_on, make, named, seeds
from hypothesis import settings


def test_actions_are_described_with_ids_and_sentences():
    env = make()
    env.reset(options={"task_index": 0})
    index = env.form.names.index

    assert env.describe(index("ask_name")) == "say: What is your name?"
    assert env.describe(index("move_coats")) == "not possible now: move_coats"
    named(env, "ask_name")
    assert env.describe(np.int64(index("find_visitor"))) == "find_visitor(name='ada')"
    named(env, "find_visitor", "list_free_hooks", "propose_move_coats", "own 2")
    assert (
        env.describe(index("own no more")) == "propose_move_coats(hook_ids[0]=H02, hook_ids[1]=no more, ..."
    )
    named(env, "own no more", "tag gold")
    assert env.describe(index("free 1")) == "say: Shall I move H02 to H91 with a gold tag?"
    assert env.describe(index("own 1")) == "not possible now: own 1"


def test_whole_actions_are_described_with_ids():
    env = make("multidiscrete", mask="schema")
    env.reset(options={"task_index": 0})
    call = [3, 0, 2, 3, 1, 0, 2]

    assert env.describe(call) == (
        "not possible now: move_coats, hook_ids[0] 2, hook_ids[1] no more, tag gold, "
        "new_hook_ids[0] 0, new_hook_ids[1] 2"
    )
    for verb in (6, 0, 2):
        env.step([verb, *[0] * 6])
    assert env.describe(call) == "move_coats(hook_ids=['H02'], tag='gold', new_hook_ids=['H90'])"


def test_observations_are_described_by_the_names_of_their_fields():
    env = make()
    env.reset(options={"task_index": 0})
    observation, *_ = named(env, "ask_name", "find_visitor", "look_at_hook", "own 1", "look_at_hook")

    assert env.describe(observation).splitlines() == [
        "talk: told name, plain",
        "own[0]: shown, mentioned",
        "own[1]: shown, blue",
        "own[2]: shown",
        "wish: moves 0.25",
        "left: actions 0.81, choices 0.96",
        "partial: look_at_hook",
        "action_mask: own 0, own 2",
    ]


@forms
@settings(max_examples=10)
@seeds
def test_features_are_the_tables_in_a_row(form, seed):
    tables, features = (make(form, kind) for kind in KINDS)
    tables.reset(seed=seed)
    features.reset(seed=seed)
    for step, other in zip(go_on(tables, seed), go_on(features, seed), strict=True):
        parts = [step[1][name].ravel() for name in tables.observations.boxes]

        assert other[1].keys() == {"features", "action_mask"}
        assert np.array_equal(np.concatenate(parts), other[1]["features"])
        assert features.describe(other[1]) == tables.describe(step[1])


def test_render_shows_the_conversation_what_was_seen_and_the_choices_so_far():
    silent, env = make(), make(render_mode="ansi")
    for each in (silent, env):
        each.reset(options={"task_index": 0})
        named(each, "ask_name", "find_visitor", "look_at_hook")

    assert silent.render() is None
    assert env.render().splitlines() == [
        "user: Please move H00 to H91 with a plain tag?",
        "agent: What is your name?",
        "user: My name is ada.",
        "agent: find_visitor({'name': 'ada'})",
        'find_visitor: {"hooks":["H00","H01","H02"]}',
        "look_at_hook(...",
        "own hooks: H00: not seen, H01: not seen, H02: not seen; free hooks: none",
    ]
