"""Desks with one defect each; the class attribute `fails` names the check that must find it."""

import copy
import dataclasses
import itertools
import os
import time

import gymnasium
import numpy as np
from toy_domain import FUNCTIONS, TABLES, DeskEnv, load

from tool_envs.database import BaseData
from tool_envs.episode import EpisodeSnapshot
from tool_envs.errors import ActionTypeError, EpisodeEndedError
from tool_envs.schema import ToolSchema
from tool_envs.spaces import ToolCallSpace
from tool_envs.toolkit import Toolkit


class _ChangedReset(DeskEnv):
    def change(self, info):
        raise NotImplementedError

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        self.change(info)
        return observation, info


class _ChangedStep(DeskEnv):
    def change(self, observation, reward, terminated, truncated, info):
        raise NotImplementedError

    def step(self, action):
        return self.change(*super().step(action))


# --- What is seen


class GoldCallsInInfo(_ChangedReset):
    fails = "answer_key"

    def change(self, info):
        info["solution"] = [{"name": c.name, "arguments": c.arguments} for c in self.task.actions]


class GoalInInfo(_ChangedReset):
    fails = "answer_key"

    def change(self, info):
        info["debug"] = f"goal={self.task.goal}"


class FactsInMessages(_ChangedStep):
    fails = "answer_key"

    def change(self, observation, reward, terminated, truncated, info):
        info["messages"][-1]["content"] += " ".join(self.task.facts)
        return observation, reward, terminated, truncated, info


class NoDigestInInfo(_ChangedReset):
    fails = "reset_info"

    def change(self, info):
        del info["task_digest"]


class PathInInfo(_ChangedReset):
    fails = "nothing_of_this_machine"

    def change(self, info):
        info["log"] = os.path.join(os.getcwd(), "log.txt")


class OldObservations(_ChangedStep):
    fails = "observations"

    def change(self, observation, reward, terminated, truncated, info):
        return {**observation, "content": "..."}, reward, terminated, truncated, info


class FirstWordOfNobody(DeskEnv):
    fails = "gymnasium_checker"

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return {**observation, "role": "system"}, info


class UnansweredCalls(_ChangedStep):
    fails = "chat_form"

    def change(self, observation, reward, terminated, truncated, info):
        info["messages"] = [m for m in info["messages"] if m["role"] != "tool"]
        return observation, reward, terminated, truncated, info


class OtherSchema(DeskEnv):
    fails = "schema"

    @property
    def schema(self):
        true = super().schema
        return ToolSchema(true.document, tuple(true.tools.values()), "0" * 64)


class SilentRender(DeskEnv):
    fails = "render"

    def render(self):
        return self.render_mode and ""


class UnseededSpace(DeskEnv):
    fails = "spaces"

    class Space(ToolCallSpace):
        def sample(self, mask=None, probability=None):  # noqa: ARG002 - Gymnasium's interface
            return {"name": "think", "arguments": {"thought": os.urandom(4).hex()}}

    def __init__(self, **options):
        super().__init__(**options)
        self.action_space = self.Space(self.schema)


# --- Determinism


class ClockInInfo(_ChangedStep):
    fails = "determinism"

    def change(self, observation, reward, terminated, truncated, info):
        info["seconds"] = time.perf_counter()
        return observation, reward, terminated, truncated, info


class HashOrder(_ChangedReset):
    fails = "other_process"

    def change(self, info):
        info["words"] = list({f"word {n}" for n in range(20)})


class KeyFromTheLastEpisode(DeskEnv):
    fails = "unseeded_reset"

    def reset(self, *, seed=None, options=None):
        if seed is None:
            self._key += self.episode.steps
        return super().reset(seed=seed, options=options)


class SharedCounter(_ChangedStep):
    fails = "sync_vector"
    turns = itertools.count()

    def change(self, observation, reward, terminated, truncated, info):
        return {**observation, "content": str(next(self.turns))}, reward, terminated, truncated, info


class ProcessInTheText(_ChangedStep):
    fails = "async_vector"

    def change(self, observation, reward, terminated, truncated, info):
        return {**observation, "content": str(os.getpid())}, reward, terminated, truncated, info


class KwargsOfNoJson(DeskEnv):
    fails = "spec_round_trip"

    def __init__(self, *, tags=frozenset("ab"), **options):  # noqa: ARG002 - the spec holds it
        super().__init__(**options)


# --- Rewards and ends


