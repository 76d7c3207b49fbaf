"""tau-bench's calculator without `eval`: the text is parsed, and the tree is walked with plain operators.

Upstream evaluates any expression of digits, `+-*/().` and spaces as Python. The same texts come out here,
those of Python's own exceptions included, because the same operators meet the same operands in the same
order. What upstream would compute for minutes or longer is answered at once: too large, too deep or too long.
"""

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from tool_envs.messages import Json

_ALLOWED = "0123456789+-*/(). "
_MAX_CHARACTERS = 20_000
_MAX_OPERATORS = 2_000  # whether Python parses a tree deeper than this depends on the caller's own stack
_MAX_BITS = 50_000  # of one integer; the largest float has 1,024
_MAX_LARGE_BITS = 500_000  # of all integers beyond 1,024 bits together: what bounds the time

_TOO_DEEP = "Error: maximum recursion depth exceeded during compilation"
_TOO_LARGE = "int too large to convert to float"

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def calculate(expression: Json) -> str:
    """The value of an expression, rounded to two decimals, or a text that starts with `Error: `.

    Raises:
        TypeError: `expression` is neither a text nor a collection of texts; upstream raises it too.
    """
    if not all(char in _ALLOWED for char in expression):
        return "Error: invalid characters in expression"
    if not isinstance(expression, str):
        return "Error: eval() arg 1 must be a string, bytes or code object"
    if len(expression) > _MAX_CHARACTERS:
        return "Error: expression too long"
    if sum(map(expression.count, "+-*/(")) > _MAX_OPERATORS:
        return _TOO_DEEP
    try:
        return str(round(float(_Walk().value(_parse(expression))), 2))
    except RecursionError:
        return _TOO_DEEP
    except Exception as error:
        return f"Error: {error}"


def _parse(expression: str) -> ast.expr:
    # `eval` drops leading spaces too. Only the tree is asked for: making code of it could print warnings.
    tree: Any = compile(expression.lstrip(" "), "<string>", "eval", ast.PyCF_ONLY_AST, dont_inherit=True)
    body: ast.expr = tree.body
    return body


class _Walk:
    """Evaluates a tree without recursion: operands from left to right, then their operator."""

    def __init__(self) -> None:
        self._large_bits = 0

    def value(self, tree: ast.expr) -> Any:  # noqa: ANN401 - a number, an empty tuple or an ellipsis
        work: list[tuple[ast.expr, bool]] = [(tree, False)]
        values: list[Any] = []
        while work:
            node, ready = work.pop()
            operands = _operands(node)
            if operands and not ready:
                work.append((node, True))
                work.extend((operand, False) for operand in reversed(operands))
            else:
                first = len(values) - len(operands)
                values[first:] = [self._apply(node, values[first:])]
        return values.pop()

    def _apply(self, node: ast.expr, operands: Sequence[Any]) -> Any:  # noqa: ANN401 - see `value`
        match node:
            case ast.Constant():
                return node.value
            case ast.UnaryOp():
                return _UNARY[type(node.op)](*operands)
            case ast.BinOp():
                self._check_size(node.op, *operands)
                return _BINARY[type(node.op)](*operands)
            case ast.Call():
                return _call(node, *operands)
            case ast.Tuple(elts=[]):
                return ()
        raise TypeError(f"{type(node).__name__} cannot be written without letters and commas")

    def _check_size(self, operation: ast.operator, left: Any, right: Any) -> None:  # noqa: ANN401 - see `value`
        """Raise OverflowError where integers get so long that the time would show."""
        if not (isinstance(left, int) and isinstance(right, int)):
            return
        bits, other_bits = left.bit_length(), right.bit_length()
        if isinstance(operation, ast.Mult):
            bits += other_bits
        elif isinstance(operation, ast.Pow) and right > 0:
            bits = max((bits - 1) * right, other_bits)
        bits = max(bits, other_bits)
        if bits > 1024:
            self._large_bits += bits
        if bits > _MAX_BITS or self._large_bits > _MAX_LARGE_BITS:
            raise OverflowError(_TOO_LARGE)


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.UnaryOp():
            return [node.operand]
        case ast.BinOp():
            return [node.left, node.right]
        case ast.Call():
            arguments = [part.value if isinstance(part, ast.Starred) else part for part in node.args]
            return [node.func, *arguments, *(keyword.value for keyword in node.keywords)]
    return []


def _call(node: ast.Call, function: Any, *arguments: Any) -> Any:  # noqa: ANN401 - see `_Walk.value`
    """Call a number, a tuple or an ellipsis as `2(3)` would, for the text of Python's exception."""
    if node.keywords:
        return function(**arguments[0])
    if node.args and isinstance(node.args[0], ast.Starred):
        return function(*arguments[0])
    return function(*arguments)
