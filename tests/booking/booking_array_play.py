"""Plays the airline's array view: the oracle in choices, and random choices."""

import functools

import gymnasium
import numpy as np
from hypothesis import strategies as st

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.array_view import SKIPPED, skip
from tool_envs.arrays.layout import make_layout
from tool_envs.booking.oracle import BookingClerk
from tool_envs.booking.scene.masks import is_told
from tool_envs.booking.scene.sight import (
    BAGGAGE,
    OWN,
    QUESTIONS,
    WHO,
)
from tool_envs.booking.scene.ways import trip_at_hand
from tool_envs.booking.wishes import FAMILIES
from tool_envs.messages import RESPOND
from tool_envs.schema import load_arrays

VERSIONS = ("1.0.0", "1.1.0", "2.0.0")
LEVELS = ("policy", "schema")


@functools.cache
def layout_of(schema):
    return make_layout(schema, load_arrays("booking", 1))


class Play:
    """An episode of the JSON view with its scene, in choices.

    Args:
        env: The JSON view.
        index: Of the task.

    Attributes:
        actions: What was done, as JSON.
    """

    def __init__(self, env, index):
        self.env, self.layout, self.actions = env, layout_of(env.schema), []
        env.reset(seed=index, options={"task_index": index})
        self.scene = self.new_scene()
        self.reward, self.over = 0.0, False

    def new_scene(self):
        """A scene that was shown the opening alone."""
        scene = self.env.domain.arrays.scene(self.env.episode, self.layout)
        scene.saw(None, self.env.episode.history[:1])
        return scene

    def number(self, name):
        return [verb.name for verb in self.layout.verbs].index(name)

    def take(self, verb, chosen):
        """Carries an action out; returns the new messages."""
        action = self.scene.action(verb, chosen)
        history = self.env.episode.history
        start = len(history)
        _, self.reward, terminated, truncated, _ = self.env.step(action)
        self.scene.saw(action, history[start:])
        self.actions.append(action)
        self.over = terminated or truncated
        return history[start:]

    @property
    def sight(self):
        return self.scene.memory.sight

    def path_is_allowed(self, level, verb, chosen):
        """Whether each of its choices is allowed, one after the other."""
        path = [(-1, (), verb), *((verb, chosen[:place], choice) for place, choice in enumerate(chosen))]
        return all(
            choice == SKIPPED or choice in np.flatnonzero(self.scene.allowed(level, number, before))
            for number, before, choice in path
        )

    def random_action(self, rng, level="policy"):
        """An allowed action, each choice with equal chances."""
        verb = int(rng.choice(np.flatnonzero(self.scene.allowed(level, -1, ()))))
        chosen = skip(self.layout.verbs[verb], ())
        while len(chosen) < len(self.layout.verbs[verb].slots):
            choices = np.flatnonzero(self.scene.allowed(level, verb, chosen))
            chosen = skip(self.layout.verbs[verb], (*chosen, int(rng.choice(choices))))
        return verb, chosen

    def some_action(self, rng, rightly, level="policy"):
        """The oracle's action with a chance of `rightly`, where it is allowed; else a random one."""
        right = rng.random() < rightly and self.oracle_choices()
        return right if right and self.path_is_allowed(level, *right) else self.random_action(rng, level)

    # --- The oracle

    def oracle_choices(self):
        """The oracle's next action as verb and choices: the same call, or a sentence that means the same.

        It asks first for numbers of bags, which must have been told. None when a choice is not there.
        """
        clerk = BookingClerk(self.env.episode)
        action = clerk.decide()
        if action["name"] != RESPOND:
            return self.choices_for(action["name"], action["arguments"])
        if not clerk.progress.user_id:
            return self.number("ask_user_id"), ()
        if clerk.progress.unreported:
            return self.number("report"), ()
        wish = clerk.wish
        if wish.fact and not wish.tool:
            return self._answer()
        if wish.forbidden:
            return self._refuse(wish)
        call = clerk.target()
        if "total_baggages" in call.arguments and not is_told(self.sight, BAGGAGE):
            return self.number("ask_baggage"), ()
        return self.choices_for(f"propose_{call.name}", call.arguments)

    def _refuse(self, wish):
        """A no; who says that flights are too dear knows how many fly."""
        if wish.kind.startswith("book") and not is_told(self.sight, WHO):
            return self.number("ask_passengers"), ()
        return self.number("refuse"), ()

    def _answer(self):
        number = self.number(f"tell_{QUESTIONS[self.sight.scene.question]}")
        given = {"reservation_id": trip_at_hand(self.sight), "cabin": self.sight.wanted.cabin}
        return number, tuple(given[slot.name] for slot in self.layout.verbs[number].slots)

    def choices_for(self, name, arguments):
        """A verb, and the choices that stand for the arguments of a call (names of schema 1.0.0)."""
        number, chosen = self.number(name), ()
        verb, wanted = self.layout.verbs[number], self._in_order(arguments)
        while len(chosen := skip(verb, chosen)) < len(verb.slots):
            choice = self._choice_for(number, chosen, wanted)
            if choice is None:
                return None
            chosen = (*chosen, choice)
        return number, chosen

    def _in_order(self, arguments):
        """The arguments as they are chosen: people and methods in the order of the masks, flights as ways."""
        profile, wanted = self.scene.memory.profile, dict(arguments)
        if "passengers" in wanted:
            people = [person._asdict() for person in profile.people]
            wanted["passengers"] = sorted(wanted["passengers"], key=people.index)
        if "payment_methods" in wanted:
            methods = [each["payment_id"] for each in wanted["payment_methods"]]
            kinds = ("certificate", "gift_card", "credit_card")
            by_kind = sorted(
                methods, key=lambda each: (kinds.index(each[:-8]), profile.method_ids.index(each))
            )
            wanted["payment_methods"] = by_kind
        if "flights" in wanted:
            wanted["flights"] = self._ways(wanted["flights"], wanted.get("reservation_id"))
        return wanted

    def _ways(self, flights, reservation_id):
        """Flights as one way, or as a way there and one back, of those that were shown."""
        rows = [self._shown(row, reservation_id) for row in range(OWN + len(self.sight.offers))]
        for first in rows:
            for second in [[], *rows]:
                if first and first + second == flights:
                    return [first, second] if second else [first]
        return [flights]

    def _shown(self, row, reservation_id):
        scene = self.scene
        number = self.number("update_reservation_flights")
        ids = scene.memory.profile.trip_ids
        if row < OWN and reservation_id not in ids:
            return []
        place = ids.index(reservation_id) if reservation_id in ids else 0
        return scene.value(number, (place, 0, row))

    def _choice_for(self, number, chosen, arguments):
        slot = self.layout.verbs[number].slots[len(chosen)]
        wanted = arguments[slot.name.split("[")[0]]
        if slot.place >= 0:
            if slot.place >= len(wanted):
                return slot.width
            wanted = wanted[slot.place]
        possible = np.flatnonzero(self.scene.allowed("schema", number, chosen)[: slot.width]).tolist()
        fitting = [c for c in possible if self.scene.value(number, (*chosen, c)) == wanted]
        useful = self.scene.allowed("policy", number, chosen)
        return next((c for c in fitting if useful[c]), fitting[0] if fitting else None)


