"""Logs of SWE-bench's evaluation scripts: states, and a parser for each repository."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import UnknownNameError
from tool_envs.repo.logs import PARSERS, Log, LogState, parser_of, read_log
from tool_envs.repo.resolution import STATUSES

PLAIN = "pallets/flask"


def evaluation(output, exit_code=None):
    end = "" if exit_code is None else f">>>>> Test Exit Code: {exit_code}\n"
    return f"+ git apply\n>>>>> Start Test Output\n{output}\n>>>>> End Test Output\n{end}"


def statuses(repo, output):
    return read_log(evaluation(output), repo).statuses


tests = st.dictionaries(
    st.from_regex(r"tests/[a-z]{1,5}\.py::test_[a-z]{1,5}", fullmatch=True),
    st.sampled_from(sorted(STATUSES)),
    min_size=1,
    max_size=6,
)


@given(tests, st.sampled_from(sorted(set(PARSERS) - {"django/django", "sympy/sympy", "mwaskom/seaborn"})))
def test_what_pytest_sums_up_is_read_back(expected, repo):
    output = "\n".join(f"{status} {test}" for test, status in expected.items())

    assert statuses(repo, output) == expected


@given(st.text(), st.sampled_from(sorted(PARSERS)))
def test_any_text_is_read(content, repo):
    for log in (read_log(content, repo), read_log(evaluation(content), repo)):
        assert (log.state is LogState.READ) == bool(log.statuses)


@given(tests)
def test_of_one_test_the_last_status_counts(expected):
    output = "\n".join(f"PASSED {test}\n{status} {test}" for test, status in expected.items())

    assert statuses(PLAIN, output) == expected


@pytest.mark.parametrize(
    ("mark", "state"),
    [
        ("Patch Apply Failed", LogState.PATCH_APPLY_FAILED),
        ("Reset Failed", LogState.RESET_FAILED),
        ("Tests Errored", LogState.TESTS_ERRORED),
        ("Tests Timed Out", LogState.TESTS_TIMED_OUT),
    ],
)
def test_a_state_outweighs_what_tests_say(mark, state):
    assert read_log(evaluation("PASSED a::b") + f">>>>> {mark}\n", PLAIN) == Log(state)


@pytest.mark.parametrize("mark", [">>>>> Start Test Output", ">>>>> End Test Output"])
def test_output_without_both_marks_is_not_read(mark):
    assert read_log(evaluation("PASSED a::b").replace(mark, ""), PLAIN) == Log(LogState.NO_MARKERS)


def test_no_status_is_a_state():
    assert read_log(evaluation("collected 0 items"), PLAIN) == Log(LogState.EMPTY)


def test_results_beside_the_marks_are_taken_where_none_is_between():
    assert read_log("PASSED a::b\n" + evaluation(""), PLAIN).statuses == {"a::b": "PASSED"}
    assert read_log("PASSED a::b\n" + evaluation("PASSED c::d"), PLAIN).statuses == {"c::d": "PASSED"}


@pytest.mark.parametrize(
    ("output", "exit_code", "state"),
    [
        ("PASSED a::b", 0, LogState.READ),
        ("PASSED a::b", 1, LogState.EXIT_CODE_DISAGREES),
        ("PASSED a::b\nSKIPPED a::c", -9, LogState.EXIT_CODE_DISAGREES),
        ("PASSED a::b\nFAILED a::c", 1, LogState.READ),
        ("ERROR a::c", 2, LogState.READ),
    ],
)
def test_a_bad_exit_code_needs_a_failure(output, exit_code, state):
    assert read_log(evaluation(output, exit_code), PLAIN).state is state


@pytest.mark.parametrize(
    ("repo", "output", "expected"),
    [
        (PLAIN, "FAILED t.py::a - AssertionError: no", {"t.py::a": "FAILED"}),
        (PLAIN, "SKIPPED [2] t.py:7: not here\nXFAIL t.py::a", {"t.py::a": "XFAIL"}),
        (PLAIN, "XPASS t.py::a\nERRORS\n  PASSED t.py::b\nPASSED", {}),
        ("psf/requests", "PASSED t.py::a[/home/me/x.pem]", {"t.py::a[/x.pem]": "PASSED"}),
        ("psf/requests", "PASSED t.py::a[//x/y]", {"t.py::a[//x/y]": "PASSED"}),
        ("psf/requests", "PASSED t.py::a[/x/*]", {"t.py::a[/x/*]": "PASSED"}),
        ("sphinx-doc/sphinx", "\x1b[31mFAILED\x1b[0m t.py::a[b c] - Err", {"t.py::a[b c]": "FAILED"}),
        ("astropy/astropy", "t.py::a[b c] PASSED\nt.py::d [ 10%]", {"t.py::a[b c]": "PASSED"}),
        ("scikit-learn/scikit-learn", "SKIPPED [1] t.py:3: no\nPASSED t.py::a", {"t.py::a": "PASSED"}),
        (
            "matplotlib/matplotlib",
            "PASSED t.py::a[MouseButton.LEFT-MouseButton.RIGHT]",
            {"t.py::a[1-3]": "PASSED"},
        ),
        ("mwaskom/seaborn", "t.py::a PASSED [ 5%]\nERROR t.py::d", {"t.py::a": "PASSED"}),
        ("mwaskom/seaborn", "PASSED t.py::b\nFAILED t.py::c - x", {"t.py::b": "PASSED", "t.py::c": "FAILED"}),
        (
            "sympy/sympy",
            "test_a ok\n test_b F\ntest_c E",
            {"test_a": "PASSED", "test_b": "FAILED", "test_c": "ERROR"},
        ),
        ("sympy/sympy", "____ sympy/core/x.py:test_d ____", {"sympy/core/x.py:test_d": "FAILED"}),
    ],
)
def test_each_dialect(repo, output, expected):
    assert statuses(repo, output) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("test_a (m.T) ... ok\ntest_b (m.T) ...  OK", {"test_a (m.T)": "PASSED", "test_b (m.T)": "PASSED"}),
        ("test_a (m.T) ... skipped 'no db'", {"test_a (m.T)": "SKIPPED"}),
        ("test_a (m.T) ... FAIL\nFAIL: test_a (m.T)", {"test_a (m.T)": "FAILED", "test_a": "FAILED"}),
        ("A sentence names it. ... ERROR", {"A sentence names it.": "ERROR"}),
        ("test_a (m.T) ... printed by it\nok", {"test_a (m.T)": "PASSED"}),
        ("--version is equivalent to version", {"--version is equivalent to version": "PASSED"}),
        (
            "test_a (m.T) ... Testing against Django installed in '/x'\nwith 4 issues silenced).\nok",
            {"test_a (m.T)": "PASSED"},
        ),
        (
            "Applying sites.0002_alter_domain_unique...test_no_migrations (m.T) ... ok",
            {"test_no_migrations (m.T)": "PASSED"},
        ),
    ],
)
def test_django(output, expected):
    assert statuses("django/django", output) == expected


def test_an_unknown_repository_has_no_parser():
    with pytest.raises(UnknownNameError, match="Did you mean: `django/django`"):
        parser_of("django/djang")
