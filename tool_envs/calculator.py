"""Arithmetic for agents: an expression is parsed, never run, and worked out exactly."""

import ast
import math
from fractions import Fraction

_MAX_CHARACTERS = 1000
_MAX_OPERATIONS = 200  # so that the walk is never deeper than Python goes
_MAX_BITS = 10_000  # of a numerator or denominator on the way
_LIMIT = 10**13  # cents; below it, a float keeps every one of them


class CalculationError(ValueError):
    """Raised when an expression has no value here."""


def calculate(expression: str) -> float:
    """The value of an expression, rounded to two decimals, a half away from zero.

    Args:
        expression: Numbers, the signs + - * /, parentheses and spaces.

    Raises:
        CalculationError: It is anything else, too long or too large, or it divides by zero.
    """
    if len(expression) > _MAX_CHARACTERS or sum(map(expression.count, "+-*/(")) > _MAX_OPERATIONS:
        raise CalculationError("too long")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError) as error:
        raise CalculationError(str(error)) from None
    cents = math.floor(abs(value) * 100 + Fraction(1, 2))
    if cents >= _LIMIT:
        raise CalculationError("too large")
    return math.copysign(cents, value) / 100 if cents else 0.0


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number) if type(number) is not bool:
            return _small(Fraction(repr(number)))  # the decimal number as it was written, not its float
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=operation, right=right):
            return _small(_combine(operation, _value(left), _value(right)))
    raise CalculationError(f"not arithmetic: {type(node).__name__}")


def _combine(operation: ast.operator, left: Fraction, right: Fraction) -> Fraction:
    match operation:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
    raise CalculationError(f"no such sign: {type(operation).__name__}")


def _small(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
        raise CalculationError("too large")
    return value
