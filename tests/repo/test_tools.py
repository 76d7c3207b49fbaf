"""The tools on files: laws against plain dicts and strings, every refusal, and bounded answers."""

import re
from types import SimpleNamespace

import pytest
import re2
from hypothesis import example, given
from hypothesis import strategies as st
from issue_repositories import encoded
from made_repositories import add_commit, make_repository

from tool_envs.messages import ToolCall
from tool_envs.repo import reading
from tool_envs.repo.editing import create_file, delete_file, diff, edit, occurrences
from tool_envs.repo.reading import MOST_FILES, MOST_HITS, MOST_LINES, list_files, read_file, search
from tool_envs.repo.repositories import open_repository
from tool_envs.repo.steering import next_edit, solver
from tool_envs.repo.texts import MAX_LINE, MAX_OUTPUT, MAX_TEXT, cut, split_lines
from tool_envs.repo.tools import make_toolkit
from tool_envs.repo.workspace import Workspace
from tool_envs.toolkit import PlainText, Refusal

LONG = "".join(f"{number}\n" for number in range(1, 1001))
FILES = {
    "README.md": "one\ntwo\nthree",
    "empty.txt": "",
    "long.txt": LONG,
    "wide.txt": "x" * 5_000 + "\n",
    "src/app.py": "def start():\n    return 1\n\n\ndef stop():\n    return 1\n",
    "src/deep/util.py": "HELP = 'start'\n",
    "data.bin": b"\x00\x01",
    "latin.txt": b"Fl\xe4che\n",
    "large.txt": "x" * (MAX_TEXT + 1),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tools") / "tools"
    make_repository(folder, encoded(FILES))
    (folder / "link.txt").symlink_to("README.md")
    return open_repository(folder, add_commit(folder, {}))


@pytest.fixture
def files(repository):
    return Workspace(repository)


@pytest.fixture(scope="module")
def toolkit():
    reward = SimpleNamespace(submission_problem=lambda _: None)
    return make_toolkit(None, reward)


def text(answer):
    assert isinstance(answer, PlainText), answer
    return answer.text


# --- Every mistake is an answer with a code, and changes nothing


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("read_file", {"path": "../README.md"}, "bad_path"),
        ("read_file", {"path": "/etc/passwd"}, "bad_path"),
        ("read_file", {"path": "src//app.py"}, "bad_path"),
        ("read_file", {"path": "./README.md"}, "bad_path"),
        ("read_file", {"path": ".git/config"}, "bad_path"),
        ("read_file", {"path": "src/.GIT/config"}, "bad_path"),
        ("read_file", {"path": "a\0b"}, "bad_path"),
        ("read_file", {"path": "x" * 300}, "bad_path"),
        ("read_file", {"path": "missing.py"}, "no_such_file"),
        ("read_file", {"path": "src"}, "is_a_folder"),
        ("read_file", {"path": "data.bin"}, "not_a_text"),
        ("read_file", {"path": "latin.txt"}, "not_a_text"),
        ("read_file", {"path": "link.txt"}, "not_a_text"),
        ("read_file", {"path": "large.txt"}, "too_large"),
        ("read_file", {"path": "README.md", "first_line": 4}, "no_such_lines"),
        ("read_file", {"path": "README.md", "first_line": 2, "last_line": 1}, "no_such_lines"),
        ("read_file", {"path": "README.md", "first_line": 0}, "invalid_arguments"),
        ("list_files", {"folder": "missing"}, "no_such_folder"),
        ("list_files", {"folder": "../.."}, "no_such_folder"),
        ("search", {"query": "(", "regex": True}, "bad_pattern"),
        ("search", {"query": "(?=x)", "regex": True}, "bad_pattern"),
        ("search", {"query": "((a{1000}){1000}){1000}", "regex": True}, "bad_pattern"),
        ("search", {"query": "x", "path": "missing"}, "no_such_file"),
        ("search", {"query": ""}, "invalid_arguments"),
        ("edit", {"path": "missing.py", "old": "a", "new": "b"}, "no_such_file"),
        ("edit", {"path": "data.bin", "old": "a", "new": "b"}, "not_a_text"),
        ("edit", {"path": "README.md", "old": "four", "new": "b"}, "text_not_found"),
        ("edit", {"path": "README.md", "old": "o", "new": "b"}, "text_not_unique"),
        ("edit", {"path": "README.md", "old": "one", "new": "one"}, "nothing_to_change"),
        ("edit", {"path": "README.md", "old": "one", "new": "\0"}, "not_a_text"),
        ("edit", {"path": "README.md", "old": "", "new": "b"}, "invalid_arguments"),
        ("create_file", {"path": "README.md", "content": ""}, "file_exists"),
        ("create_file", {"path": "link.txt", "content": ""}, "file_exists"),
        ("create_file", {"path": "src", "content": ""}, "bad_path"),
        ("create_file", {"path": "README.md/x", "content": ""}, "bad_path"),
        ("create_file", {"path": "link.txt/x", "content": ""}, "bad_path"),
        ("create_file", {"path": "../x", "content": ""}, "bad_path"),
        ("create_file", {"path": ".git/hooks/pre-commit", "content": ""}, "bad_path"),
        ("create_file", {"path": "new.txt", "content": "\0"}, "not_a_text"),
        ("create_file", {"path": "new.txt", "content": "\u00e4" * (MAX_TEXT // 2 + 1)}, "too_large"),
        ("delete_file", {"path": "missing"}, "no_such_file"),
        ("delete_file", {"path": "src"}, "is_a_folder"),
        ("delete_file", {"path": "../x"}, "bad_path"),
        ("run_tests", {"paths": ["missing.py"]}, "no_such_file"),
        ("run_tests", {"paths": ["src", "missing.py::test_x"]}, "no_such_file"),
        ("run_tests", {"paths": ["../x"]}, "bad_path"),
        ("run_tests", {"paths": ["--co"]}, "no_such_file"),
        ("run_tests", {"paths": []}, "invalid_arguments"),
    ],
)
def test_a_mistake_is_answered_with_its_code_and_changes_nothing(files, toolkit, name, arguments, code):
    before = files.digest()

    result = toolkit.call(files, ToolCall(name, arguments))

    assert result.code == code
    assert len(result.content) < 1_500
    assert files.digest() == before


@given(
    st.text(min_size=1, max_size=30) | st.sampled_from(["..", "/", ".git", "a/../../b", "~", "src/./app.py"])
)
def test_no_path_leads_anywhere_but_to_the_files(repository, path):
    files = Workspace(repository)

    found = read_file(files, path)

    assert isinstance(found, Refusal) or path in FILES


# --- Reading


def test_the_files_of_a_folder_are_listed_in_order(files):
    assert text(list_files(files, "src")) == "src/app.py\nsrc/deep/util.py"
    assert text(list_files(files, "./src/")) == text(list_files(files, "src"))
    assert text(list_files(files, pattern="*.py")) == text(list_files(files, "src"))
    assert text(list_files(files, "src", "*/deep/*")) == "src/deep/util.py"
    assert text(list_files(files, pattern="*.js")) == "No file there matches."
    assert text(list_files(files)).splitlines() == sorted([*FILES, "link.txt"])


def test_long_lists_of_files_are_cut(files):
    for number in range(MOST_FILES + 2):
        create_file(files, f"many/{number:04}", "")

    lines = text(list_files(files, "many")).splitlines()

    assert len(lines) == MOST_FILES + 1
    assert lines[-1] == "... and 2 more: name a folder or a pattern"


@given(st.integers(1, 1000), st.none() | st.integers(1, 1100))
def test_lines_are_those_of_the_file_under_their_numbers(repository, first, last):
    found = read_file(Workspace(repository), "long.txt", first, last)

    end = min(1000, first + MOST_LINES - 1, last or 1000)
    if end < first:
        assert found.code == "no_such_lines"
        return
    head, *lines = text(found).splitlines()
    assert head == f"long.txt, lines {first} to {end} of 1000"
    assert lines == [f"{number:>6}\t{number}" for number in range(first, end + 1)]


def test_what_a_file_ends_with_is_said(files):
    assert text(read_file(files, "README.md")).splitlines() == [
        "README.md, lines 1 to 3 of 3, without a line feed at its end",
        *("     1\tone", "     2\ttwo", "     3\tthree"),
    ]
    assert text(read_file(files, "empty.txt")) == "empty.txt is empty."


@given(st.text(st.sampled_from("ab \n\r\t\u2028"), max_size=40))
def test_lines_end_with_line_feeds_only(content):
    lines = split_lines(content)

    assert "\n".join([*lines, ""] if content.endswith("\n") else lines) == content or content == ""
    assert all("\n" not in line for line in lines)


def test_wide_lines_and_long_answers_are_cut(files):
    create_file(files, "square.txt", ("y" * 1_999 + "\n") * 300)

    wide, square = text(read_file(files, "wide.txt")), text(read_file(files, "square.txt"))

    assert "[... 3000 characters ...]" in wide
    assert len(wide) < MAX_LINE + 100
    assert MAX_OUTPUT - 2_100 < len(square) < MAX_OUTPUT + 100
    shown = square.count("\n")
    assert square.startswith(f"square.txt, lines 1 to {shown} of 300\n")


@given(st.text(max_size=60), st.integers(2, 20))
def test_a_cut_text_keeps_its_ends_and_says_what_is_missing(content, limit):
    found = cut(content, limit)

    if len(content) <= limit:
        assert found == content
    else:
        head, missing, tail = re.fullmatch(
            r"(.*)\[\.\.\. (\d+) characters \.\.\.\](.*)", found, re.DOTALL
        ).groups()
        assert content.startswith(head)
        assert content.endswith(tail)
        assert len(head) + int(missing) + len(tail) == len(content)


# --- Searching


@given(
    st.lists(st.text("abAB.*", max_size=5), max_size=6),
    st.text("abAB.*", min_size=1, max_size=3),
    st.booleans(),
)
def test_a_literal_search_finds_the_lines_that_hold_it(repository, lines, query, ignore_case):
    files = Workspace(repository)
    create_file(files, "new/lines.txt", "\n".join(lines))

    found = text(search(files, query, ignore_case=ignore_case, path="new"))

    fold = str.lower if ignore_case else str
    hits = [f"new/lines.txt:{n}: {line}" for n, line in enumerate(lines, 1) if fold(query) in fold(line)]
    assert found == ("\n".join(hits) or "No line holds that.")


def test_a_search_is_held_to_a_path(files):
    assert text(search(files, "start")) == "src/app.py:1: def start():\nsrc/deep/util.py:1: HELP = 'start'"
    assert text(search(files, "start", path="src/app.py")) == "src/app.py:1: def start():"
    assert text(search(files, "start", path="src/deep/")) == "src/deep/util.py:1: HELP = 'start'"
    assert text(search(files, "start", path="*util*")) == "src/deep/util.py:1: HELP = 'start'"
    assert text(search(files, r"^def st\w+\(", regex=True)) == (
        "src/app.py:1: def start():\nsrc/app.py:5: def stop():"
    )
    assert text(search(files, "def st.", regex=False)) == "No line holds that."


def test_many_hits_and_wide_ones_are_cut(files):
    lines = text(search(files, "0", path="long.txt")).splitlines()
    assert (len(lines), lines[-1]) == (MOST_HITS + 1, "... and more: give a path, or a longer query")
    assert "[... 4700 characters ...]" in text(search(files, "xxx", path="wide.txt"))


def test_what_is_searched_is_bounded_by_size(files, monkeypatch):
    monkeypatch.setattr(reading, "MAX_SEARCHED", 100)

    assert search(files, "no such text anywhere").code == "too_much_to_search"
    assert text(search(files, "one", path="README.md")) == "README.md:1: one"


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|a)*b", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_patterns_that_make_others_backtrack_are_answered(files, pattern):
    create_file(files, "evil.txt", "a" * 50_000 + "\n" + "x" * 50_000 + "\n")

    assert text(search(files, pattern, regex=True, path="evil.txt")) == "No line holds that."


# --- Changing


@example("aaa", "aa", "b")
@given(st.text("ab\n ", max_size=12), st.text("ab\n ", min_size=1, max_size=3), st.text("ab\n", max_size=3))
def test_an_edit_replaces_what_stands_at_one_place(repository, content, old, new):
    files = Workspace(repository)
    create_file(files, "new.txt", content)

    found = edit(files, "new.txt", old, new)

    places = [place for place in range(len(content)) if content.startswith(old, place)]
    assert list(occurrences(content, old)) == places
    now = files.read("new.txt").decode()
    if len(places) == 1 and old != new:
        assert text(found).startswith("Edited new.txt.")
        assert now == content.replace(old, new)
    else:
        assert found.code == {0: "text_not_found"}.get(len(places), "text_not_unique") or old == new
        assert now == content


def test_an_edit_shows_its_lines(files):
    found = edit(files, "src/app.py", "():\n    return 1\n\n", "():\n    return 2\n\n")

    assert text(found).splitlines() == [
        "Edited src/app.py.",
        *("     1\tdef start():", "     2\t    return 2", "     3\t", "     4\t", "     5\tdef stop():"),
        "     6\t    return 1",
    ]


def test_refusals_of_an_edit_help(files):
    assert edit(files, "src/app.py", "return 1", "x").message == (
        "src/app.py holds the old text 2 times, at the lines 2, 6: add lines around it."
    )
    assert edit(files, "long.txt", "1", "x").message == (
        "long.txt holds the old text more than 10 times, "
        "at the lines 1, 10, 11, 11, 12, 13, 14, 15, 16, 17: add lines around it."
    )
    spaced = edit(files, "src/app.py", "  def stop():\n  return 1", "x").message
    assert "at line 5 it stands with other spaces" in spaced
    assert read_file(files, "app.py").message == "There is no file app.py. Files of that name: src/app.py."


def test_files_come_and_go(files):
    assert text(create_file(files, "new/a.py", "x = 1\n")) == "Created new/a.py, 1 lines."
    assert "+x = 1\n" in text(diff(files))
    assert text(delete_file(files, "new/a.py")) == "Deleted new/a.py."
    assert text(diff(files)) == "Nothing was changed."
    delete_file(files, "README.md")
    assert create_file(files, "README.md/inside.txt", "now a folder").text.startswith("Created")


def test_a_long_diff_is_cut_and_one_of_other_bytes_is_text(files):
    delete_file(files, "latin.txt")
    assert "GIT binary patch" in text(diff(files))
    create_file(files, "much.txt", "line\n" * 20_000)
    assert len(text(diff(files))) < MAX_OUTPUT + 100
    assert "characters ...]" in text(diff(files))


# --- Solvers

TEXTS = st.text("ab\n", max_size=12)
TREES = st.dictionaries(st.sampled_from(["a", "b/c", "b/d", "e"]), TEXTS | st.none(), max_size=4)


@given(TREES, TREES)
def test_a_solver_reaches_what_is_wanted_from_any_state(repository, toolkit, now, wanted):
    files = Workspace(repository)
    for path, content in now.items():
        if content is not None:
            create_file(files, path, content)
    wanted = {path: None if content is None else content.encode() for path, content in wanted.items()}
    solve = solver(lambda _: wanted)
    episode = SimpleNamespace(database=files)

    for _ in range(60):
        call = solve(episode)
        if call["name"] == "submit":
            break
        assert toolkit.call(files, ToolCall(call["name"], call["arguments"])).code is None

    assert call["name"] == "submit"
    assert {path: files.read(path) for path in wanted} == wanted


@given(st.text("ab\n\r\u2028", max_size=20), st.text("ab\n\r\u2028", max_size=20))
def test_an_edit_that_is_found_stands_at_one_place_and_there_are_finitely_many(now, wanted):
    for _ in range(40):
        found = next_edit(now, wanted)
        if found is None:
            break
        old, new = found
        assert len(list(occurrences(now, old))) == 1
        now = now.replace(old, new)

    assert now == wanted or now == ""


def test_re2_takes_its_options_from_us():
    """The library takes options as an object whose attributes a typo would add silently."""
    options = re2.Options()
    assert {"literal", "case_sensitive", "log_errors"} <= set(dir(options))
