"""Reads what stands in Python files of unknown origin: they are parsed, and nothing of them is run."""

import ast
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tool_envs.errors import DataFileError
from tool_envs.messages import Json


@contextmanager
def guard(path: Path) -> Iterator[None]:
    """Turn whatever Python's parser raises on strange input into a DataFileError."""
    try:
        yield
    except SyntaxError as problem:
        raise DataFileError(path, f"not Python: {problem.msg}", problem.lineno) from problem
    except (RecursionError, MemoryError) as problem:
        raise DataFileError(path, "nested too deeply") from problem
    except ValueError as problem:
        raise DataFileError(path, f"not Python: {problem}") from problem


def parse(path: Path, content: bytes) -> ast.Module:
    """The syntax tree of a file; call it inside of `guard`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their escapes and comparisons are not ours to judge
        return ast.parse(content, filename=str(path))


def refusal(path: Path, node: ast.AST, expected: str) -> DataFileError:
    """The error for a node that is not what was expected there; says what was found, and in which line."""
    found = ast.unparse(node).split("\n", 1)[0]
    found = found if len(found) <= 60 else f"{found[:60]} ..."
    return DataFileError(path, f"expected {expected}; found `{found}`", getattr(node, "lineno", None))


def named(path: Path, body: list[ast.stmt], kind: type[Any], name: str) -> Any:  # noqa: ANN401 - a node of `kind`
    """The class or function of that name among statements; raises DataFileError."""
    for statement in body:
        if isinstance(statement, kind) and statement.name == name:
            return statement
    word = "class" if kind is ast.ClassDef else "def"
    raise DataFileError(path, f"expected `{word} {name}`, found none")


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement does nothing: a docstring, say."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def literal(path: Path, node: ast.expr) -> Json:
    """The JSON value that a literal stands for; texts may be put together with `+`. Raises DataFileError."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List():
            return [literal(path, part) for part in node.elts]
        case ast.Dict():
            return {
                _key(path, node, key): literal(path, value)
                for key, value in zip(node.keys, node.values, strict=True)
            }
        case ast.BinOp(op=ast.Add()):
            left, right = literal(path, node.left), literal(path, node.right)
            if isinstance(left, str) and isinstance(right, str):
                return left + right
    raise refusal(path, node, "a literal")


def _key(path: Path, owner: ast.Dict, key: ast.expr | None) -> str:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    raise refusal(path, key or owner, "a dict whose keys are texts")
