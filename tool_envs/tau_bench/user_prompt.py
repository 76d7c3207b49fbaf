"""What tau-bench tells the model that plays its user, as it stands in a checkout.

The wording is theirs, and scores depend on it: it is read from `tau_bench/envs/user.py`, which is never run,
and there is no copy of it here.
"""

import ast
import functools
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tool_envs.errors import UsageError
from tool_envs.tau_bench.checkout import find_package
from tool_envs.tau_bench.formats import read_bytes
from tool_envs.tau_bench.python_files import guard, is_docstring, literal, named, parse, refusal

_CLASS, _BUILD, _RESET = "LLMUserSimulationEnv", "build_system_prompt", "reset"

_Text = tuple[str, ...]
"""A text with gaps: the task's instruction stands between each two of these."""

_INSTRUCTION: _Text = ("", "")


class UserPrompt(msgspec.Struct, frozen=True):
    """What tau-bench tells the model that plays its user.

    Attributes:
        system: The system message in parts; the task's instruction stands between each two of them.
        greeting: What the agent seems to have said first.
    """

    system: tuple[str, ...]
    greeting: str

    def instructions(self, instruction: str) -> str:
        """The system message for a task."""
        return instruction.join(self.system)


def read_user_prompt(path: str | None) -> UserPrompt:
    """The prompt of the user `llm` of a checkout.

    Args:
        path: See `TauBenchEnv`.

    Raises:
        UsageError: There is no checkout at the path.
        DataFileError: Its `user.py` is missing, or is not written as tau-bench's is.
    """
    package = None if path is None else find_package(Path(path))
    if package is None:
        raise UsageError(
            'With `user="llm"`, the user is told what tau-bench tells its own. That stands in its code and '
            "in no JSON file: give a clone of https://github.com/sierra-research/tau-bench as `path`."
        )
    file = package / "envs" / "user.py"
    with guard(file):
        owner = named(file, parse(file, read_bytes(file)).body, ast.ClassDef, _CLASS)
        system = _returned(file, named(file, owner.body, ast.FunctionDef, _BUILD))
        return UserPrompt(system, _greeting(file, named(file, owner.body, ast.FunctionDef, _RESET)))


def _returned(file: Path, function: ast.FunctionDef) -> _Text:
    """The text that `build_system_prompt` returns for an instruction that is not None."""
    names = {"instruction": _INSTRUCTION}
    for statement in function.body:
        match statement:
            case ast.Return(value=ast.expr() as value):
                text = _text(file, value, names)
                if len(text) == 1:
                    raise refusal(file, value, "a text with the instruction in it")
                return text
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = _text(file, value, names)
            case _ if not is_docstring(statement):
                raise refusal(file, statement, "an assignment of a text to a name, or `return`")
    raise refusal(file, function, f"`{_BUILD}` that returns a text")


def _text(file: Path, node: ast.expr, names: Mapping[str, _Text]) -> _Text:
    """What an expression makes of literals and names."""
    match node:
        case ast.Constant(value=str() as text):
            return (text,)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined(_text(file, left, names), _text(file, right, names))
        case ast.JoinedStr(values=values):
            return functools.reduce(_joined, (_text(file, value, names) for value in values), ("",))
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return _text(file, value, names)
        case ast.IfExp(body=body) if ast.unparse(node.test) == "instruction is not None":
            return _text(file, body, names)
    raise refusal(file, node, "a text made of literals and the instruction")


def _joined(left: _Text, right: _Text) -> _Text:
    return (*left[:-1], left[-1] + right[0], *right[1:])


def _greeting(file: Path, function: ast.FunctionDef) -> str:
    """The second of the two messages with which `reset` begins a conversation."""
    for statement in function.body:
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(attr="messages")], value=ast.List(elts=[system, ast.Dict() as message])
            ):
                if _BUILD not in ast.unparse(system):
                    raise refusal(file, system, f"a system message made by `{_BUILD}`")
                greeting = literal(file, message)
                if greeting.keys() != {"role", "content"} or greeting["role"] != "user":
                    raise refusal(file, message, "a message of the role `user`")
                return str(greeting["content"])
    raise refusal(file, function, "`self.messages = [...]` with a system message and a greeting")
