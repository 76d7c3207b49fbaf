"""Imports go down only: each module has a floor, and what it may import follows from it."""

import ast
import graphlib
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOMAINS = {"retail", "booking", "repo", "tau_bench"}

# A module, or a package with all that is in it, by its name under `tool_envs`; "" is `tool_envs` itself.
FLOORS = {
    0: (
        "errors messages canonical json_values recent rows row_lists randomness names people generated "
        "calculator chat chat_form actions threads schemas user_cache"
    ),
    1: "simulators",
    2: (
        "schema spaces database toolkit task facts consent rules reward process domain episode array_view "
        "array_draws array_rows array_steps carry_out ending env vector service"
    ),
    3: " ".join(sorted(DOMAINS)),
    3.5: "arrays",
    4: "environments compliance agents credit trajectory judging rollout evaluation integrations serve cli",
}
FLOOR = {"": 2, **{unit: floor for floor, units in FLOORS.items() for unit in units.split()}}

_VALUES = {"msgspec", "orjson", "rfc8785", "gymnasium"}
_CORE = _VALUES | {"numpy", "jsonschema", "jsonschema_rs"}
FOREIGN = {0: _VALUES, 1: {"msgspec"}, 2: _CORE, 3: _CORE, 3.5: _CORE | {"llvmlite", "numba"}, 4: _CORE}
# Units, or files, with libraries of their own; None: any.
MORE_FOREIGN = {
    "chat.client": {"httpx"},
    "chat.pool": {"httpx"},
    "cli": {"typer", "rich"},
    "integrations": None,
    "repo.parquet_rows": {"pyarrow"},
    "repo.plugin": {"pytest"},
    "repo.reading": {"re2"},
    "repo.similarity": {"cydifflib", "unidiff"},
    "repo.task_folders": {"yaml"},
    "rollout.ray": {"ray"},
    "serve.client": {"httpx"},
    "serve.http": {"fastapi", "uvicorn"},
    "serve.mcp": {"mcp", "mcp_types"},
    "serve.mcp_http": {"mcp", "mcp_types", "starlette", "uvicorn"},
    "trajectory.parquet": {"pyarrow"},
}


def modules():
    """Every module by its import name, with its file."""
    places = {"tool_envs": "tool_envs", "simulators": "tool_envs.simulators", "schemas": "tool_envs.schemas"}
    for folder, package in places.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            yield ".".join([package, *(part for part in parts if part != "__init__")]), file


FILES = dict(modules())


def read(module):
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def imported(module, tree):
    """What a module imports anywhere in it, in absolute names, as deep as there are modules."""
    package = module if FILES.get(module, Path()).name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            for name in (f"{base}.{alias.name}" for alias in node.names):
                is_unit = base == "tool_envs" and unit_of(name) in FLOOR
                yield name if name in FILES or is_unit else base


def unit_of(name):
    return name.split(".")[1] if "." in name else ""


def problems(module, tree):
    """What a module imports against the rules, as sentences."""
    unit = unit_of(module)
    if unit not in FLOOR:
        yield f"{module} is new: give `{unit}` a floor, in tests/test_layers.py, by what it is for"
        return
    for name in imported(module, tree):
        if name.split(".")[0] != "tool_envs":
            yield from _foreign_problem(module, name.split(".")[0])
        elif unit_of(name) not in FLOOR:
            yield f"{module} imports {name}, which has no floor in tests/test_layers.py"
        elif not _may_import(unit, unit_of(name)):
            yield f"{module} (floor {FLOOR[unit]}) imports {name} (floor {FLOOR[unit_of(name)]})"


def _may_import(unit, other):
    if unit == other:
        return True
    if other in DOMAINS or (unit, other) == ("simulators", ""):
        return False
    return FLOOR[other] <= FLOOR[unit]


def _foreign_problem(module, library):
    unit = unit_of(module)
    more = MORE_FOREIGN.get(module.removeprefix("tool_envs."), MORE_FOREIGN.get(unit, set()))
    if library in sys.stdlib_module_names or more is None or library in FOREIGN[FLOOR[unit]] | more:
        return
    yield f"{module} (floor {FLOOR[unit]}) imports {library}"


@pytest.mark.parametrize("module", FILES)
def test_imports_go_down(module):
    assert list(problems(module, read(module))) == []


@pytest.mark.parametrize("module", [name for name in FILES if unit_of(name) in DOMAINS])
def test_domains_do_not_name_each_other_in_strings(module):
    source = FILES[module].read_text(encoding="utf-8")
    others = DOMAINS - {unit_of(module)}

    assert [other for other in others if f"tool_envs.{other}" in source] == []


class _AtRuntime(ast.NodeTransformer):
    def visit_If(self, node):
        return None if getattr(node.test, "id", "") == "TYPE_CHECKING" else node


def test_no_module_imports_itself_through_others():
    needs = {module: set(imported(module, _AtRuntime().visit(read(module)))) for module in FILES}
    graph = {module: (names & FILES.keys()) - {module} for module, names in needs.items()}

    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("tool_envs.errors", "import tool_envs.env"),
        ("tool_envs.errors", "from tool_envs import env"),
        ("tool_envs.errors", "from . import env"),
        ("tool_envs.errors", "def f():\n    from .env import ToolEnv"),
        ("tool_envs.errors", "import numpy"),
        ("tool_envs.errors", "from tool_envs import ToolEnv"),
        ("tool_envs.simulators.replay", "from tool_envs.task import Task"),
        ("tool_envs.simulators.replay", "from ..task import Task"),
        ("tool_envs.simulators.replay", "import tool_envs"),
        ("tool_envs.env", "import tool_envs.simulators, tool_envs.retail"),
        ("tool_envs.env", "from tool_envs.agents import agent"),
        ("tool_envs.retail.env", "from tool_envs.tau_bench.data import read"),
        ("tool_envs.retail.env", "from ..booking import data"),
        ("tool_envs.compliance", "from tool_envs.tau_bench.env import TauBenchEnv"),
        ("tool_envs.cli.play", "from tool_envs import retail"),
        ("tool_envs.agents.agent", "import rich"),
        ("tool_envs.env", "import tests.toy_domain"),
        ("tool_envs.env", "import benchmarks"),
        ("tool_envs.env", "import tool_envs.nowhere"),
        ("tool_envs.nowhere", ""),
    ],
)
def test_what_the_rules_forbid(module, source):
    assert len(list(problems(module, ast.parse(source)))) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("tool_envs.env", "from tool_envs.simulators import Turn\nfrom tool_envs import errors\nimport json"),
        ("tool_envs.simulators.replay", "from tool_envs.simulators.turn import Turn\nfrom .turn import Turn"),
        ("tool_envs.retail.env", "from . import data\nfrom .data import read\nfrom tool_envs import ToolEnv"),
        ("tool_envs.cli.play", "import typer\nfrom tool_envs.agents import agent"),
        ("tool_envs.rollout.ray", "import ray"),
        ("tool_envs.integrations.trl", "import trl"),
    ],
)
def test_what_the_rules_permit(module, source):
    assert list(problems(module, ast.parse(source))) == []


def test_every_package_is_installed():
    """An editable install has them all; another one only those that are listed."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    packages = {module for module, file in FILES.items() if file.name == "__init__.py"}

    assert set(listed["packages"]) == packages
