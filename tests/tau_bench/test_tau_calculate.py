"""The calculator: tau-bench's texts, without its eval."""

import random
import warnings

import pytest
from effort import effort
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.tau_bench.calculate import calculate

ALPHABET = "0123456789+-*/(). "


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("2+2", "4.0"),
        ("1/3", "0.33"),
        ("2//3", "0.0"),
        ("2**3", "8.0"),
        ("2.675", "2.67"),
        ("  3 * (4 - 1) ", "9.0"),
        ("100000000000000000000*3", "3e+20"),
        ("10/0", "Error: division by zero"),
        ("()", "Error: float() argument must be a string or a real number, not 'tuple'"),
        ("...", "Error: float() argument must be a string or a real number, not 'ellipsis'"),
        ("(-8)**0.5", "Error: float() argument must be a string or a real number, not 'complex'"),
        ("2(3)", "Error: 'int' object is not callable"),
        ("2(1/0)", "Error: division by zero"),
        ("2(*3)", "Error: 2 argument after * must be an iterable, not int"),
        ("2(**3)", "Error: 2 argument after ** must be a mapping, not int"),
        ("-()", "Error: bad operand type for unary -: 'tuple'"),
        ("9.0**9999", "Error: (34, 'Numerical result out of range')"),
        ("2 + a", "Error: invalid characters in expression"),
        (["2", "+"], "Error: eval() arg 1 must be a string, bytes or code object"),
        ([], "Error: eval() arg 1 must be a string, bytes or code object"),
    ],
)
def test_known_texts(expression, text):
    assert calculate(expression) == text


@pytest.mark.parametrize(
    "expression", ["", "(1", "1)", "012", "1..", "1 2", "(1 2)", "(*1)", "* 1", "1" * 5000]
)
def test_syntax_errors_are_in_pythons_words(expression):
    with pytest.raises(SyntaxError) as error:
        compile(expression, "<string>", "eval")

    assert calculate(expression) == f"Error: {error.value}"


@pytest.mark.parametrize("value", [None, 3, True, 2.5])
def test_what_is_no_collection_raises_as_upstream_does(value):
    with pytest.raises(TypeError, match="object is not iterable"):
        calculate(value)


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "9**9**9**9",
        "-(9**9**9)//(9**9**9)",
        "*".join(["9**9**4"] * 300),
        "//".join(["9**15000"] * 200),
        "(" * 5000,
        "-" * 100_000 + "1",
        "1" * 1_000_000,
    ],
)
def test_what_would_take_long_is_an_error_at_once(expression):
    assert calculate(expression).startswith("Error: ")
    assert effort(lambda: calculate(expression)) < 30


def test_long_sums_are_no_problem():
    assert calculate("+".join(["1"] * 1500)) == "1500.0"


@given(st.text(ALPHABET, max_size=12))
def test_any_text_of_the_alphabet_has_an_answer_without_a_warning(expression):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = calculate(expression)

    assert text.startswith("Error: ") or float(text) == float(text)


def test_sums_of_money_are_pythons():
    rng = random.Random(3)  # noqa: S311 - reproducible
    for _ in range(500):
        prices = [round(rng.uniform(1, 900), 2) for _ in range(rng.randint(1, 6))]
        total = 0.0
        for price in prices:
            total += price

        assert calculate(" + ".join(map(str, prices))) == str(round(total, 2))
