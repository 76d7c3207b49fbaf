"""`tool-envs audit`."""

from typing import Annotated

import typer

from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.cli.screen import console, progress, table_of
from tool_envs.evaluation.audit import audit

_SHOWN = 5


def audit_environment(
    env_id: EnvId,
    kwarg: Kwargs = None,
    tasks: Annotated[int, typer.Option(min=1, help="How many tasks: 0 to N-1.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the evaluation.")] = 0,
    choices: Annotated[
        int, typer.Option(min=0, help="How long a learner that hears no wish learns; 0: there is none.")
    ] = 300_000,
) -> None:
    """Check that the oracle earns all, the trivial agents nothing, and who breaks a rule nothing for it.

    A learner that hears nothing of what customers want must not learn to earn anything either.
    """
    with progress(f"auditing {env_id}") as tick:
        findings = []
        for finding in audit(env_id, read_pairs(kwarg), range(tasks), seed, choices):
            findings.append(finding)
            tick(None)
    table = table_of("agent", "expected", "solved", "as expected")
    for finding in findings:
        verdict = f"no: {len(finding.problems)} are not" if finding.problems else "yes"
        table.add_row(finding.agent, finding.expected, f"{finding.solved}/{finding.graded}", verdict)
    screen = console()
    screen.print(table)
    for finding in findings:
        for problem in finding.problems[:_SHOWN]:
            screen.print(f"{finding.agent}: {problem}")
    if any(finding.problems for finding in findings):
        raise typer.Exit(1)
