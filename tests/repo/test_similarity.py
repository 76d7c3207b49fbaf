"""Rewards by similarity: golden values, the laws that they keep, and texts that are made to be slow."""

import difflib
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import cydifflib
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tool_envs.errors import UsageError
from tool_envs.repo import similarity
from tool_envs.repo.similarity import SimilarityBoundError, search_replace_reward, unified_diff_reward

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "swe_rl" / "golden.json"
BLOCK = re.compile(r"```.*?\n### (.*)\n<<<<<<< SEARCH\n([\s\S]*?)\n=======\n([\s\S]*?)\n>>>>>>> REPLACE\n```")
PARTS = [
    "```",
    "```python",
    "\n",
    "### a.py",
    "### ",
    "x",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "\n```python\n### a.py\n<<<<<<< SEARCH\n",
    "\n### a.py\n<<<<<<< SEARCH\n",
    "\n=======\n",
    "\n>>>>>>> REPLACE\n```",
]
BLOCK_TEXT = "```\n### a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```"
PATCH_LINES = [
    "--- a/x\n",
    "+++ b/x\n",
    "@@ -1 +1 @@\n",
    "-x\n",
    "+y\n",
    "\\ No newline at end of file\n",
    "new file mode 100644\n",
    "diff --git a/x b/y\n",
    "Binary files a/x and b/x differ\n",
]
ALPHABETS = ["a", "ab", "ab \n", "+- \n@", "abcdefgh", "aé\u2028ß", "😀a𝄞b", "\x00a\x0b\x0c\r\n"]
texts = st.one_of(
    st.text(max_size=80),
    *(st.text(st.sampled_from(alphabet), max_size=400) for alphabet in ALPHABETS),
)


@st.composite
def likes(draw):
    """Two texts, of which the second is often made of parts of the first."""
    one = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(one)), max_size=6)))
    parts = [one[start:end] for start, end in zip([0, *cuts], [*cuts, len(one)], strict=True)]
    return one, draw(st.one_of(texts, st.permutations(parts).map("".join), st.just(one[::-1])))


def output(*blocks, thought="why"):
    """An answer in the form that is asked for."""
    parts = [
        f"```python\n### {path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```"
        for path, old, new in blocks
    ]
    solution = "\n\n".join(parts)
    return f"<think>\n{thought}\n</think>\n<solution>\n{solution}\n</solution>"


def golden_cases():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"] if GOLDEN.is_file() else []


def test_golden_rewards():
    if not golden_cases():
        pytest.skip(f"no golden rewards of the reference implementation at {GOLDEN}")
    for case in golden_cases():
        args = case["code_context"], case["oracle_new_content"], case["output"]

        assert search_replace_reward(*args) == pytest.approx(case["reward"], rel=0, abs=1e-12)


@settings(max_examples=300)
@given(likes())
@example(("", ""))
@example(("a", ""))
@example(("ab", "acab"))
@example(("ab" * 300, "ba" * 300))  # more than 200 of one character: junk, were that not switched off
@example(("".join(map(chr, range(0x1F600, 0x1F700))), "".join(map(chr, range(0x1F6FF, 0x1F5FF, -1)))))
def test_compiled_matcher_is_difflibs(pair):
    for one, two in (pair, pair[::-1]):
        compiled = cydifflib.SequenceMatcher(None, one, two, autojunk=False)
        plain = difflib.SequenceMatcher(None, one, two, autojunk=False)

        assert compiled.ratio() == plain.ratio()
        assert compiled.get_matching_blocks() == plain.get_matching_blocks()


def test_compiled_matcher_is_difflibs_on_long_texts():
    source = Path(similarity.__file__).read_text(encoding="utf-8")[:2000]
    cases = [(source, source[::2]), (source[1000:] + source[:1000], source), ("ab\n " * 100, "ba \n" * 100)]
    for one, two in cases:
        compiled = cydifflib.SequenceMatcher(None, one, two, autojunk=False).ratio()

        assert compiled == difflib.SequenceMatcher(None, one, two, autojunk=False).ratio()


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
@example(BLOCK_TEXT + BLOCK_TEXT)
@example(BLOCK_TEXT + BLOCK_TEXT.removeprefix("```"))  # the fence that ends a block begins no other
@example(BLOCK_TEXT + "```" + BLOCK_TEXT.removeprefix("```"))
@example(BLOCK_TEXT.replace("x", f"x\n{BLOCK_TEXT}\nx"))
@example(BLOCK_TEXT.replace("\n=", "\n\n="))
def test_blocks_are_those_of_the_expression(text):
    assert list(similarity._blocks(text)) == BLOCK.findall(text)


@given(st.lists(st.tuples(texts, texts, texts), max_size=4))
def test_blocks_are_read_as_they_were_written(blocks):
    text = output(*blocks)

    assert list(similarity._blocks(text)) == BLOCK.findall(text)


