"""Puts the environments of issues together: instances, repositories, tools, and a reward of one kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from tool_envs.database import BaseData, Database
from tool_envs.domain import Domain
from tool_envs.errors import UnknownNameError
from tool_envs.messages import Json
from tool_envs.repo.cheats import CHEATS
from tool_envs.repo.instances import load_instances
from tool_envs.repo.mirrors import Mirrors, mirrors_beside
from tool_envs.repo.oracle import make_oracle
from tool_envs.repo.rewards import REWARDS
from tool_envs.repo.sandbox import SandboxName
from tool_envs.repo.site import Site
from tool_envs.repo.tasks import IssueTasks, instances_of_split
from tool_envs.repo.texts import as_text, split_lines
from tool_envs.repo.tools import make_toolkit
from tool_envs.repo.workspace import Workspace
from tool_envs.reward import TerminalSource
from tool_envs.simulators import IssueUser, UserSimulator
from tool_envs.task import Task

POLICY = """\
You work on the code repository that the issue is about. Its files are those of one commit; what you change in
them is kept until you hand it in.

Find out what causes the issue, and change the code so that what it asks for holds in general, not only for
its examples. Keep what works. You may run the tests that are there, and add your own.

Nobody answers questions. When you are done, call submit: it ends the work, and the files are judged as they
are then."""

NOTICE = "Nobody reads this. Go on with the tools; submit hands the work in and ends it."

BUILT_IN = Path(__file__).parent / "data"
"""The built-in instances, `<split>.jsonl`, and their repositories."""

BASE = BaseData({})
"""Episodes have no data in common: each begins with the files of its own task, whose digest covers them."""


def load_domain(
    reward: TerminalSource,
    path: str | None,
    mirrors: str | None,
    split: str,
    sandbox: SandboxName,
    python: str | None,
) -> Domain:
    """The bundle of one split with one kind of reward.

    Args:
        reward: `tests` or `similarity`.
        path: See `RepoTestsEnv`, as for all others.
        mirrors: See there.
        split: See there.
        sandbox: See there.
        python: See there.

    Raises:
        UnknownNameError: There is no such reward or sandbox.
        DataFileError: A file is missing or damaged, or no instance is of the split.
        UsageError: No instance has the reward.
    """
    if reward not in REWARDS:
        raise UnknownNameError("reward", reward, REWARDS)
    if sandbox not in get_args(SandboxName):
        raise UnknownNameError("sandbox", sandbox, get_args(SandboxName))
    beside = mirrors_beside(Path(path)) if path else BUILT_IN
    site = Site(Mirrors(mirrors or beside), sandbox, python)
    place = path or str(BUILT_IN / f"{split}.jsonl")
    found = instances_of_split(load_instances(place), split, place)
    by_id = {instance.instance_id: instance for instance in found}
    source = REWARDS[reward](site)

    def open_workspace(task: Task) -> Database:
        return site.open(by_id[task.id])

    return Domain(
        toolkit=make_toolkit(site, source),
        base=BASE,
        tasks=IssueTasks(found, source),
        policy_text=POLICY,
        simulators={"issue": _issue_user},
        grade=source.grade,
        terminal_source=source.source,
        grader_digest=source.digest,
        load=load_domain,
        load_arguments=(reward, path, mirrors, split, sandbox, python),
        make_database=open_workspace,
        blocking=True,
        data_digest=files_digest,
        record_json=shown_file,
        explain=source.explain,
        oracle=make_oracle(site),
        cheats=CHEATS if reward == "tests" else {},
    )


def _issue_user(_: Task, __: Mapping[str, Json]) -> UserSimulator:
    return IssueUser(NOTICE)


def files_digest(database: Database) -> str:
    """Digest of the files as they are: of the commit, and of what differs from it."""
    return cast("Workspace", database).digest()


def shown_file(database: Database, _: str, path: str) -> Json:
    """A file for those who look at changes: its mode and its lines, or the size of what is no text."""
    workspace = cast("Workspace", database)
    file, content = workspace.file(path), workspace.read(path)
    if file is None or content is None:
        return None
    text = as_text(content)
    what = {"bytes": len(content)} if text is None else {"lines": split_lines(text)}
    return {"mode": f"{file.mode:o}", **what}
