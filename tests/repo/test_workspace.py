"""A workspace behaves as a dictionary of files, and its diff leads git to the same tree."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_repositories import commit_tree, files_below, make_repository, run_git, write_files

from tool_envs.repo.paths import PathError
from tool_envs.repo.repositories import EXECUTABLE, LINK, PLAIN, open_repository
from tool_envs.repo.workspace import Workspace

BASE = {
    "README.md": b"one\ntwo\nthree\n",
    "no_end": b"one\ntwo",
    "empty": b"",
    "src/code.py": b"".join(b"x = %d\n" % n for n in range(60)),
    "src/data.bin": bytes(range(256)) * 3,
    "src/old.txt": "Müller\nälter\n".encode("latin-1"),
    "docs/ü b.txt": "äöü\r\n\x0c\u2028x\n".encode(),
    'docs/[x]*?!#"\\ y': b"odd\n",
    ".gitattributes": b"*.py -diff\n*.md diff=python\n",
}
MODES = dict.fromkeys(BASE, PLAIN)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """The repository of `BASE`, in a cache of its own, with an executable file and a link."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        folder = tmp_path_factory.mktemp("made") / "source"
        make_repository(folder, BASE)
        (folder / "run.sh").write_bytes(b"#!/bin/sh\n")
        (folder / "run.sh").chmod(0o755)
        (folder / "link").symlink_to("src/code.py")
        run_git(folder, "add", "--all")
        run_git(folder, "commit", "--quiet", "--message", "Base")
        yield open_repository(folder, run_git(folder, "rev-parse", "HEAD"))


@pytest.fixture
def workspace(repository):
    return Workspace(repository)


def tree(workspace):
    """The workspace as a dictionary: path -> (mode, content)."""
    return {path: (workspace.file(path).mode, workspace.read(path)) for path in workspace.paths()}


NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=6
).filter(lambda name: name not in (".", "..") and name.lower() not in (".git", "git~1"))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
KNOWN = st.sampled_from([*BASE, "run.sh", "link", "README.md/x", "docs", "link/x"])
LINES = st.lists(st.sampled_from(["x = 1", "one", "ä", "", "\r", "-- ", "\x0c"]), max_size=5).map("\n".join)
CONTENTS = st.one_of(st.binary(max_size=40), LINES.map(str.encode), st.sampled_from(list(BASE.values())))
LINK_TARGETS = st.sampled_from([b"README.md", b"../..", b"/etc/passwd", b"nowhere"])


@st.composite
def edits(draw):
    """(path, content or None for a deletion, mode or None), to be done in order."""
    path = draw(PATHS | KNOWN)
    if draw(st.integers(0, 3)) == 0:
        return path, None, None
    mode = draw(st.sampled_from([None, PLAIN, EXECUTABLE, LINK]))
    return path, draw(LINK_TARGETS | CONTENTS if mode == LINK else CONTENTS), mode


def fits(files, path):
    """Whether a new file can be at a path, beside these."""
    parents = {path[:end] for end, letter in enumerate(path) if letter == "/"}
    return not parents & files.keys() and not any(other.startswith(path + "/") for other in files)


def is_target(content):
    """Whether a link can lead there."""
    return (
        content not in (b"",) and b"\0" not in content and content.decode(errors="ignore").encode() == content
    )


def edit(workspace, files, path, content, mode):
    """Do one edit on the workspace and on a plain dictionary, which must agree on whether it can be done."""
    if content is None:
        possible = path in files
        change = lambda: workspace.delete(path)  # noqa: E731
    else:
        goes = mode or files.get(path, (PLAIN,))[0]
        possible = (path in files or fits(files, path)) and (goes != LINK or is_target(content))
        change = lambda: workspace.write(path, content, mode)  # noqa: E731
    if not possible:
        with pytest.raises(PathError):
            change()
        return
    change()
    if content is None:
        del files[path]
    else:
        files[path] = (mode or files.get(path, (PLAIN,))[0], content)