def new_play(index, difficulty=1, version="1.0.0", split="test"):
    """An episode of a task."""
    return Play(_env(difficulty, version, split), index)


def random_play(index, difficulty, seed, *, rightly=0.0, level="policy", **options):
    """An episode of random actions, of which some are the oracle's instead; yields after each of them.

    Args:
        index: Of the task.
        difficulty: Of the task.
        seed: Of the choices.
        rightly: The share of the oracle's actions.
        level: Of the masks.
        options: Of `new_play`.
    """
    rng, play = np.random.default_rng(seed), new_play(index, difficulty, **options)
    while not play.over:
        action = play.some_action(rng, rightly, level)
        play.take(*action)
        yield play, action


def plays_of(families, difficulties=(1, 2, 3, 4, 5)):
    """Episodes, from quite random to quite right, that begin with a wish of one of these families."""
    places = [list(FAMILIES).index(family) for family in families]
    return st.builds(
        random_play,
        index=st.sampled_from([turn * len(FAMILIES) + place for turn in range(500) for place in places]),
        difficulty=st.sampled_from(difficulties),
        seed=st.integers(0, 2**32 - 1),
        rightly=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
        version=st.sampled_from(VERSIONS),
    )


plays = plays_of(FAMILIES)
"""Episodes of all families."""


@functools.cache
def _env(difficulty, version, split):
    return gymnasium.make(
        "tool_envs/Booking-v0",
        disable_env_checker=True,
        difficulty=difficulty,
        schema_version=version,
        split=split,
    ).unwrapped
