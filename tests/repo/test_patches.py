"""Patches: what git makes of two trees is read and applied as git does; hostile ones change nothing."""

import os
import subprocess
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_envs.repo.patches import FileChange, PatchError, apply_patch, read_changes, touched_paths

NAMES = ["a.py", "a b.py", "c/d.py", "c/ä.py", 'q"u\\o.txt', "tab\there", "line\nbreak", "-- x", "e mpty"]
lines = st.sampled_from(
    ["x = 1", "", "-- a/a.py", "++ b/a.py", "@@ -1 +1 @@", "diff --git a/z b/z", "ü\r", "é"]
)
contents = st.one_of(
    st.lists(lines, max_size=12).map("\n".join),
    st.lists(lines, min_size=1, max_size=30).map(lambda each: "\n".join(each) + "\n"),
).map(str.encode) | st.binary(max_size=40)
trees = st.dictionaries(st.sampled_from(NAMES), st.tuples(contents, st.booleans()), max_size=4)


def run(*command, cwd, **more):
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True, **more).stdout


def git_diff(folder, old, new, *options):
    """What git says of two trees (path -> content, whether executable), and the paths that differ."""
    run("git", "init", "--quiet", cwd=folder)
    ids = []
    for tree in (old, new):
        run("git", "rm", "-r", "-f", "-q", "--ignore-unmatch", ".", cwd=folder)
        for path, (content, is_executable) in tree.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
            (folder / path).chmod(0o755 if is_executable else 0o644)
        run("git", "-c", "core.autocrlf=false", "add", "--all", cwd=folder)
        ids.append(run("git", "write-tree", cwd=folder).decode().strip())
    names = run("git", "diff", "--no-renames", "--name-only", "-z", *ids, cwd=folder).split(b"\0")[:-1]
    patch = run("git", "diff", "--binary", *options, *ids, cwd=folder)
    return patch.decode(errors="surrogateescape"), [name.decode() for name in names]


@settings(max_examples=25)
@given(old=trees, new=trees, options=st.sampled_from([(), ("-M", "-C"), ("--no-renames",), ("-U0",)]))
def test_what_git_writes_is_applied(old, new, options, tmp_path_factory):
    patch, differ = git_diff(tmp_path_factory.mktemp("git"), old, new, *options)
    if "-U0" in options:  # git itself applies no patch without context, unless it is told to
        assert set(touched_paths(patch)) == set(differ)
        return

    after = apply_patch({path: content for path, (content, _) in old.items()}, patch)

    assert set(differ) <= set(after) == set(touched_paths(patch))
    assert after == {path: new[path][0] if path in new else None for path in after}
    for change in read_changes(patch):
        if change.new:
            before = old[change.old][1] if change.old else False
            mode = change.mode or (0o100755 if before else 0o100644)
            assert mode == (0o100755 if new[change.new][1] else 0o100644)


OLD = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
EDIT = """\
--- a/n.txt
+++ b/n.txt
@@ -3,7 +3,7 @@
 three
 four
 five
-six
+SIX
 seven
 eight
 nine
"""
NEW = OLD.replace(b"six", b"SIX")


@pytest.mark.parametrize(
    ("old", "patch"),
    [
        (OLD, EDIT),
        (OLD, f"diff --git a/n.txt b/n.txt\nindex 1234567..89abcde 100644\n{EDIT}"),
        (OLD, f"From 0123 Mon Sep 17\nSubject: x\n\n---\n n.txt | 2 +-\n\n{EDIT}-- \n2.39.5\n"),
        (OLD, f"Subject: x\n\n--- this is no name\n\n{EDIT}"),
        (OLD, EDIT.replace("n.txt\n", "n.txt\t2024-01-01 00:00:00 +0000\n")),
        (b"zero\nand a half\n" + OLD, EDIT),  # lines moved
        (OLD, EDIT.replace("a/", "x/").replace("b/", "y/")),
    ],
)
@pytest.mark.parametrize("fuzzy", [False, True])
def test_forms_of_one_patch(old, patch, fuzzy):
    before = old.removesuffix(OLD)

    assert apply_patch({"n.txt": old, "other": b""}, patch, fuzzy=fuzzy) == {"n.txt": before + NEW}
    assert touched_paths(patch) == ["n.txt"]


@pytest.mark.parametrize(
    ("old", "patch"),
    [
        (OLD.replace(b"three", b"3"), EDIT),  # other context
        (OLD.replace(b"three", b"3").replace(b"nine", b"9"), EDIT),
        (OLD, EDIT.replace(" three", " three ")),
        (OLD, EDIT.removesuffix("\n")),  # cut
    ],
)
def test_what_only_gnu_patch_applies(old, patch):
    with pytest.raises(PatchError, match="does not apply"):
        apply_patch({"n.txt": old}, patch)

    assert apply_patch({"n.txt": old}, patch, fuzzy=True) == {"n.txt": old.replace(b"six", b"SIX")}


def test_gnu_patch_leaves_out_binary_files_without_content():
    patch = (
        f"diff --git a/x.png b/x.png\nindex 123..456 100644\nBinary files a/x.png and b/x.png differ\n{EDIT}"
    )
    with pytest.raises(PatchError, match="does not apply"):
        apply_patch({"n.txt": OLD, "x.png": b"x"}, patch)

    assert apply_patch({"n.txt": OLD, "x.png": b"x"}, patch, fuzzy=True) == {"n.txt": NEW, "x.png": b"x"}


