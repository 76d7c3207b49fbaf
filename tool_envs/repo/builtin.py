"""The built-in instances: small repositories of ours, and issues of their histories.

In `data` lie, for each repository, its history `<name>.fast-export`, the list `<name>.json` of the commits
that fixed an issue, and the texts of the issues, `issues/<name>/<slug>.md`. The rows in `test.jsonl` and
`train.jsonl` follow from these; to make them again, bit for bit:

    python -m tool_envs.repo.builtin FOLDER
"""

import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import msgspec

from tool_envs.repo.domain import BUILT_IN
from tool_envs.repo.instances import Instance, as_row
from tool_envs.repo.make import make_instance
from tool_envs.repo.sandbox import Sandbox, find_sandbox

Split = Literal["test", "train"]

_VERSION = "1"  # of the software in every repository


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An issue of a repository, as its list says it.

    Attributes:
        slug: Names it within the repository.
        split: Which rows it belongs to.
        fix: The commit that fixed it.
        difficulty: 1 to 5.
    """

    slug: str
    split: Split
    fix: str
    difficulty: int


class BuiltIn(NamedTuple):
    """An issue, and the name of its repository."""

    name: str
    entry: Entry

    @property
    def instance_id(self) -> str:
        """The id of its instance."""
        return f"tool_envs__{self.name}-{self.entry.slug}"


def built_in() -> Iterator[BuiltIn]:
    """All built-in issues, by repository and in the order of its list."""
    for path in sorted(BUILT_IN.glob("*.json")):
        for entry in msgspec.json.decode(path.read_bytes(), type=list[Entry]):
            yield BuiltIn(path.stem, entry)


def make_built_in(issue: BuiltIn, *, sandbox: Sandbox, python: str) -> Instance:
    """Make the instance of a built-in issue from its repository; raises as `make_instance` does."""
    name, entry = issue
    made = make_instance(
        BUILT_IN / f"{name}.fast-export",
        entry.fix,
        sandbox=sandbox,
        python=python,
        name=f"tool_envs/{name}",
        instance_id=issue.instance_id,
        issue=(BUILT_IN / "issues" / name / f"{entry.slug}.md").read_text(encoding="utf-8"),
    )
    return msgspec.structs.replace(
        made.instance, version=_VERSION, difficulty=str(entry.difficulty), split=entry.split
    )


def rows(instances: Iterable[Instance]) -> bytes:
    """The content of a file of rows."""
    return b"".join(map(as_row, instances))


def main() -> None:
    """Make all rows, in the folder that the command line names."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    sandbox = find_sandbox("bubblewrap")
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        made = list(
            pool.map(lambda issue: make_built_in(issue, sandbox=sandbox, python=sys.executable), built_in())
        )
    for split in get_args(Split):
        (folder / f"{split}.jsonl").write_bytes(rows(each for each in made if each.split == split))


if __name__ == "__main__":
    main()
