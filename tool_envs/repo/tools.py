"""The tools by the names of the schema: those of the files, running tests, and handing in."""

from collections.abc import Sequence

from tool_envs.repo.editing import create_file, delete_file, diff, edit
from tool_envs.repo.reading import list_files, read_file, search
from tool_envs.repo.rewards import RepoReward
from tool_envs.repo.run_text import describe
from tool_envs.repo.sandbox import Limits
from tool_envs.repo.selection import folder_of
from tool_envs.repo.site import IssueWorkspace, Site
from tool_envs.repo.testing import run_tests
from tool_envs.repo.texts import MAX_OUTPUT, missing_file
from tool_envs.repo.workspace import Workspace
from tool_envs.schema import load_schema
from tool_envs.toolkit import PlainText, Refusal, ToolFunction, Toolkit

TOOL_LIMITS = Limits(cpu_seconds=120, wall_seconds=900.0, processes=128)
"""Of a run of visible tests; the clock is for what sleeps, since it also counts what else runs."""

SCHEMA_VERSION = "1.0.0"
"""The one version of the tools that there is."""


def make_toolkit(site: Site, reward: RepoReward) -> Toolkit:
    """The tools of an environment: where its tests run, and what can be handed in."""

    def run_visible_tests(workspace: IssueWorkspace, paths: Sequence[str]) -> PlainText | Refusal:
        return _run_tests(site, workspace, paths)

    def submit(workspace: IssueWorkspace) -> PlainText | Refusal:
        return reward.submission_problem(workspace) or PlainText("Handed in.")

    files: tuple[ToolFunction, ...] = (list_files, read_file, search, edit, create_file, delete_file, diff)
    functions = {function.__name__: function for function in files}
    schema = load_schema("repo", SCHEMA_VERSION)
    return Toolkit(schema, {**functions, "run_tests": run_visible_tests, "submit": submit})


def _run_tests(site: Site, workspace: IssueWorkspace, paths: Sequence[str]) -> PlainText | Refusal:
    """Run tests that the agent can see; the hidden ones are nowhere in its files."""
    for path in paths:
        if problem := _test_problem(workspace, path):
            return problem
    run = run_tests(
        workspace,
        paths,
        sandbox=site.sandbox,
        python=site.python_of(workspace.instance),
        limits=TOOL_LIMITS,
    )
    return PlainText(describe(run, MAX_OUTPUT))


def _test_problem(workspace: Workspace, test: str) -> Refusal | None:
    """What keeps a file, a folder or a single test from being run."""
    path = folder_of(test.split("::")[0])
    if not path or workspace.file(path) is not None:
        return None
    missing = missing_file(workspace, path)
    return None if missing.code == "is_a_folder" else missing