@pytest.mark.parametrize(
    "patch",
    [
        "no patch at all\n",
        EDIT.replace("-six", "-sixty"),
        EDIT.replace("@@ -3,7", "@@ -3,9"),
        EDIT.replace("n.txt", "gone.txt"),
        EDIT + EDIT.replace("-six", "-6"),  # the second half does not fit, so nothing is changed
        "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+there is one\n",
        "*** /dev/null\n--- b/c.txt\n***************\n*** 0 ****\n--- 1 ----\n+ x\n",  # no unified diff
        "0a\nx\n.\n",  # a script of ed
    ],
)
@pytest.mark.parametrize("fuzzy", [False, True])
def test_what_does_not_fit_is_refused(patch, fuzzy):
    with pytest.raises(PatchError, match="does not apply"):
        apply_patch({"n.txt": OLD}, patch, fuzzy=fuzzy)


@pytest.mark.parametrize("patch", ["", "\n", " \n\n"])
def test_an_empty_patch_changes_nothing(patch):
    assert apply_patch({"n.txt": OLD}, patch) == {}


def new_file(path, mode="100644", content="x"):
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\nindex 0000000..587be6b\n"
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{content}\n"
    )


def test_changes_are_read():
    mode = "diff --git a/a b b/a b\nold mode 100644\nnew mode 100755\n"
    gone = "diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n"
    moved = "diff --git a/o b/p/q\nsimilarity index 100%\nrename from o\nrename to p/q\n"
    patch = mode + gone + moved + new_file("new.sh", "100755") + EDIT

    assert read_changes(patch) == [
        FileChange("a b", "a b", 0o100755),
        FileChange("e", None, None),
        FileChange("o", "p/q", None),
        FileChange(None, "new.sh", 0o100755),
        FileChange("n.txt", "n.txt", None),
    ]
    assert apply_patch({"a b": b"", "e": b"", "o": b"1", "n.txt": OLD}, patch) == {
        "a b": b"",
        "e": None,
        "n.txt": NEW,
        "new.sh": b"x\n",
        "o": None,
        "p/q": b"1",
    }


HOSTILE = [
    (new_file("../x"), "leads upwards"),
    (new_file("c/../../x"), "leads upwards"),
    (new_file("/etc/x"), "is absolute"),
    (EDIT.replace("a/n.txt", "/etc/passwd").replace("b/n.txt", "/etc/passwd"), "is absolute"),
    (new_file(".git/hooks/pre-commit"), "git's own files"),
    (new_file("c/.GIT/config"), "git's own files"),
    (new_file("link", "120000", "/etc/passwd"), "`new file mode 120000` is of no regular file"),
    (new_file("module", "160000"), "is of no regular file"),
    (new_file("tool", "104755"), "is of no regular file"),
    ("diff --git a/n.txt b/n.txt\nold mode 100644\nnew mode 120000\n", "is of no regular file"),
    (f"diff --git a/n.txt b/n.txt\nindex 123..456 120000\n{EDIT}", "is of no regular file"),
    ("diff --git a/n.txt b/x\nrename from n.txt\nrename to ../x\n", "leads upwards"),
    ("diff --git a/n.txt b/x\ncopy from ../../etc/passwd\ncopy to x\n", "leads upwards"),
    ('--- /dev/null\n+++ "b/\\056\\056/x"\n@@ -0,0 +1 @@\n+x\n', "leads upwards"),
    (EDIT.replace("a/n.txt", "n.txt").replace("b/n.txt", "n.txt"), "expected a path below"),
    ("diff --git a/n.txt b/x\nold mode 100644\nnew mode 100755\n", "nothing else names its file"),
    (EDIT.replace("six", "\ud800"), "not valid Unicode"),
    (EDIT.replace("a/n.txt", '"a/\\377"'), "is no valid Unicode"),
]


@pytest.mark.parametrize(("patch", "problem"), HOSTILE)
@pytest.mark.parametrize("fuzzy", [False, True])
def test_hostile_patches_are_refused(patch, problem, fuzzy):
    for whole in (patch, EDIT + patch):
        with pytest.raises(PatchError, match=problem):
            touched_paths(whole)
        with pytest.raises(PatchError, match=problem):
            apply_patch({"n.txt": OLD}, whole, fuzzy=fuzzy)


INDENTED = [
    (new_file("../x"), "does not apply"),
    (new_file("link", "120000", "../x"), "makes a symbolic link"),
    (new_file("link", "120000", "..") + new_file("link/x"), "does not apply"),
    (new_file("c/x"), "in a way that cannot be read"),
]


@pytest.mark.parametrize(("patch", "problem"), INDENTED)
def test_what_only_gnu_patch_reads_is_refused(patch, problem, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    hidden = "".join(f"  {line}\n" for line in patch.splitlines())

    assert touched_paths(hidden) == []
    with pytest.raises(PatchError, match=problem):
        apply_patch({"n.txt": OLD}, hidden, fuzzy=True)
    assert list(tmp_path.iterdir()) == []


def test_attributes_change_no_content():
    attributes = b"* text eol=crlf\n"
    patch = f"--- a/.gitattributes\n+++ b/.gitattributes\n@@ -1 +1,2 @@\n {attributes.decode()}+# x\n{EDIT}"

    after = apply_patch({".gitattributes": attributes, "n.txt": OLD}, patch)

    assert after == {".gitattributes": attributes + b"# x\n", "n.txt": NEW}


@given(
    st.lists(st.sampled_from([*"ab\n", *EDIT.splitlines(keepends=True), *(patch for patch, _ in HOSTILE)]))
)
def test_any_text_is_read_or_refused(parts):
    try:
        paths = touched_paths("".join(parts))
    except PatchError:
        return
    assert all(path and not path.startswith("/") and ".." not in path.split("/") for path in paths)
