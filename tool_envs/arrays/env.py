"""The array view of one environment: the reference, a wrapper around its JSON view."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt

from tool_envs.array_view import ArrayView, Level, Mask, SceneView
from tool_envs.arrays.describe import describe_action, describe_partial, describe_tables
from tool_envs.arrays.forms import FORMS, NOTHING, Form, Partial
from tool_envs.arrays.layout import make_layout
from tool_envs.arrays.observations import KINDS, Observation
from tool_envs.chat_form import as_line
from tool_envs.env import unwrap
from tool_envs.episode import EpisodeSnapshot
from tool_envs.errors import EpisodeEndedError, UnknownNameError, UsageError
from tool_envs.messages import Json

CHOICES_PER_ACTION = 8
"""An episode is truncated after so many choices for each action of the JSON view that it may take."""

PARTIAL, INVALID, LEFT = "partial", "invalid", "left"


@dataclass(frozen=True)
class ArraySnapshot:
    """One moment of an episode in the array view.

    Attributes:
        episode: Of the JSON view.
        heard: Each action carried out, and how many messages there were then.
        partial: The choices of an action that is half made.
        choices: Choices taken.
        invalid: Whether the last choice was not possible.
        over: Whether the episode has ended.
    """

    episode: EpisodeSnapshot
    heard: tuple[tuple[Json, int], ...]
    partial: Partial
    choices: int
    invalid: bool
    over: bool


@dataclass
class _Play:
    """The state of an episode beside that of the JSON view; further fields as of `ArraySnapshot`.

    Attributes:
        scene: What was shown.
        task_index: Which task it is.
        mask: What can be chosen now.
    """

    scene: SceneView
    task_index: int
    mask: Mask
    heard: list[tuple[Json, int]]
    partial: Partial = NOTHING
    choices: int = 0
    invalid: bool = False
    over: bool = False


class ArrayEnv(gymnasium.Env[dict[str, Any], Any]):
    """A tool-use environment whose actions and observations are arrays, with action masks.

    ## Description
    The episodes of a JSON view with its simulated user. An action of that view, a tool call or a sentence, is
    built of choices: a verb, then for each of its slots a row of what was shown, or a value. An arrays
    document and the tool schema decide which there are (see `tool_envs.array_view`).

    ## Action Space
    * `action_form="sequential"`: `Discrete(n)`, one choice a step. The last choice of an action carries it
      out; before it nothing happens.
    * `action_form="multidiscrete"`: `MultiDiscrete([verbs, choices of each slot...])`, a whole action a step.

    `action_masks()` says what is possible now. What is not possible is ignored and shown as `invalid`; in the
    form `multidiscrete` a combination that can be expressed is carried out all the same.

    ## Observation Space
    A `Dict` of `Box`, with the same keys always. With `observation="tables"`: the tables of the domain, int8
    of 0 and 1 or float32 from -1 to 1, and
    * `action_mask`, int8 (n,) or (sum of the dimensions,);
    * `partial`, int8: one-hot the verb and the choices of an action that is half made (`sequential` alone);
    * `invalid`, int8 (1,): 1 when the last choice was not possible;
    * `left`, float32 (2,): the share of actions and of choices that are left.

    With `observation="features"`: `features`, float32, all these tables in a row, and `action_mask`.

    ## Rewards
    0.0 on every step but the last; there the JSON view's terminal reward.

    ## Starting State
    As of the JSON view; `reset` takes its options.

    ## Episode End
    As of the JSON view, whose `max_steps` counts actions that were carried out; also truncated after 8 times
    as many choices.

    ## Information
    Numbers, with the same keys at `reset` and `step`: `steps` (actions carried out), `choices`, `success`
    (the reward of the episode; 0.0 before its end), `task_index`.

    ## Arguments
    * `env_id`: the JSON view.
    * `action_form`: `sequential` or `multidiscrete`.
    * `mask`: `policy`, what is of use under the domain policy as far as was shown; or `schema`, whatever can
      be expressed.
    * `observation`: `tables` or `features`.
    * `render_mode`: None or `ansi`.
    * others: arguments of the JSON view, but `user`, who is the agenda user.

    ## Version History
    * v0: first version.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self,
        env_id: str,
        action_form: Literal["sequential", "multidiscrete"] = "sequential",
        mask: Level = "policy",
        observation: Literal["tables", "features"] = "tables",
        render_mode: str | None = None,
        **options: Any,  # noqa: ANN401 - whatever the JSON view takes
    ) -> None:
        _require_known("action form", action_form, tuple(FORMS))
        _require_known("mask", mask, ("policy", "schema"))
        _require_known("kind of observation", observation, tuple(KINDS))
        _require_known("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        if "user" in options:
            raise UsageError("The array view has the user `agenda`, and no argument `user`.")
        self.json_env = unwrap(gymnasium.make(env_id, user="agenda", disable_env_checker=True, **options))
        view = self._view()
        layout = make_layout(self.json_env.schema, view.document)
        self.form: Form[Any] = FORMS[action_form](layout, mask)
        self.observations = KINDS[observation](view, _own_tables(self.form), self.form.names)
        self.max_choices = CHOICES_PER_ACTION * self.json_env.max_steps
        self.render_mode = render_mode
        self.action_space = self.form.space
        self.observation_space = self.observations.space()
        self._play: _Play | None = None

    # --- Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode, the same one that the JSON view starts.

        Args:
            seed: As of the JSON view.
            options: As of the JSON view.

        Raises:
            UsageError: An option is unknown or names no task.
        """
        super().reset(seed=seed)
        self._play = None
        self.json_env.reset(seed=seed, options=options)
        self._play = play = self._begin([])
        return self._observe(play), self._info(play, 0.0)

    def step(self, action: object) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one choice, or in the form `multidiscrete` all choices of an action.

        Raises:
            UsageError: The action has another type, shape or range than the action space.
            EpisodeEndedError: There is no running episode.
        """
        play = self._running()
        choice = self.form.read(action)
        partial = self.form.take(play.scene, play.partial, play.mask, choice)
        play.choices += 1
        play.invalid = partial is None
        reward, terminated, truncated = 0.0, False, False
        if partial is not None and self.form.is_whole(partial):
            play.partial = NOTHING
            reward, terminated, truncated = self._carry_out(play, partial)
        elif partial is not None:
            play.partial = partial
        truncated = truncated or (play.choices >= self.max_choices and not terminated)
        play.over = terminated or truncated
        play.mask = self.form.mask(play.scene, play.partial)
        return self._observe(play), reward, terminated, truncated, self._info(play, reward)

    def render(self) -> str | None:
        """The conversation, what was shown, and the choices so far, in `render_mode="ansi"`; else None."""
        if self.render_mode != "ansi":
            return None
        play = self._started()
        lines = [as_line(message) for message in self.json_env.episode.history]
        if play.partial != NOTHING:
            lines.append(describe_partial(self.form, play.scene, play.partial))
        return "\n".join([*lines, play.scene.describe()])

    def close(self) -> None:
        """End the episode."""
        self._play = None
        self.json_env.close()

    # --- For those who hold the unwrapped environment

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """What is possible now: bool of shape (n,) or (sum of the dimensions,); a fresh array."""
        return self._started().mask.copy()

    def sample_mask(self) -> Any:  # noqa: ANN401 - each space has its own form of it
        """The same as `action_space.sample(mask=...)` takes it."""
        return self.form.sample_mask(self._started().mask)

    def describe(self, value: object) -> str:
        """An action, or an observation of this environment, as text.

        Of an action: the tool call or sentence that it leads to now, as far as it is known, with ids. Of an
        observation: each row that is not all zero with the names of its fields, and what is possible.
        """
        if isinstance(value, Mapping):
            return describe_tables(self.observations.unpack(value), self.observations.fields)
        action, play = self.form.read(value), self._started()
        return describe_action(self.form, play.scene, play.partial, play.mask, action)

    def snapshot(self) -> ArraySnapshot:
        """The episode now, for `restore`; later steps do not change it."""
        play = self._started()
        return ArraySnapshot(
            self.json_env.snapshot(), tuple(play.heard), play.partial, play.choices, play.invalid, play.over
        )

    def restore(self, snapshot: ArraySnapshot) -> None:
        """Go on from a snapshot, of this environment or of another one with the same arguments.

        The scene hears the episode again, so that it takes as long as the scene needs for that.
        """
        self.json_env.restore(snapshot.episode)
        self._play = self._resume(snapshot)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds the episode and how to load the domain, never the scene."""
        return {**self.__dict__, "_play": self._play and self.snapshot()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state["_play"] is not None:
            self._play = self._resume(state["_play"])

    # --- Parts of these

    def _view(self) -> ArrayView:
        view = self.json_env.domain.arrays
        if view is None:
            domain = self.json_env.schema.domain
            raise UsageError(f"The domain {domain} has no array view: its `Domain.arrays` is None.")
        return view

    def _begin(self, heard: Sequence[tuple[Json, int]]) -> _Play:
        """The episode of the JSON view in a new scene, which hears the opening and what came after it."""
        episode = self.json_env.episode
        scene = self._view().scene(episode, self.form.layout)
        scene.saw(None, episode.history[:1])
        start = 1
        for action, end in heard:
            scene.saw(action, episode.history[start:end])
            start = end
        task_index = self.json_env.domain.tasks.index(episode.task.id)
        return _Play(scene, task_index, self.form.mask(scene, NOTHING), list(heard))

    def _resume(self, snapshot: ArraySnapshot) -> _Play:
        play = self._begin(snapshot.heard)
        play.partial, play.choices = snapshot.partial, snapshot.choices
        play.invalid, play.over = snapshot.invalid, snapshot.over
        play.mask = self.form.mask(play.scene, play.partial)
        return play

    def _started(self) -> _Play:
        if self._play is None:
            raise EpisodeEndedError("There is no episode yet. Call `reset`.")
        return self._play

    def _running(self) -> _Play:
        if self._play is None or self._play.over or self.json_env.outcome is not None:
            raise EpisodeEndedError("There is no running episode. Call `reset` before `step`.")
        return self._play

    def _carry_out(self, play: _Play, partial: Partial) -> tuple[float, bool, bool]:
        """Take an action in the JSON view; returns reward, terminated, truncated."""
        action = play.scene.action(*partial)
        history = self.json_env.episode.history
        start = len(history)
        _, reward, terminated, truncated, _ = self.json_env.step(action)
        play.scene.saw(action, history[start:])
        play.heard.append((action, len(history)))
        return reward, terminated, truncated

    def _observe(self, play: _Play) -> Observation:
        episode = self.json_env.episode
        left = 1 - episode.steps / self.json_env.max_steps, 1 - play.choices / self.max_choices
        tables = {
            **play.scene.tables(),
            INVALID: np.array([play.invalid], np.int8),
            LEFT: np.array(left, np.float32),
        }
        if self.form.partial_names:
            tables[PARTIAL] = self.form.partial(play.partial)
        return self.observations.pack(tables, play.mask)

    def _info(self, play: _Play, reward: float) -> dict[str, Any]:
        return {
            "steps": self.json_env.episode.steps,
            "choices": play.choices,
            "success": reward,
            "task_index": play.task_index,
        }


def _own_tables(form: Form[Any]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The tables beside those of the domain: name -> dtype and fields."""
    partial = {PARTIAL: ("int8", form.partial_names)} if form.partial_names else {}
    own = {INVALID: ("int8", ("last choice was not possible",)), LEFT: ("float32", ("actions", "choices"))}
    return {**own, **partial}


def _require_known(kind: str, value: object, known: Collection[object]) -> None:
    if value not in known:
        raise UnknownNameError(kind, value, known)
