"""SWE-bench's rule of when an issue is resolved."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.repo.resolution import Resolution, judge

EVERY = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"]
names = st.lists(st.sampled_from("abcdef"), unique=True, max_size=4)
runs = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(EVERY))


@given(names, names, runs)
def test_every_test_that_decides_is_in_one_list_in_order(fail_to_pass, pass_to_pass, statuses):
    report = judge(fail_to_pass, pass_to_pass, statuses)

    for given_, split in ((fail_to_pass, report.fail_to_pass), (pass_to_pass, report.pass_to_pass)):
        assert sorted(split.success + split.failure) == sorted(given_)
        assert [name for name in given_ if name in split.success] == list(split.success)


@given(names, names, runs)
def test_resolved_is_all_of_both_lists(fail_to_pass, pass_to_pass, statuses):
    met = [statuses.get(name) in ("PASSED", "XFAIL") for name in fail_to_pass]
    kept = [statuses.get(name) in ("PASSED", "XFAIL", "SKIPPED") for name in pass_to_pass]
    report = judge(fail_to_pass, pass_to_pass, statuses)

    assert report.resolved == (all(met) and all(kept))
    assert (report.resolution is Resolution.PARTIAL) == (any(met) and not all(met) and all(kept))


@given(names, names, runs, st.data())
def test_one_more_failure_never_helps(fail_to_pass, pass_to_pass, statuses, data):
    before = judge(fail_to_pass, pass_to_pass, statuses)
    lost = data.draw(st.sampled_from("abcdef"))
    after = judge(fail_to_pass, pass_to_pass, statuses | {lost: "FAILED"})

    rank = [Resolution.NO, Resolution.PARTIAL, Resolution.FULL].index
    assert rank(after.resolution) <= rank(before.resolution)


@given(names, names, runs)
def test_what_is_in_no_list_does_not_matter(fail_to_pass, pass_to_pass, statuses):
    decides = {name: statuses[name] for name in statuses if name in fail_to_pass + pass_to_pass}

    assert judge(fail_to_pass, pass_to_pass, decides) == judge(fail_to_pass, pass_to_pass, statuses)


@pytest.mark.parametrize(
    ("status", "to_pass", "kept"),
    [
        ("PASSED", True, True),
        ("XFAIL", True, True),
        ("SKIPPED", False, True),
        ("XPASS", False, False),
        ("FAILED", False, False),
        ("ERROR", False, False),
    ],
)
def test_what_each_status_is_worth(status, to_pass, kept):
    assert judge(["a"], [], {"a": status}).resolved is to_pass
    assert judge([], ["a"], {"a": status}).resolved is kept


@pytest.mark.parametrize(
    ("cut", "statuses", "passes"),
    [
        ("t[log(ph", {"t[log(ph) x]": "PASSED"}, True),
        ("t[log(ph", {"t[log(ph) x]": "PASSED", "t[log(ph) y]": "XFAIL"}, True),
        ("t[log(ph", {"t[log(ph) x]": "PASSED", "t[log(ph) y]": "FAILED"}, False),
        ("t[log(ph", {"t[log(ph) x]": "FAILED", "t[log(ph": "PASSED"}, True),
        ("t[log(ph", {}, False),
        ("t[x]", {"t[x]y": "PASSED"}, False),
        ("t", {"t2": "PASSED"}, False),
    ],
)
def test_a_name_cut_within_its_parameters(cut, statuses, passes):
    assert judge([cut], [], statuses).resolved is passes


def test_the_json_is_that_of_swe_benchs_reports():
    report = judge(["a", "b"], ["c"], {"a": "PASSED", "c": "SKIPPED"})

    assert msgspec.to_builtins(report) == {
        "FAIL_TO_PASS": {"success": ("a",), "failure": ("b",)},
        "PASS_TO_PASS": {"success": ("c",), "failure": ()},
    }
    assert report.resolution == "RESOLVED_PARTIAL"
