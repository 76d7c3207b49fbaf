"""A cached repository holds what its commit reaches, from whatever source, and nothing newer."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from made_repositories import (
    add_commit,
    all_objects,
    commit_tree,
    files_below,
    make_repository,
    reached_objects,
    run_git,
)

from tool_envs.repo.repositories import EXECUTABLE, LINK, PLAIN, open_repository
from tool_envs.repo.repository_cache import RepositoryError
from tool_envs.repo.workspace import Workspace

FIRST = {"README.md": b"one\n", "src/code.py": b"x = 1\n", "empty": b""}
BASE = {"src/code.py": b"x = 2\n"}
NEWER = {"src/code.py": b"x = 3\n", "tests/test_fix.py": b"def test_fix(): pass\n"}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def source(tmp_path):
    """A repository whose history goes on after the base: (folder, base commit)."""
    folder = tmp_path / "source"
    _, base, newer = make_repository(folder, FIRST, BASE, NEWER)
    run_git(folder, "tag", "--annotate", "--message", "The fix is in it", "v2", newer)
    run_git(folder, "branch", "fix", newer)
    run_git(folder, "notes", "add", "--message", "see the fix", base)
    run_git(folder, "config", "remote.origin.url", "https://example.org/upstream")
    run_git(folder, "update-ref", "ORIG_HEAD", newer)
    (folder / ".git" / "FETCH_HEAD").write_text(f"{newer}\t\tbranch 'main' of upstream\n")
    (folder / "src" / "code.py").write_bytes(b"x = 4\n")
    run_git(folder, "stash")
    add_commit(folder, {"src/code.py": b"x = 5\n"})
    run_git(folder, "reset", "--quiet", "--hard", newer)  # leaves a commit that only the reflog reaches
    return folder, base


def as_checkout(folder, _):
    return folder


def as_packed(folder, _):
    run_git(folder, "gc", "--quiet")
    return folder


def as_bare(folder, target):
    run_git(folder, "clone", "--quiet", "--bare", "--mirror", str(folder), str(target))
    return target


def as_worktree(folder, target):
    run_git(folder, "worktree", "add", "--quiet", "--detach", str(target))
    return target


def as_borrowing(folder, target):
    run_git(folder, "clone", "--quiet", "--shared", str(folder), str(target))
    return target


def as_bundle(folder, target):
    run_git(folder, "bundle", "create", "--quiet", str(target), "--all")
    return target


def as_stream(folder, target):
    target.write_bytes(run_git(folder, "fast-export", "--all").encode() + b"\n")
    return target


SOURCES = [as_checkout, as_packed, as_bare, as_worktree, as_borrowing, as_bundle, as_stream]


@pytest.fixture(params=SOURCES, ids=lambda make: make.__name__)
def checkout(request, source, tmp_path):
    """A workspace's folder, from each kind of source: (folder, source folder, base commit)."""
    folder, base = source
    repository = open_repository(request.param(folder, tmp_path / "other"), base)
    made = tmp_path / "workspace"
    Workspace(repository).materialize(made)
    return made, folder, base


def test_holds_what_the_commit_reaches_and_nothing_else(checkout):
    made, folder, base = checkout

    assert all_objects(made) == reached_objects(folder, base)
    assert files_below(made) == {
        "README.md": (PLAIN, b"one\n"),
        "empty": (PLAIN, b""),
        "src/code.py": (PLAIN, b"x = 2\n"),
    }


def test_git_finds_nothing_newer(checkout):
    made, _, base = checkout

    assert run_git(made, "rev-parse", "HEAD") == base
    assert run_git(made, "log", "--all", "--format=%H").split()[0] == base
    assert run_git(made, "fsck", "--full", "--lost-found") == ""
    for command in ("tag", "for-each-ref", "remote"):
        assert run_git(made, command) == ""
    assert run_git(made, "reflog", "--all") == ""
    assert run_git(made, "stash", "list") == ""
    assert run_git(made, "status", "--short") == ""
    assert "example.org/upstream" not in (made / ".git" / "config").read_text()


def test_git_folder_has_no_file_that_could_tell_more(checkout):
    made, _, _ = checkout
    found = {str(file.relative_to(made / ".git")) for file in (made / ".git").rglob("*") if file.is_file()}

    packs = {name for name in found if name.startswith("objects/pack/pack-")}
    assert found - packs == {"HEAD", "config", "index"}
    assert len({name.rpartition(".")[0] for name in packs}) == 1


