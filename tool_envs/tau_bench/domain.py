"""Puts a tau-bench split together: files, tools, users and grading in one bundle."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tool_envs.canonical import digest
from tool_envs.domain import Domain
from tool_envs.errors import TamperedFileError
from tool_envs.messages import Json
from tool_envs.schema import ToolSchema, load_schema
from tool_envs.task import TaskList
from tool_envs.tau_bench.airline import AIRLINE_TOOLS
from tool_envs.tau_bench.data import state_hash
from tool_envs.tau_bench.files import SAMPLE, load
from tool_envs.tau_bench.formats import domain_format
from tool_envs.tau_bench.grading import Grader
from tool_envs.tau_bench.official_user import official_user
from tool_envs.tau_bench.retail import RETAIL_TOOLS
from tool_envs.tau_bench.toolkit import TauToolkit
from tool_envs.tau_bench.user import scripted_user, silent_user


class _Part(NamedTuple):
    """What a tau-bench domain is made of: its tools, their grader, our schema for folders without one."""

    tools: Mapping[str, Callable[..., str]]
    grader: Grader
    schema: str
    schema_version: str


_PARTS = {
    "retail": _Part(RETAIL_TOOLS, Grader(RETAIL_TOOLS), "tau_retail", "1.0.0"),
    "airline": _Part(AIRLINE_TOOLS, Grader(AIRLINE_TOOLS), "tau_airline", "1.0.0"),
}


def load_domain(
    path: str | None, domain: str, split: str, data_digest: str | None = None, user_model: str = ""
) -> Domain:
    """The bundle of one split.

    Args:
        path: See `TauBenchEnv`.
        domain: `retail` or `airline`.
        split: `test`, `train` or `dev`, as far as the files have them.
        data_digest: What the digest of the database files must be; None: whatever it is.
        user_model: What `user_model_text` returned for the model of the user `llm`; empty: there is none.

    Raises:
        UnknownNameError: There is no such domain or split.
        UsageError: There is a model for the user, and no checkout that says what it is told.
        DataFileError: A file is missing or damaged, or the database is not the one that was asked for.
    """
    domain_format(domain)
    part = _PARTS[domain]
    files = load(path, domain, split)
    if data_digest not in (None, files.data.digest):
        root = path or str(SAMPLE)
        raise TamperedFileError(root, f"the data had digest {data_digest}, now it has {files.data.digest}")
    schema = load_schema(part.schema, part.schema_version)
    if files.tools is not None:
        schema = _upstream_schema(domain, files.tools, schema)
    return Domain(
        toolkit=TauToolkit(schema, part.tools),
        base=files.data,
        tasks=TaskList(files.tasks),
        policy_text=files.policy or _our_policy(domain),
        simulators={
            "scripted": scripted_user,
            "silent": silent_user,
            "llm": official_user(path, user_model),
        },
        grade=part.grader.grade_episode,
        grader_digest=digest({"grader": f"tau_bench/{domain}", "version": "1.0.0"}),
        load=load_domain,
        load_arguments=(path, domain, split, files.data.digest, user_model),
        interface=files.interface,
        reset_options=frozenset({"user_turns"}),
        data_digest=state_hash,
    )


def _upstream_schema(domain: str, tools: list[dict[str, Json]], ours: ToolSchema) -> ToolSchema:
    """The checkout's own tool list; the effects, which upstream does not state, are those of our schema."""
    effects = {name: tool.effect for name, tool in ours.tools.items() if tool.effect != "message"}
    return ToolSchema.from_openai(f"tau_{domain}", "upstream", tools, effects)


def _our_policy(domain: str) -> str:
    return (Path(__file__).parent / "policies" / f"{domain}.md").read_text(encoding="utf-8")
