"""Rewards by similarity: how near a change is to the reference change, without running anything.

The rewards are SWE-RL's (arXiv 2502.18449, section 2; `src/swerl/core/reward.py` in its repository), which
are for training: they say nothing about whether the issue is resolved, and are never shown as success.

Two diffs of a file are compared by characters with Ratcliff and Obershelp's measure, as `difflib` computes
it. cydifflib runs the same algorithm, compiled; the tests hold it to difflib's values. The diffs themselves
are made by difflib, which on lines is fast, and stays so on texts that are made to be slow.
"""

import difflib
import re
from collections.abc import Iterator, Mapping

import cydifflib
from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from tool_envs.errors import ToolEnvsError, UsageError

MAX_PATCH = 2**17
"""Longest patch, or text between `<solution>` and `</solution>`, in characters."""
MAX_FILE = 2**20
"""Longest text of a file that is changed, in characters."""
MAX_PAIRS = 2**28
"""Most pairs of characters of two diffs of a file: 16,384 characters against as many, say."""

FORMAT_ERROR = -1.0
"""The reward of an output that is not of the form that was asked for."""

_TAGS = ("<think>", "</think>", "<solution>", "</solution>")
_BLOCK_HEAD = re.compile(r"\n### (.*)\n<<<<<<< SEARCH\n")
_SEPARATOR = "\n=======\n"
_BLOCK_END = "\n>>>>>>> REPLACE\n```"


class SimilarityBoundError(ToolEnvsError):
    """Raised when a text is too long to be compared: there is no reward then, and a low one neither.

    The time for a comparison grows with the product of both lengths, for texts made to be slow with its
    power of 1.5, so that without bounds one output could stop a training run.
    """

    def __init__(self, what: str, size: int, bound: int) -> None:
        self.what, self.size, self.bound = what, size, bound
        super().__init__(f"{what}: {size:,}, and at most {bound:,} are compared")

    def __reduce__(self) -> tuple[type, tuple[str, int, int]]:
        return type(self), (self.what, self.size, self.bound)


class _FormatError(Exception):
    """The output is not of the form that was asked for."""


def search_replace_reward(
    code_context: Mapping[str, str], oracle_new_content: Mapping[str, str], output: str
) -> float:
    """The reward of one answer that holds a thought and search-and-replace edits.

    The output has each of `<think>`, `</think>`, `<solution>` and `</solution>` once, a thought that is not
    blank, and in the solution at least one block:

        ```python
        ### path/of/a/file.py
        <<<<<<< SEARCH
        old lines
        =======
        new lines
        >>>>>>> REPLACE
        ```

    Old lines stand for whole beginnings of lines, must be in the file as the blocks before have left it, and
    are replaced wherever they stand; a file that is not in `code_context` is empty.

    Args:
        code_context: Path -> text of the files that the agent was shown.
        oracle_new_content: Path -> text after the reference change; a file that is not in it is unchanged.
        output: What the agent wrote.

    Returns:
        -1.0 on any error of the form, among them a block that changes nothing and old lines that are not in
        the file. Else the mean, over the files that either side changes, of the similarity of their unified
        diffs (3 lines of context, no file names): 0 to 1, and 0.0 where only one side changes the file. 1.0
        where neither side changes anything.

    Raises:
        SimilarityBoundError: A text is beyond `MAX_PATCH`, `MAX_FILE` or `MAX_PAIRS`.
    """
    try:
        new_content = _apply_blocks(code_context, _solution(output))
    except _FormatError:
        return FORMAT_ERROR
    return _mean_similarity(_diffs(code_context, new_content), _diffs(code_context, oracle_new_content))


def unified_diff_reward(oracle_patch: str, predicted_patch: str) -> float:
    """The reward of a change given as a unified diff, as git writes it.

    Args:
        oracle_patch: The reference change.
        predicted_patch: The agent's change; one that cannot be read changes nothing.

    Returns:
        The mean, over the files that either patch changes, of the similarity of their hunks: 0 to 1, and 0.0
        where only one side changes the file. 1.0 where neither side changes anything. Binary files, empty
        files and modes do not count; a renamed file counts by its old name, and the renaming is the first
        line of its change. There is no -1.0: that belongs to the form of `search_replace_reward`.

    Raises:
        SimilarityBoundError: A patch is beyond `MAX_PATCH`, or the changes of one file beyond `MAX_PAIRS`.
        UsageError: `oracle_patch` cannot be read.
    """
    oracle = _hunks(oracle_patch)
    if oracle is None:
        raise UsageError(
            "The reference patch cannot be read as a unified diff, so nothing can be near to it."
        )
    return _mean_similarity(_hunks(predicted_patch) or {}, oracle)


