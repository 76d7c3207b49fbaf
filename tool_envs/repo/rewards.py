"""The two rewards of an issue, kept apart: hidden tests pass, or the change is similar to the reference."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, cast

from tool_envs.canonical import digest
from tool_envs.episode import Episode
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.repo.grading import Grade, grade_by_tests, grader_digest
from tool_envs.repo.instances import Instance
from tool_envs.repo.similarity import SimilarityBoundError, unified_diff_reward
from tool_envs.repo.site import IssueWorkspace, Site
from tool_envs.reward import Ledger, TerminalSource, Verdict, grade
from tool_envs.toolkit import Refusal

SIMILARITY_VERSION: Final = "1.0.0"
"""Goes up with any change of `similarity.py` or of `Workspace.diff` that can change a reward."""


class RepoReward(Protocol):
    """What a change is worth in the end.

    Attributes:
        source: What the ledger says that the reward comes from.
        lacks: What is said of an instance that has no such reward.
        digest: Digest of all that decides it besides task and files.
    """

    source: TerminalSource
    lacks: str
    digest: str

    @property
    def explain(self) -> Callable[[Episode], dict[str, Json]] | None:
        """As of `Domain`; None: the ledger says all that there is to say."""

    def has(self, instance: Instance) -> bool:
        """Whether an instance states what the reward needs; nothing of it is ever guessed."""

    def submission_problem(self, workspace: IssueWorkspace) -> Refusal | None:
        """What keeps a change from being handed in."""

    def grade(self, episode: Episode) -> Verdict:
        """The reward of an episode that ended.

        Raises:
            SandboxError: What grades could not run; there is no reward.
        """


@dataclass(frozen=True)
class _HandedIn:
    """Files that were handed in; the same as others of the instance that hold the same."""

    instance_id: str
    instance_digest: str
    files_digest: str
    workspace: IssueWorkspace = field(compare=False)


class ByTests:
    """1.0 if every test that the fix makes pass does, and none is lost that passed before; else 0.0.

    The same files of an instance are graded once in a process: many episodes of a task end alike. A failure
    of the sandbox is not kept.
    """

    source: TerminalSource = "tests"
    lacks = "it states no FAIL_TO_PASS or no PASS_TO_PASS, and which tests decide is never guessed"

    def __init__(self, site: Site) -> None:
        self._site = site
        self.digest = grader_digest(site.sandbox_name)
        self._grade = functools.lru_cache(maxsize=256)(self._run_tests)

    def has(self, instance: Instance) -> bool:
        """See `RepoReward`."""
        return instance.has_tests

    def submission_problem(self, workspace: IssueWorkspace) -> Refusal | None:
        """None: tests can grade any change."""

    def grade(self, episode: Episode) -> Verdict:
        """See `RepoReward`."""
        return Verdict(grade(self._judge(episode).components))

    def explain(self, episode: Episode) -> dict[str, Json]:
        """Which tests a reward is due to, for those who may see the hidden ones.

        The files of an episode that was cut off, which nobody graded, are judged as they were then.

        Returns:
            `resolution`; `failing` (tests of FAIL_TO_PASS that do not pass), `lost` (those of PASS_TO_PASS)
            and `unfounded` (see `Grade`). Of a run that is not to be trusted nothing is known of its tests:
            `problem` (a `Problem`) and `changed` (see `Grade`) stand in the place of the three.

        Raises:
            SandboxError: The tests could not run.
        """
        judged = self._judge(episode)
        if judged.problem is not None:
            why: dict[str, Json] = {"problem": str(judged.problem), "changed": list(judged.changed)}
        else:
            why = {
                "failing": list(judged.tests.fail_to_pass.failure),
                "lost": list(judged.tests.pass_to_pass.failure),
                "unfounded": list(judged.unfounded),
            }
        return {"resolution": str(judged.resolution), **why}

    def _judge(self, episode: Episode) -> Grade:
        workspace = cast("IssueWorkspace", episode.database)
        instance = workspace.instance
        return self._grade(_HandedIn(instance.instance_id, instance.digest, workspace.digest(), workspace))

    def _run_tests(self, handed_in: _HandedIn) -> Grade:
        workspace, site = handed_in.workspace, self._site
        python = site.python_of(workspace.instance)
        return grade_by_tests(workspace, workspace.instance, sandbox=site.sandbox, python=python)


class BySimilarity:
    """SWE-RL's reward: how similar the change is to the reference change, 0.0 to 1.0.

    It needs no sandbox, and says nothing of whether the issue is solved.
    """

    source: TerminalSource = "similarity"
    lacks = "it states no patch of lines of text to which another could be compared"
    digest = digest({"grader": "repo/similarity", "version": SIMILARITY_VERSION})
    explain = None

    def has(self, instance: Instance) -> bool:
        """See `RepoReward`. A patch without lines, as of binary files, would reward who changes nothing."""
        return _is_comparable(instance.patch)

    def submission_problem(self, workspace: IssueWorkspace) -> Refusal | None:
        """A change that is too long to be compared cannot be handed in, since it would have no reward."""
        try:
            self._similarity(workspace)
        except SimilarityBoundError:
            return Refusal("change_too_large", "The change is too large to be handed in: make it smaller.")
        return None

    def grade(self, episode: Episode) -> Verdict:
        """See `RepoReward`."""
        return Verdict(Ledger(terminal=self._similarity(cast("IssueWorkspace", episode.database))))

    def _similarity(self, workspace: IssueWorkspace) -> float:
        return unified_diff_reward(workspace.instance.patch, workspace.diff())


@functools.lru_cache(maxsize=4096)
def _is_comparable(patch: str) -> bool:
    try:
        return unified_diff_reward(patch, patch) == 1.0 and unified_diff_reward(patch, "") == 0.0
    except (SimilarityBoundError, UsageError):
        return False


REWARDS: Final[dict[TerminalSource, Callable[[Site], RepoReward]]] = {
    "tests": ByTests,
    "similarity": lambda _: BySimilarity(),
}
"""The rewards by the name that the ledger has for them."""