def test_nothing_newer_can_be_read(checkout):
    made, folder, base = checkout
    newer = all_objects(folder) - reached_objects(folder, base)

    told = run_git(made, "cat-file", "--batch-check", stdin="\n".join(sorted(newer)).encode())
    assert len(newer) >= 8
    assert {line.split()[1] for line in told.splitlines()} == {"missing"}


def test_objects_are_hard_links(checkout, tmp_path):
    made, _, base = checkout
    cached = tmp_path / "cache" / "tool-envs" / "repositories" / "1" / base / "git" / "objects" / "pack"

    assert {(file.name, file.stat().st_ino) for file in cached.iterdir()} == {
        (file.name, file.stat().st_ino) for file in (made / ".git" / "objects" / "pack").iterdir()
    }


def test_objects_are_copied_where_no_link_can_be(source, tmp_path, monkeypatch):
    folder, base = source
    repository = open_repository(folder, base)

    def refuse(*_, **__):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    Workspace(repository).materialize(tmp_path / "workspace")

    assert all_objects(tmp_path / "workspace") == reached_objects(folder, base)


def test_the_source_is_not_needed_again(source):
    folder, base = source
    open_repository(folder, base)
    shutil.rmtree(folder)

    assert (
        open_repository(folder, base).content(open_repository(folder, base).files["README.md"].blob)
        == b"one\n"
    )


def test_many_processes_make_one_repository(source, tmp_path):
    folder, base = source
    code = (
        "import sys; from pathlib import Path; from tool_envs.repo.repositories import open_repository\n"
        "print(sorted(open_repository(Path(sys.argv[1]), sys.argv[2]).files))"
    )
    command = [sys.executable, "-c", code, str(folder), base]
    with ThreadPoolExecutor(6) as pool:
        told = set(pool.map(lambda _: subprocess.check_output(command), range(6)))

    assert told == {b"['README.md', 'empty', 'src/code.py']\n"}
    assert os.listdir(tmp_path / "cache" / "tool-envs" / "repositories" / "1") == [base]


def test_a_commit_that_is_not_there(source):
    folder, _ = source

    with pytest.raises(RepositoryError, match="expected a repository with all of 12341234"):
        open_repository(folder, "1234" * 10)


@pytest.mark.parametrize(
    "content", [b"", b"garbage\n", b"# v2 git bundle\ngarbage", b"commit refs/heads/x\n"]
)
def test_a_file_that_is_no_repository(tmp_path, content):
    (tmp_path / "file").write_bytes(content)

    with pytest.raises(RepositoryError, match="expected a repository"):
        open_repository(tmp_path / "file", "1234" * 10)


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(RepositoryError, match="No such file"):
        open_repository(tmp_path / "nowhere", "1234" * 10)


def test_a_source_without_the_older_history(source, tmp_path):
    folder, _ = source
    run_git(folder, "clone", "--quiet", "--depth=1", f"file://{folder}", str(tmp_path / "shallow"))

    with pytest.raises(RepositoryError, match="expected a repository with all of"):
        open_repository(tmp_path / "shallow", run_git(tmp_path / "shallow", "rev-parse", "HEAD"))


