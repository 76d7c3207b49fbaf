"""Git repositories for tests, made from what is written here."""

import os
import subprocess

ENVIRONMENT = {
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_AUTHOR_NAME": "Author",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "Author",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
    "PATH": os.environ["PATH"],
}


def run_git(folder, *arguments, stdin=b"", check=True):
    """What git prints in `folder`, as text without the ends of the last lines."""
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, env=ENVIRONMENT, input=stdin, capture_output=True, check=check)
    return done.stdout.decode(errors="surrogateescape").rstrip("\n")


def write_files(folder, files):
    """Give a folder these files; the content None takes one away."""
    for path, content in files.items():
        place = folder / path
        if content is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def make_repository(folder, *commits):
    """A repository with one commit after the other; returns their ids."""
    folder.mkdir(parents=True)
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    return [add_commit(folder, files) for files in commits]


def add_commit(folder, files):
    """One more commit, in which these files are as given; returns its id."""
    write_files(folder, files)
    run_git(folder, "add", "--all", "--force")
    run_git(folder, "commit", "--quiet", "--allow-empty", "--message", "Change what is given")
    return run_git(folder, "rev-parse", "HEAD")


def commit_tree(folder, *entries):
    """A commit of a tree that git itself would not make; returns its id.

    Args:
        folder: A repository.
        entries: The tree's entries, each (mode, name, id or content).
    """
    raw = b""
    for mode, name, content in entries:
        if isinstance(content, bytes):
            content = run_git(folder, "hash-object", "-w", "--stdin", stdin=content)
        raw += b"%s %s\0" % (mode, name) + bytes.fromhex(content)
    tree = run_git(folder, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)
    return run_git(folder, "commit-tree", tree, "-m", "Hold what no checkout shows")


def all_objects(folder):
    """The ids of all objects that are in a repository, reachable or not."""
    listed = run_git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return set(listed.split())


def reached_objects(folder, commit):
    """The ids of all objects that a commit reaches."""
    return set(run_git(folder, "rev-list", "--objects", "--no-object-names", commit).split())


def files_below(folder):
    """What a checkout shows, by path: (mode as git has it, content); without `.git`."""
    found = {}
    for place in sorted(folder.rglob("*")):
        path = place.relative_to(folder)
        if path.parts[0] == ".git" or (not place.is_symlink() and place.is_dir()):
            continue
        if place.is_symlink():
            found[str(path)] = 0o120000, os.readlink(os.fsencode(place))
        else:
            mode = 0o100755 if place.stat().st_mode & 0o100 else 0o100644
            found[str(path)] = mode, place.read_bytes()
    return found
