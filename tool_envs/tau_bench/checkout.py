"""Reads a tau-bench checkout: its data, its tasks, what its tools say about themselves, and its policy text.

Tasks and tool descriptions are Python files of unknown origin there. Nothing of them is imported or run: they
are parsed, and only literals in the few places where tau-bench has them are taken. All else is refused.
"""

import ast
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from tool_envs.errors import DataFileError, UnknownNameError
from tool_envs.messages import Json
from tool_envs.tau_bench.formats import (
    TauFiles,
    check_shape,
    check_tasks,
    domain_format,
    read_bytes,
    read_database,
    read_tasks,
    read_text,
)
from tool_envs.tau_bench.python_files import guard, is_docstring, literal, named, parse, refusal


def find_package(root: Path) -> Path | None:
    """The `tau_bench` package in a checkout (or `root` itself, if it is that); None: this is no checkout."""
    for package in (root / "tau_bench", root):
        if (package / "envs").is_dir():
            return package
    return None


def load_checkout(path: str | os.PathLike[str], domain: str, split: str) -> TauFiles:
    """Load one split from a checkout.

    Raises:
        UnknownNameError: There is no such domain or split.
        DataFileError: The folder or a file is missing, damaged, or holds Python that is not plain data.
    """
    domain_format(domain)
    package = find_package(Path(path))
    if package is None:
        raise DataFileError(Path(path), "expected a tau-bench checkout, but there is no tau_bench/envs/")
    folder = package / "envs" / domain
    splits = sorted(file.stem.removeprefix("tasks_") for file in folder.glob("tasks_*.py"))
    if split not in splits:
        raise UnknownNameError("split", split, splits)
    return TauFiles(
        data=read_database(folder / "data", domain),
        tasks=read_tasks(folder / f"tasks_{split}.py", domain, split, _parse_tasks),
        interface="upstream",
        tools=_read_tools(folder / "tools", domain),
        policy=read_text(folder / "wiki.md"),
    )


def _parse_tasks(path: Path, content: bytes) -> list[Json]:
    """The tasks in a module that holds imports and one list of `Task(...)` calls."""
    with guard(path):
        nodes = _task_list(path, parse(path, content)).elts
        tasks = [_read_task(path, node) for node in nodes]
    check_tasks(path, {"tasks": tasks}, [node.lineno for node in nodes])
    return tasks


def _task_list(path: Path, module: ast.Module) -> ast.List:
    found = None
    for statement in module.body:
        if isinstance(statement, ast.Import | ast.ImportFrom) or is_docstring(statement):
            continue
        value = _assigned(statement, "TASKS")
        if not isinstance(value, ast.List) or found is not None:
            raise refusal(path, statement, "imports and one list TASKS = [Task(...), ...]")
        found = value
    if found is None:
        raise DataFileError(path, "expected a list TASKS = [Task(...), ...], found none")
    return found


def _read_task(path: Path, node: ast.expr) -> Json:
    fields = _keywords(path, node, "Task")
    task: dict[str, Json] = {
        name: literal(path, fields[name]) for name in ("user_id", "instruction", "outputs") if name in fields
    }
    if "actions" in fields:
        actions = fields["actions"]
        if not isinstance(actions, ast.List):
            raise refusal(path, actions, "a list [Action(...), ...]")
        task["actions"] = [_read_action(path, action) for action in actions.elts]
    return task


def _read_action(path: Path, node: ast.expr) -> Json:
    fields = _keywords(path, node, "Action")
    names = {"name": "name", "kwargs": "arguments"}
    return {ours: literal(path, fields[theirs]) for theirs, ours in names.items() if theirs in fields}


def _keywords(path: Path, node: ast.expr, name: str) -> dict[str, ast.expr]:
    """The keyword arguments of a call `name(...)`; a keyword that is not needed may hold anything."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name):
        raise refusal(path, node, f"a call {name}(...)")
    fields = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    if node.args or len(fields) < len(node.keywords):
        raise refusal(path, node, f"{name}(...) with arguments by name only")
    return fields


def _read_tools(folder: Path, domain: str) -> list[dict[str, Json]]:
    """What each tool returns from `get_info()`, in the order of `ALL_TOOLS`."""
    path = folder / "__init__.py"
    with guard(path):
        module = parse(path, read_bytes(path))
        origins = _imported(path, module, f"tau_bench.envs.{domain}.tools.")
        names = _tool_names(path, module)
    for name in names:
        if name.id not in origins:
            raise refusal(path, name, "the name of a class imported from a module of this package")
    found = [origins[name.id] for name in names]
    return [_read_info(folder / f"{module_name}.py", class_name) for module_name, class_name in found]


def _imported(path: Path, module: ast.Module, package: str) -> dict[str, tuple[str, str]]:
    """Name -> module of this package that it is imported from, and its name there."""
    found = {}
    for statement in module.body:
        if isinstance(statement, ast.ImportFrom):
            origin = statement.module or ""
            origin = origin if statement.level == 1 else origin.removeprefix(package)
            if "." in origin or statement.level > 1:
                raise refusal(path, statement, "an import from a module of this package")
            found.update({alias.asname or alias.name: (origin, alias.name) for alias in statement.names})
    return found


def _tool_names(path: Path, module: ast.Module) -> list[ast.Name]:
    found = [value for statement in module.body if (value := _assigned(statement, "ALL_TOOLS")) is not None]
    if len(found) != 1:
        raise DataFileError(path, f"expected one list ALL_TOOLS = [...], found {len(found)}")
    tools = found[0]
    if not isinstance(tools, ast.List):
        raise refusal(path, tools, "a list of class names")
    names = []
    for tool in tools.elts:
        if not isinstance(tool, ast.Name):
            raise refusal(path, tool, "a class name")
        names.append(tool)
    return names


def _read_info(path: Path, class_name: str) -> dict[str, Json]:
    with guard(path):
        module = parse(path, read_bytes(path))
        owner = named(path, module.body, ast.ClassDef, class_name)
        function = named(path, owner.body, ast.FunctionDef, "get_info")
        body = [statement for statement in function.body if not is_docstring(statement)]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or not isinstance(body[0].value, ast.Dict):
            raise refusal(path, function, "get_info() that only returns a dict literal")
        info: dict[str, Json] = literal(path, body[0].value)
    check_shape(path, info, _info_validator())
    return info


def _assigned(statement: ast.stmt, prefix: str) -> ast.expr | None:
    """The value that a statement gives to one variable whose name starts with `prefix`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return None
    return statement.value if isinstance(target, ast.Name) and target.id.startswith(prefix) else None


@cache
def _info_validator() -> Any:  # noqa: ANN401 - a class per draft
    function = {
        "type": "object",
        "required": ["name", "parameters"],
        "properties": {"name": {"type": "string"}, "parameters": {"type": "object"}},
    }
    return jsonschema_rs.validator_for(
        {"type": "object", "required": ["type", "function"], "properties": {"function": function}}
    )