def test_a_source_runs_nothing(source, tmp_path):
    folder, base = source
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        shutil.copy(script, folder / ".git" / "hooks" / hook)
    for setting in (
        "core.fsmonitor",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.external",
        "core.pager",
    ):
        run_git(folder, "config", setting, str(script))
    run_git(folder, "config", "remote.origin.promisor", "true")
    run_git(folder, "config", "remote.origin.uploadpack", str(script))
    run_git(folder, "config", "remote.origin.url", str(folder))
    (folder / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")

    workspace = Workspace(open_repository(folder, base))
    workspace.write("README.md", b"two\n")
    workspace.diff()
    workspace.materialize(tmp_path / "workspace")
    with pytest.raises(RepositoryError):  # it would fetch what it lacks
        open_repository(folder, "1234" * 10)

    assert not ran.exists()


def test_filters_of_the_repository_change_nothing(tmp_path):
    files = {".gitattributes": b"* text eol=crlf ident\n*.txt filter=lfs\n", "a.txt": b"$Id$\none\n"}
    folder = tmp_path / "source"
    (base,) = make_repository(folder, files)
    Workspace(open_repository(folder, base)).materialize(tmp_path / "workspace")

    assert (tmp_path / "workspace" / "a.txt").read_bytes() == b"$Id$\none\n"


SUBTREE = "subtree"


@pytest.mark.parametrize(
    "entries",
    [
        [(b"100644", b"../escape", b"x")],
        [(b"100644", b"..", b"x")],
        [(b"100644", b"/etc/passwd", b"x")],
        [(b"100644", b".git", b"x")],
        [(b"100644", b".GIT", b"x")],
        [(b"100644", b".git/config", b"x")],
        [(b"100644", b"a//b", b"x")],
        [(b"100644", b"./a", b"x")],
        [(b"100644", b"a" * 256, b"x")],
        [(b"120000", b"a", b"/tmp"), (b"100644", b"a/b", b"x")],
        [(b"100644", b"a/b", b"x"), (b"120000", b"a", b"/tmp")],
        [(b"100644", b"a", b"x"), (b"100644", b"a", b"y")],
        [(b"40000", b"..", SUBTREE)],
        [(b"40000", b".git", SUBTREE)],
        [(b"120000", b"a", b"/tmp"), (b"40000", b"a", SUBTREE)],
    ],
    ids=repr,
)
def test_trees_that_no_checkout_shows(tmp_path, entries):
    folder = tmp_path / "source"
    make_repository(folder, FIRST)
    subtree = run_git(folder, "rev-parse", "HEAD:src")
    commit = commit_tree(folder, *((m, n, subtree if c is SUBTREE else c) for m, n, c in entries))

    with pytest.raises(RepositoryError, match="expected"):
        Workspace(open_repository(folder, commit)).materialize(tmp_path / "workspace")
    assert not (tmp_path / "escape").exists()


def test_modes_links_and_names_of_all_kinds(tmp_path):
    folder = tmp_path / "source"
    make_repository(folder, FIRST)
    commit = commit_tree(
        folder,
        (b"100644", b"line\nbreak", b"1"),
        (b"100755", b"run", b"2"),
        (b"120000", b"out", b"/etc/passwd"),
        (b"120000", b"up", b"../../.."),
        (b"100664", b"\xc3\xbc.txt", b"3"),
        (b"100644", b"latin-\xfc", b"4"),
        (b"100644", b"latin-\xfd", b"4"),
        (b"160000", b"vendored", "ab" * 20),
    )
    repository = open_repository(folder, commit)
    Workspace(repository).materialize(tmp_path / "workspace")
    made = files_below(tmp_path / "workspace")

    assert {path: file.mode for path, file in repository.files.items()} == {
        "line\nbreak": PLAIN,
        "run": EXECUTABLE,
        "out": LINK,
        "up": LINK,
        "ü.txt": PLAIN,
    }
    assert [(hidden.path, hidden.blob is None) for hidden in repository.hidden] == [
        (b"latin-\xfc", False),
        (b"latin-\xfd", False),
        (b"vendored", True),
    ]
    assert made["out"] == (LINK, b"/etc/passwd")
    assert made["run"] == (EXECUTABLE, b"2")
    assert made["latin-\udcfc"] == (PLAIN, b"4")
    assert list((tmp_path / "workspace" / "vendored").iterdir()) == []


def test_a_damaged_cache_is_noticed(source, tmp_path):
    folder, base = source
    contents = tmp_path / "cache" / "tool-envs" / "repositories" / "1" / base / "contents"
    repository = open_repository(folder, base)
    contents.write_bytes(contents.read_bytes().replace(b"one\n", b"two\n"))

    with pytest.raises(RepositoryError, match="delete this folder"):
        repository.content(repository.files["README.md"].blob)


def test_repositories_with_sha256(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    run_git(folder, "init", "--quiet", "--object-format=sha256")
    base = add_commit(folder, FIRST)
    workspace = Workspace(open_repository(folder, base))
    workspace.write("README.md", b"two\n")
    workspace.delete("empty")
    workspace.materialize(tmp_path / "workspace")

    assert len(base) == 64
    assert all_objects(tmp_path / "workspace") == reached_objects(folder, base)
    assert workspace.diff() == run_git(tmp_path / "workspace", "diff", "--full-index") + "\n"
