"""`tool_envs/RepoTests-v0` and `tool_envs/RepoSimilarity-v0`: issues in a code base, rewarded apart."""

import functools
from collections.abc import Callable
from typing import ClassVar, Literal

from tool_envs.domain import Domain
from tool_envs.env import ToolEnv
from tool_envs.errors import UsageError
from tool_envs.repo.sandbox import SandboxName
from tool_envs.reward import TerminalSource
from tool_envs.vector import ToolVectorEnv


def _import_loader() -> Callable[..., Domain]:
    try:
        from tool_envs.repo.domain import load_domain
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"Issues in a code base need the library {missing.name}: pip install 'tool-envs[repo]'."
        ) from None
    return load_domain


class _RepoEnv(ToolEnv):
    """What both environments are made of; the subclass says where the reward comes from."""

    reward: ClassVar[TerminalSource]

    def __init__(
        self,
        path: str | None = None,
        mirrors: str | None = None,
        split: str = "test",
        sandbox: SandboxName = "bubblewrap",
        python: str | None = None,
        max_steps: int = 50,
        parallel_calls: Literal["run", "refuse"] = "run",
        process: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        for name, place in (("path", path), ("mirrors", mirrors), ("python", python)):
            if not (place is None or isinstance(place, str)):
                raise UsageError(
                    f"`{name}` is a string (so that the spec of the environment is JSON), not {place!r:.80}."
                )
        super().__init__(
            _import_loader()(self.reward, path, mirrors, split, sandbox, python),
            user="issue",
            max_steps=max_steps,
            parallel_calls=parallel_calls,
            process=process,
            render_mode=render_mode,
        )


class RepoTestsEnv(_RepoEnv):
    """An issue in a code base, solved when hidden tests pass: the evaluation of SWE-bench.

    ## Description
    The agent reads, searches, edits and tests the files of a repository at the commit at which an issue was
    open, and hands them in. Its files are kept in memory, beside a shared copy of what the commit reaches;
    no newer commit is anywhere near. Tests run in a sandbox, on a copy that is thrown away.

    ## Action Space
    `ToolCallSpace` of `schemas/repo/1.0.0.json`: `list_files`, `read_file`, `search`, `edit`, `create_file`,
    `delete_file`, `run_tests`, `diff`, `submit`. What is said instead of called is answered with a notice
    that nobody reads it.

    ## Observation Space
    `MessageSpace`; the first message is the issue. Answers of tools are plain texts, an agent's mistake a
    JSON object with its code: `bad_path`, `no_such_file`, `no_such_folder`, `no_such_lines`, `is_a_folder`,
    `not_a_text`, `too_large`, `file_exists`, `text_not_found`, `text_not_unique`, `nothing_to_change`,
    `bad_pattern`, `too_much_to_search`, and those of all environments.

    ## Rewards
    1.0 when the instance is resolved as SWE-bench says: every test of FAIL_TO_PASS passes, and none of
    PASS_TO_PASS is lost, after what decides tests was put back to what the instance has; else 0.0. The
    components stand in the ledger, whose `terminal_source` is `tests`. Instances that do not state both lists
    are no tasks here. A sandbox that is missing or fails raises `SandboxError`: there is no reward then.

    ## Starting State
    The files at the instance's base commit.

    ## Episode End
    Terminated by `submit`; truncated after `max_steps` actions, without grading and with reward 0.0.

    ## Information
    As `ToolEnv`.

    ## Arguments
    * `path`: a file of SWE-bench's rows (`*.jsonl`, `*.json`, `*.parquet`) or a folder of tasks; None:
      the built-in ones.
    * `mirrors`: where their repositories are: a folder, or a manifest (see `tool_envs.repo.mirrors`); None:
      `mirrors.json` beside the instances or, where there is none, their folder.
    * `split`: `test` or `train`; instances that do not say their split are in each.
    * `sandbox`: `bubblewrap`, which isolates (namespaces, no network, nothing of the host but what runs); or
      `subprocess`, which only limits what tests take, for code that is trusted.
    * `python`: the interpreter for the tests, with pytest and what the project needs; None: the one that the
      manifest names, or else the one that runs this.
    * `max_steps`, `parallel_calls`, `process`, `render_mode`: as `ToolEnv`.

    ## References
    Jimenez et al., SWE-bench: Can Language Models Resolve Real-World GitHub Issues?, 2024;
    https://github.com/SWE-bench/SWE-bench

    ## Version History
    * v0: first version.
    """

    reward = "tests"


class RepoSimilarityEnv(_RepoEnv):
    """An issue in a code base, rewarded by how similar the change is to the reference: SWE-RL's training.

    ## Description
    As `RepoTestsEnv`, with the same tasks, tools and texts: an agent cannot tell the two apart. The reward is
    for training. It says nothing of whether the issue is solved, so that it is never shown as success, and
    never in one table with that of tests.

    ## Action Space
    As `RepoTestsEnv`.

    ## Observation Space
    As `RepoTestsEnv`, with one more code: `change_too_large`, of a change that cannot be compared, which
    `submit` refuses.

    ## Rewards
    0.0 to 1.0 at the end: the mean, over the files that either changes, of the similarity of the unified
    diffs of the files and of the reference (`tool_envs.repo.similarity.unified_diff_reward`). The ledger's
    `terminal_source` is `similarity`. Instances without a patch that can be compared are no tasks here.

    ## Starting State
    As `RepoTestsEnv`.

    ## Episode End
    As `RepoTestsEnv`.

    ## Information
    As `ToolEnv`.

    ## Arguments
    As `RepoTestsEnv`. The sandbox is for `run_tests` alone.

    ## References
    Wei et al., SWE-RL: Advancing LLM Reasoning via Reinforcement Learning on Open Software Evolution, 2025
    (arXiv 2502.18449).

    ## Version History
    * v0: first version.
    """

    reward = "similarity"


RepoTestsVectorEnv = functools.partial(ToolVectorEnv, "tool_envs/RepoTests-v0")
RepoSimilarityVectorEnv = functools.partial(ToolVectorEnv, "tool_envs/RepoSimilarity-v0")
"""Many of them, for `gymnasium.make_vec`."""
