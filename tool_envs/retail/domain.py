"""Puts the store together: data, tools, tasks, users, rules and grading in one bundle."""

import functools
from collections.abc import Mapping

from tool_envs.canonical import digest
from tool_envs.domain import Domain, Solver
from tool_envs.episode import Episode
from tool_envs.messages import Json
from tool_envs.retail.codes import state_digest
from tool_envs.retail.data import retail_base
from tool_envs.retail.grading import GRADER, grade_episode, progress_of
from tool_envs.retail.oracle import decide
from tool_envs.retail.rules import policy_text
from tool_envs.retail.saboteurs import SABOTEURS
from tool_envs.retail.tasks import RetailTasks
from tool_envs.retail.toolkit import ZIP_NAMES, retail_toolkit
from tool_envs.simulators import AgendaUser, HumanUser, RecordedUser, UserSimulator
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES
from tool_envs.task import Task


@functools.lru_cache(maxsize=64)
def load_domain(
    schema_version: str, split: str, difficulty: int | None, customers: int, data_seed: int
) -> Domain:
    """The bundle of one split, made once in a process.

    Raises:
        UnknownNameError: There is no such schema version, split or difficulty.
        UsageError: There cannot be so many customers.
    """
    base = retail_base(customers, data_seed)
    toolkit = retail_toolkit(schema_version)
    zip_name = ZIP_NAMES[schema_version]
    policy = policy_text()
    return Domain(
        toolkit=toolkit,
        base=base,
        tasks=RetailTasks(base, split, difficulty),
        policy_text=policy,
        simulators={"agenda": _agenda_user, "replay": _replay_user, "human": _human_user},
        grade=grade_episode,
        grader_digest=digest({"grader": GRADER, "policy": policy}),
        load=load_domain,
        load_arguments=(schema_version, split, difficulty, customers, data_seed),
        reset_options=frozenset({"user_turns"}),
        data_digest=state_digest,
        progress=progress_of,
        oracle=_renamed(decide, zip_name),
        saboteurs={rule: _renamed(solver, zip_name) for rule, solver in SABOTEURS.items()},
    )


def _agenda_user(_: Task, __: Mapping[str, Json]) -> UserSimulator:
    return AgendaUser(RETAIL_PHRASES)


def _human_user(_: Task, __: Mapping[str, Json]) -> UserSimulator:
    return HumanUser(RETAIL_PHRASES)


def _replay_user(_: Task, options: Mapping[str, Json]) -> UserSimulator:
    return RecordedUser(options.get("user_turns", ()), RETAIL_PHRASES)


def _renamed(solver: Solver, zip_name: str) -> Solver:
    """The solver with the parameter names of the schema version."""
    if zip_name == "zip":
        return solver

    def solve(episode: Episode) -> Json:
        action = solver(episode)
        names = {"zip": zip_name}
        arguments = {names.get(name, name): value for name, value in action["arguments"].items()}
        return {"name": action["name"], "arguments": arguments}

    return solve
