"""A workspace's folder in a sandbox: git works in it, and the cached repository stays as it is."""

import hashlib

import pytest
from made_repositories import all_objects, make_repository, reached_objects
from sandboxes import LIMITS, sandbox_or_skip

from tool_envs.repo.repositories import open_repository
from tool_envs.repo.workspace import Workspace


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A repository that goes on after its base: (folder, base commit)."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "source"
    base, _ = make_repository(folder, {"code.py": b"x = 1\n"}, {"code.py": b"x = 2\n"})
    return folder, base


@pytest.fixture
def run(source, tmp_path):
    """Runs a shell command in a sandbox, in a new folder of a workspace."""
    workspace = Workspace(open_repository(*source))
    workspace.write("code.py", b"x = 3\n")
    sandbox = sandbox_or_skip("bubblewrap")
    numbers = iter(range(10))

    def run(command):
        folder = tmp_path / f"workspace{next(numbers)}"
        workspace.materialize(folder)
        return sandbox.run(["sh", "-c", command], folder, limits=LIMITS)

    return run


def digests(folder):
    return {
        str(file.relative_to(folder)): (file.stat().st_mode, hashlib.sha256(file.read_bytes()).hexdigest())
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_git_works_inside(run):
    identity = "-c user.name=A -c user.email=a@example.org"
    done = run(f"git status --short && git {identity} commit --quiet --all -m Change && git log --format=%s")

    assert done.output == " M code.py\nChange\nChange what is given\n"


def test_objects_inside_are_those_that_the_commit_reaches(run, source):
    folder, base = source
    listed = run("git cat-file --batch-all-objects --batch-check='%(objectname)'; git fsck --lost-found")

    assert set(listed.output.split()) == reached_objects(folder, base)
    assert len(all_objects(folder)) > len(reached_objects(folder, base))


def test_the_cache_is_not_to_be_damaged_from_inside(run, tmp_path):
    run("true")
    before = digests(tmp_path / "cache")

    done = run(
        "cd .git/objects/pack; chmod -R u+w .;"
        "for file in *; do echo x >> $file; truncate -s 0 $file; rm -f $file; mv $file x; done 2>/dev/null;"
        "cd /workspace; git gc --prune=now --quiet; rm -rf .git; echo $?"
    )

    assert done.output.splitlines()[-1] == "1"
    assert digests(tmp_path / "cache") == before


def test_a_new_folder_is_not_what_an_earlier_run_left(run):
    run("echo 'x = 9' > code.py; touch new; rm -rf .git/HEAD")

    assert run("cat code.py; ls; git status --short").output == "x = 3\ncode.py\n M code.py\n"