class EarlyReward(_ChangedStep):
    fails = "rewards"

    def change(self, observation, reward, terminated, truncated, info):
        return observation, reward + 0.1, terminated, truncated, info


class NumpyBool(_ChangedStep):
    fails = "rewards"

    def change(self, observation, reward, terminated, truncated, info):
        return observation, reward, terminated, np.bool_(truncated), info


class NoOutcome(_ChangedStep):
    fails = "outcome"

    def change(self, observation, reward, terminated, truncated, info):
        info.pop("outcome", None)
        return observation, reward, terminated, truncated, info


class EarlyOutcome(_ChangedStep):
    fails = "outcome"

    def change(self, observation, reward, terminated, truncated, info):
        info.setdefault("outcome", {})
        return observation, reward, terminated, truncated, info


class OutcomeWithoutGrade(_ChangedStep):
    fails = "outcome"

    def change(self, observation, reward, terminated, truncated, info):
        if "outcome" in info:
            info["outcome"]["reward"] = info["outcome"]["ledger"]["terminal"] = None
        return observation, 0.0 * reward, terminated, truncated, info


class TerminatedAtTheLimit(_ChangedStep):
    fails = "truncation"

    def change(self, observation, reward, terminated, truncated, info):
        return observation, reward, terminated or truncated, False, info


class QuietEnd(DeskEnv):
    fails = "ended_errors"

    def step(self, action):
        try:
            return super().step(action)
        except EpisodeEndedError:
            return {"role": "tool", "name": "", "content": ""}, 0.0, True, False, {}


# --- Copies


class LiveSnapshot(DeskEnv):
    fails = "snapshot"

    def snapshot(self):
        taken = super().snapshot()
        fields = {**taken.fields, "history": self.episode.history}
        return EpisodeSnapshot(fields, taken.changed, taken.user_state)


class SharedByRestore(DeskEnv):
    fails = "restore_elsewhere"

    def snapshot(self):
        return self._episode

    def restore(self, snapshot):
        self._episode = snapshot


class DataInThePickle(DeskEnv):
    fails = "pickled"

    def __init__(self, **options):
        super().__init__(**options)
        self.books = self.domain.base.tables["books"]


class LongPickle(DeskEnv):
    fails = "pickled"

    def __init__(self, **options):
        super().__init__(**options)
        self.table = list(range(100_000))


class ShallowCopy(DeskEnv):
    fails = "deep_copy"

    def __deepcopy__(self, memo):
        return copy.copy(self)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)


class ChangesBaseRecords(DeskEnv):
    fails = "base_data_unchanged"

    def __init__(self, **options):
        super().__init__(**options)
        functions = {**FUNCTIONS, "think": self.think}
        toolkit = Toolkit(load().toolkit.schema, functions)
        self.domain = dataclasses.replace(self.domain, toolkit=toolkit, base=BaseData(copy.deepcopy(TABLES)))

    @staticmethod
    def think(database, thought=""):
        database.get("books", "B1")["title"] = thought


# --- Bad actions


class RaisesOnBrokenText(DeskEnv):
    fails = "hostile_actions"

    def step(self, action):
        if action == "{":
            raise ValueError(action)
        return super().step(action)


class ChangesDataOnErrors(_ChangedStep):
    fails = "hostile_actions"

    def change(self, observation, reward, terminated, truncated, info):
        if info["error_code"] == "invalid_arguments":
            self.episode.database.put("loans", "L9", {})
        return observation, reward, terminated, truncated, info


class TakesObjects(DeskEnv):
    fails = "foreign_objects"

    def step(self, action):
        try:
            return super().step(action)
        except ActionTypeError:
            return super().step("{")


class LastCallFirst(DeskEnv):
    fails = "several_calls"

    def step(self, action):
        return super().step(action[::-1] if isinstance(action, list) else action)


class RunsAllTheSame(DeskEnv):
    fails = "refused_calls"

    def __init__(self, *, parallel_calls="run", **options):  # noqa: ARG002 - that is the defect
        super().__init__(**options)


BROKEN = {
    name: thing
    for name, thing in list(globals().items())
    if isinstance(thing, type) and issubclass(thing, DeskEnv) and hasattr(thing, "fails")
}
for _name in BROKEN:
    gymnasium.register(id=f"tool_envs_tests/{_name}-v0", entry_point=f"broken_envs:{_name}")
gymnasium.registry["tool_envs_tests/KwargsOfNoJson-v0"].kwargs = {"tags": frozenset("ab")}