@given(st.lists(edits(), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
def test_edits_are_those_of_a_dictionary(repository, changes):
    workspace = Workspace(repository)
    files = tree(workspace)

    for path, content, mode in changes:
        edit(workspace, files, path, content, mode)

    assert tree(workspace) == files


@given(st.lists(edits(), max_size=8))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=40,
)
def test_git_apply_takes_the_diff_to_the_same_tree(repository, tmp_path_factory, changes):
    workspace = Workspace(repository)
    files = tree(workspace)
    for path, content, mode in changes:
        edit(workspace, files, path, content, mode)
    folder = tmp_path_factory.mktemp("applied")
    Workspace(repository).materialize(folder)

    run_git(folder, "update-index", "-q", "--refresh")

    diff = workspace.diff()
    if diff:
        run_git(folder, "apply", "--index", "--whitespace=nowarn", stdin=diff.encode())

    assert (diff == "") == (files == tree(Workspace(repository)))
    assert files_below(folder) == files


@given(st.lists(edits(), max_size=6), st.lists(edits(), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
def test_snapshots_and_digests(repository, first, second):
    workspace = Workspace(repository)
    files = tree(workspace)
    for one in first:
        edit(workspace, files, *one)
    before, snapshot, digest = tree(workspace), workspace.snapshot(), workspace.digest()
    for one in second:
        edit(workspace, files, *one)

    assert (workspace.digest() == digest) == (tree(workspace) == before)
    other = Workspace(repository)
    other.restore(snapshot)
    assert tree(other) == before
    assert other.digest() == digest


def test_equal_files_have_equal_digests_whichever_way_they_were_reached(workspace, repository):
    workspace.write("new", b"1")
    workspace.write("README.md", b"2", EXECUTABLE)
    workspace.delete("new")
    workspace.write("README.md", BASE["README.md"], PLAIN)
    workspace.delete("link")
    workspace.write("link", b"src/code.py", LINK)

    assert workspace.digest() == Workspace(repository).digest()
    assert workspace.diff() == ""


def test_the_diff_is_git_s_own(workspace, repository, tmp_path):
    changed = {"README.md": b"one\n2\nthree\n", "no_end": b"one\ntwo\n", "new/ä.txt": b"new", "empty": None}
    for path, content in changed.items():
        workspace.delete(path) if content is None else workspace.write(path, content)
    Workspace(repository).materialize(tmp_path / "folder")
    write_files(tmp_path / "folder", changed)
    run_git(tmp_path / "folder", "add", "--all")
    form = ("-c", "core.quotePath=false", "diff", "--cached", "--full-index", "--no-renames")

    assert workspace.diff() == run_git(tmp_path / "folder", *form) + "\n"


def test_a_file_in_place_of_a_folder_and_the_other_way_round(workspace, repository, tmp_path):
    workspace.delete("README.md")
    workspace.write("README.md/x", b"1")
    for path in [path for path in workspace.paths() if path.startswith("src/")]:
        workspace.delete(path)
    workspace.write("src", b"2")
    Workspace(repository).materialize(tmp_path / "folder")
    run_git(tmp_path / "folder", "apply", stdin=workspace.diff().encode())

    assert files_below(tmp_path / "folder") == tree(workspace)


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../x", "a/../../x", "./a", "a//b", "a/", ".git/config", ".GIT/x", "a/.git"),
        *("\udc80", "a\0b", "a" * 256, "/".join(["a" * 200] * 20)),
    ],
)
def test_paths_that_no_file_can_have(workspace, path):
    with pytest.raises(PathError, match="The path"):
        workspace.write(path, b"")
    assert workspace.changed == {}


@pytest.mark.parametrize("path", ["README.md/x", "src/code.py/a/b", "src", "docs"])
def test_paths_that_are_taken(workspace, path):
    with pytest.raises(PathError):
        workspace.write(path, b"")


def test_a_link_is_not_followed(workspace, tmp_path):
    workspace.write("out", os.fsencode(tmp_path), LINK)
    with pytest.raises(PathError, match="leads through 'out', which is a file"):
        workspace.write("out/x", b"")

    workspace.materialize(tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]
    assert workspace.read("out") == os.fsencode(tmp_path)


def test_a_submodule_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make_repository(tmp_path / "source", {"a": b""})
    commit = commit_tree(tmp_path / "source", (b"160000", b"vendored", "ab" * 20))
    workspace = Workspace(open_repository(tmp_path / "source", commit))

    for path in ("vendored", "vendored/x"):
        with pytest.raises(PathError, match="submodule"):
            workspace.write(path, b"")


def test_only_an_empty_folder_is_filled(workspace, tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(FileExistsError, match="expected an empty folder"):
        workspace.materialize(tmp_path)


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_rights_of_files_do_not_depend_on_the_process(workspace, tmp_path, umask):
    before = os.umask(umask)
    try:
        workspace.materialize(tmp_path / "folder")
    finally:
        os.umask(before)

    rights = {
        name: (tmp_path / "folder" / name).stat().st_mode & 0o777 for name in ("README.md", "run.sh", "src")
    }
    assert rights == {"README.md": 0o644, "run.sh": 0o755, "src": 0o755}


@pytest.mark.parametrize("target", [b"", b"a\0b", b"\x80", b"a" * 4096])
def test_a_link_leads_to_what_linux_and_a_patch_can_say(repository, target):
    workspace = Workspace(repository)

    for mode in (LINK, None):
        with pytest.raises(PathError, match="is a link, which leads to"):
            workspace.write("link", target, mode)
    assert workspace.changes() == {}