def _solution(output: str) -> str:
    if any(output.count(tag) != 1 for tag in _TAGS):
        raise _FormatError
    if not _between(output, "<think>", "</think>").strip():
        raise _FormatError
    solution = _between(output, "<solution>", "</solution>").strip()
    _check_bound("characters of a solution", len(solution), MAX_PATCH)
    return solution


def _between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


def _apply_blocks(code_context: Mapping[str, str], solution: str) -> dict[str, str]:
    """The new texts of the files that the blocks change."""
    texts: dict[str, str] = {}
    for path, search, replace in _blocks(solution):
        text = texts.get(path, "\n" + code_context.get(path, ""))
        old, new = "\n" + search, "\n" + replace
        count = text.count(old)
        if search == replace or not count:
            raise _FormatError
        _check_bound("characters of a file", len(text) + count * (len(new) - len(old)), MAX_FILE)
        texts[path] = text.replace(old, new)
    if not texts:
        raise _FormatError
    return {path: text[1:] for path, text in texts.items()}


def _blocks(solution: str) -> Iterator[tuple[str, str, str]]:
    r"""Path, old and new lines of each block, in order.

    A block is what this expression matches, which would need cubic time on texts that are made for it:
    ```.*?\n### (.*)\n<<<<<<< SEARCH\n([\s\S]*?)\n=======\n([\s\S]*?)\n>>>>>>> REPLACE\n```
    """
    start = 0
    for head in _BLOCK_HEAD.finditer(solution):
        line = max(start, solution.rfind("\n", 0, head.start()) + 1)
        if "```" not in solution[line : head.start()]:
            continue
        separator = solution.find(_SEPARATOR, head.end())
        new = separator + len(_SEPARATOR)
        end = solution.find(_BLOCK_END, new)
        if separator < 0 or end < 0:
            return
        yield head[1], solution[head.end() : separator], solution[new:end]
        start = end + len(_BLOCK_END)


def _diffs(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Path -> unified diff without file names, for the files that differ by more than their line ends."""
    diffs = {path: _diff(old.get(path, ""), text) for path, text in new.items()}
    return {path: diff for path, diff in diffs.items() if diff}


def _diff(old: str, new: str) -> str:
    if old == new:
        return ""
    _check_bound("characters of a file", max(len(old), len(new)), MAX_FILE)
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=3, lineterm="")
    return "\n".join([*lines][2:])


def _hunks(patch: str) -> dict[str, str] | None:
    """Path -> what a patch changes in the file; None: it cannot be read."""
    _check_bound("characters of a patch", len(patch), MAX_PATCH)
    try:
        files = PatchSet(patch)
    except (UnidiffParseError, ValueError):  # ValueError: a number of thousands of digits
        return None
    changes = dict(_file_hunks(file) for file in files if not file.is_binary_file)
    return {path: change for path, change in changes.items() if change}


def _file_hunks(file: PatchedFile) -> tuple[str, str]:
    hunks = [str(hunk).strip() for hunk in file]
    if not file.is_rename:
        return file.path, "\n".join(hunks)
    source, target = file.source_file.removeprefix("a/"), file.target_file.removeprefix("b/")
    return source, "\n".join([f"rename from {source} to {target}", *hunks])


def _mean_similarity(predicted: Mapping[str, str], oracle: Mapping[str, str]) -> float:
    paths = sorted(predicted.keys() | oracle.keys())
    if not paths:
        return 1.0
    return sum(_similarity(predicted.get(path, ""), oracle.get(path, "")) for path in paths) / len(paths)


def _similarity(predicted: str, oracle: str) -> float:
    """Ratcliff and Obershelp's similarity of two texts by characters, 0 to 1; it is not symmetric."""
    if not predicted or not oracle:
        return 0.0
    if predicted == oracle:  # the longest common block is all of it
        return 1.0
    _check_bound("pairs of characters of two diffs", len(predicted) * len(oracle), MAX_PAIRS)
    ratio: float = cydifflib.SequenceMatcher(None, predicted, oracle, autojunk=False).ratio()
    return ratio


def _check_bound(what: str, size: int, bound: int) -> None:
    if size > bound:
        raise SimilarityBoundError(what, size, bound)
