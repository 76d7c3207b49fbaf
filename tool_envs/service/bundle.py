"""Puts a service desk together: its bundle, and what its environments offer beside that of all others."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from tool_envs.array_rows import RowView
from tool_envs.array_view import ArrayView
from tool_envs.canonical import digest
from tool_envs.database import BaseData, Database
from tool_envs.domain import Domain, RecordJson, Solver
from tool_envs.env import ToolEnv
from tool_envs.messages import Json
from tool_envs.service.grading import Grader
from tool_envs.service.rubrics import Praised, TaskRubrics, nothing_more
from tool_envs.service.tasks import GeneratedTasks
from tool_envs.service.user_model import llm_user
from tool_envs.simulators import AgendaUser, HumanUser, RecordedUser, UserSimulator
from tool_envs.task import Task
from tool_envs.toolkit import Toolkit


def service_domain(
    *,
    grader: Grader,
    toolkit: Toolkit,
    base: BaseData,
    tasks: GeneratedTasks[Any],
    policy_text: str,
    data_digest: Callable[[Database], str],
    oracle: Solver,
    saboteurs: Mapping[str, Solver],
    load: Callable[..., Domain],
    load_arguments: tuple[Any, ...],
    record_json: RecordJson = Database.get,
    arrays: ArrayView | None = None,
    rows: RowView | None = None,
    praised: Praised = nothing_more,
    user_model: str = "",
) -> Domain:
    """The bundle of a service desk: four kinds of users, and solvers that speak the toolkit's schema.

    Args:
        grader: Grades its episodes.
        toolkit: Its tools, under any schema version.
        base: Its data.
        tasks: The tasks of the chosen split.
        policy_text: For the agent.
        data_digest: Digest of a database.
        oracle: Solves every task, with the parameter names of the first schema version.
        saboteurs: Rule id -> the oracle with one deviation, likewise.
        load: As in `Domain`.
        load_arguments: As in `Domain`.
        record_json: As in `Domain`.
        arrays: As in `Domain`.
        rows: As in `Domain`.
        praised: What is good in a letter beside that it answers what was asked, for the rubrics of its tasks.
        user_model: What `user_model_text` returned for the model of the user `llm`; empty: there is none.
    """
    phrases, renames = grader.desk.phrases, grader.desk.renames

    def agenda(_: Task, __: Mapping[str, Json]) -> UserSimulator:
        return AgendaUser(phrases)

    def human(_: Task, __: Mapping[str, Json]) -> UserSimulator:
        return HumanUser(phrases)

    def replay(_: Task, options: Mapping[str, Json]) -> UserSimulator:
        return RecordedUser(options.get("user_turns", ()), phrases)

    def speaking(solver: Solver) -> Solver:
        return renames.solver_for(toolkit.schema, solver)

    return Domain(
        toolkit=toolkit,
        base=base,
        tasks=tasks,
        policy_text=policy_text,
        simulators={
            "agenda": agenda,
            "replay": replay,
            "human": human,
            "llm": llm_user(user_model, phrases),
        },
        grade=grader.grade,
        grader_digest=digest({"grader": grader.desk.grader, "policy": policy_text}),
        load=load,
        load_arguments=load_arguments,
        reset_options=frozenset({"user_turns"}),
        data_digest=data_digest,
        record_json=record_json,
        progress=grader.progress,
        explain=grader.explain,
        rubric=TaskRubrics(grader.desk, toolkit.schema, praised).make,
        oracle=speaking(oracle),
        saboteurs={rule: speaking(solver) for rule, solver in saboteurs.items()},
        arrays=arrays,
        rows=rows,
    )


class ServiceEnv(ToolEnv):
    """An environment of a bundle that `service_domain` made."""

    def task_ids(self, split: str, n: int) -> list[str]:
        """The ids of the first n tasks of a split, at this environment's difficulty.

        Raises:
            UnknownNameError: There is no such split.
        """
        tasks = cast("GeneratedTasks[Any]", self.domain.tasks).of_split(split)
        return [tasks.task_id(index) for index in range(n)]

    def explain(self) -> dict[str, Json]:
        """Why the reward of the episode is what it is; for those who may see the hidden task.

        See `tool_envs.service.grading.Grader.explain`.
        """
        assert self.domain.explain is not None  # noqa: S101 - for the type checker: `service_domain` sets it
        return self.domain.explain(self.episode)
