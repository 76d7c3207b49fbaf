"""`tool-envs tasks`."""

from collections import Counter
from contextlib import closing
from typing import Annotated

import typer

from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.cli.screen import console, show_counts, table_of
from tool_envs.env import unwrap
from tool_envs.environments import make_env


def list_tasks(
    env_id: EnvId,
    kwarg: Kwargs = None,
    split: Annotated[str | None, typer.Option(help="Split of the tasks; the same as -k split=SPLIT.")] = None,
    tasks: Annotated[int, typer.Option(min=1, help="How many tasks: 0 to N-1.")] = 20,
) -> None:
    """The first tasks of a split: ids, families, difficulties and digests."""
    kwargs = read_pairs(kwarg) | ({} if split is None else {"split": split})
    table = table_of("index", "id", "family", "difficulty", "digest")
    with closing(make_env(env_id, kwargs)) as env:
        known = unwrap(env).domain.tasks
        listed = [known[index] for index in range(min(tasks, len(known)))]
    for index, task in enumerate(listed):
        table.add_row(str(index), task.id, task.family or "-", str(task.difficulty or "-"), task.digest[:12])
    screen = console()
    screen.print(table)
    screen.print(
        f"{len(listed)} of {len(known)} tasks; families: {show_counts(Counter(t.family for t in listed))}"
    )