OLD = "def f(a):\n    return a\n\n\ndef g(a):\n    return a\n"
NEW = OLD.replace("return a\n\n", "return a + 1\n\n")
EDIT = ("m.py", "    return a\n\n", "    return a + 1\n\n")


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        (output(EDIT), 1.0),
        (output(("m.py", "def f(a):\n    return a", "def f(a):\n    return a + 1")), 1.0),
        (output(("m.py", "    return a", "    return a + 1")), 0.797752808988764),  # both places are changed
        (output(("m.py", "def g(a):", "def g(b):")), 0.5774647887323944),
        (output(EDIT, ("new.py", "", "x = 1")), 0.5),
        (output(("new.py", "", "x = 1")), 0.0),
        (output(EDIT, ("m.py", "    return a + 1\n\n", "    return a\n\n")), 0.0),  # there and back
        (output(EDIT) + " and more", 1.0),
    ],
)
def test_rewards_of_answers(answer, reward):
    assert search_replace_reward({"m.py": OLD}, {"m.py": NEW}, answer) == pytest.approx(reward, abs=1e-15)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        output(),
        output(EDIT, thought=" "),
        output(EDIT).replace("</think>", ""),
        output(EDIT) + "<solution></solution>",
        output(EDIT).replace("\n```\n</sol", "\n</sol"),
        output(EDIT).replace("=======", "======"),
        output(EDIT).replace("### ", "## "),
        output(EDIT).replace("\n", "\r\n"),
        output(EDIT, ("m.py", "def g(a):", "def g(a):")),  # changes nothing
        output(EDIT, EDIT),  # is not there any more
        output(("m.py", "return a", "return b")),  # is not the beginning of a line
        output(("other.py", "def f(a):", "def f(b):")),  # is in another file
    ],
)
def test_errors_of_the_form(answer):
    assert search_replace_reward({"m.py": OLD}, {"m.py": NEW}, answer) == -1.0


def test_no_change_is_what_was_asked_for():
    back = output(EDIT, ("m.py", "    return a + 1\n\n", "    return a\n\n"))

    assert search_replace_reward({"m.py": OLD}, {"m.py": OLD}, back) == 1.0
    assert search_replace_reward({"m.py": OLD}, {}, back) == 1.0


@given(texts, texts, likes())
def test_rewards_are_between_0_and_1_or_minus_1(path, search, pair):
    reward = search_replace_reward({path: pair[0]}, {path: pair[1]}, output((path, search, pair[1])))

    assert reward == -1.0 or 0.0 <= reward <= 1.0


def patch(path, old, new, *, to=None):
    lines = difflib.unified_diff(
        old.split("\n"), new.split("\n"), f"a/{path}", f"b/{to or path}", lineterm=""
    )
    return "".join(f"{line}\n" for line in [f"diff --git a/{path} b/{to or path}", *lines])


@given(st.dictionaries(st.sampled_from(["a.py", "b.py", "c/d.py"]), likes()))
def test_the_reference_patch_has_the_best_reward(files):
    files = {path: pair for path, pair in files.items() if not {"\r", "\x00"} & set("".join(pair))}
    whole = "".join(patch(path, old, new) for path, (old, new) in files.items())

    assert unified_diff_reward(whole, whole) == 1.0


@pytest.mark.parametrize(
    ("predicted", "reward"),
    [
        (patch("m.py", OLD, NEW), 1.0),
        (patch("m.py", OLD, NEW).replace("diff --git a/m.py b/m.py\n", ""), 1.0),
        (patch("m.py", OLD, OLD.replace("g(a)", "g(b)")), 0.5492957746478874),
        (patch("m.py", OLD, NEW) + patch("n.py", OLD, NEW), 0.5),
        (patch("n.py", OLD, NEW), 0.0),
        (patch("m.py", OLD, NEW, to="n.py"), 0.8538011695906432),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n" + patch("m.py", OLD, NEW), 1.0),
        ("", 0.0),
        ("no patch", 0.0),
        (patch("m.py", OLD, NEW)[:-30], 0.0),
        ("--- a/m.py\n+++ b/m.py\n@@ -1 +" + "1" * 5000 + " @@\n", 0.0),
    ],
)
def test_rewards_of_patches(predicted, reward):
    assert unified_diff_reward(patch("m.py", OLD, NEW), predicted) == pytest.approx(reward, abs=1e-15)


@given(st.lists(st.sampled_from([*PARTS, *PATCH_LINES])).map("".join))
def test_any_text_is_a_predicted_patch(text):
    assert 0.0 <= unified_diff_reward(patch("m.py", OLD, NEW), text) <= 1.0


def test_a_reference_that_is_no_patch_is_refused():
    with pytest.raises(UsageError, match="reference patch cannot be read"):
        unified_diff_reward(patch("m.py", OLD, NEW)[:-30], "")


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (output(("m.py", "def f(a):", "x" * 2**17)), "characters of a solution: "),
        (output(*[("m.py", "", "\n")] * 30), "characters of a file: "),  # twice as many lines, 30 times
        (output(("m.py", "", "".join(map(chr, range(1000, 60_000))))), "pairs of characters of two diffs: "),
    ],
)
def test_bounds_are_no_reward(answer, what, monkeypatch):
    monkeypatch.setattr(similarity, "MAX_PAIRS", 2**20)
    with pytest.raises(SimilarityBoundError, match=what) as caught:
        search_replace_reward({"m.py": OLD}, {"m.py": NEW}, answer)

    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - our own bytes


def test_long_patches_are_refused():
    with pytest.raises(SimilarityBoundError, match="characters of a patch: 131,073, and at most 131,072"):
        unified_diff_reward("", "x" * (2**17 + 1))


def test_outputs_made_to_be_slow_are_read_in_linear_time():
    """With the expression that the form is described by, these would take hours."""
    head = "```\n### a\n<<<<<<< SEARCH\n"
    for hostile in (head * 5000, head * 2000 + "\n=======\n" * 5000, "`" * 120_000, "\n### a" * 20_000):
        text = f"<think>a</think><solution>{hostile}</solution>"

        assert search_replace_reward({"m.py": OLD}, {"m.py": NEW}, text) == -1.0


def test_the_benchmark_prints_its_figures_as_json():
    script = Path(__file__).parents[2] / "benchmarks" / "similarity.py"
    command = [sys.executable, str(script), "--rounds", "1", "--characters", "100", "--json"]

    figures = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    names = {"near_s", "near_times_faster", "far_s", "far_times_faster", "slow_s"}
    assert figures["100"].keys() == names
    assert all(value > 0 for value in figures["100"].values())
