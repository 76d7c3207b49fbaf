"""Finding repositories: in folders, by manifests; and what is said where there is none."""

import json
import subprocess
import sys

import pytest

from tool_envs.errors import DataFileError, UnknownNameError
from tool_envs.repo.instances import Instance
from tool_envs.repo.mirrors import Mirrors, RepositoryMissingError, mirrors_beside

COMMIT = "0123456789abcdef0123456789abcdef01234567"
INSTANCE = Instance(
    instance_id="acme__tools-12", repo="acme/tools", base_commit=COMMIT, problem_statement="", version="1.0"
)


def make_source(path):
    """A source of the kind that its name says: a file, a bare repository, or one with a work tree."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in (".bundle", ".fast-export"):
        path.touch()
    else:
        bare = ["--bare"] if path.suffix == ".git" else []
        subprocess.run(["git", "init", "--quiet", *bare, str(path)], check=True)  # noqa: S607
    return path


def write_manifest(folder, **content):
    path = folder / "mirrors.json"
    path.write_text(json.dumps({"format_version": "1.0.0", "repositories": {}} | content))
    return path


NAMES = [
    f"{stem}{ending}"
    for stem in ("acme__tools-12", "acme__tools", "acme/tools", "tools")
    for ending in ("", ".git", ".bundle", ".fast-export")
]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_folders(name, tmp_path):
    source = make_source(tmp_path / name)

    assert Mirrors(tmp_path).source(INSTANCE) == source
    assert Mirrors(tmp_path).python(INSTANCE) is None


def test_the_nearest_name_is_taken(tmp_path):
    sources = [make_source(tmp_path / name) for name in ("tools.git", "acme/tools.bundle", "acme__tools")]
    for source in sources:
        assert Mirrors(tmp_path).source(INSTANCE) == sources[-1], source

    mine = make_source(tmp_path / "acme__tools-12.bundle")

    assert Mirrors(tmp_path).source(INSTANCE) == mine


def test_folders_that_are_no_repository_are_not_taken(tmp_path):
    (tmp_path / "tools" / "objects").mkdir(parents=True)
    (tmp_path / "acme__tools").mkdir()

    with pytest.raises(RepositoryMissingError) as caught:
        Mirrors(tmp_path).source(INSTANCE)

    for part in (
        "acme__tools-12",
        "acme/tools",
        COMMIT,
        f"git clone --mirror ADDRESS {tmp_path}/acme__tools.git",
    ):
        assert part in str(caught.value)


def test_names_without_owner(tmp_path):
    instance = Instance(instance_id="a", repo="quill", base_commit=COMMIT, problem_statement="")

    with pytest.raises(RepositoryMissingError, match="a needs the repository quill with commit 0123"):
        Mirrors(tmp_path).source(instance)
    assert make_source(tmp_path / "quill.fast-export") == Mirrors(tmp_path).source(instance)


def test_manifests_name_sources_and_interpreters(tmp_path):
    by_version = {"1.0": "envs/1/bin/python", "2.0": sys.executable}
    path = write_manifest(
        tmp_path,
        repositories={"acme/tools": {"source": "there/tools.git", "python": by_version}},
        instances={"acme__tools-13": {"source": "13.bundle"}, "acme__tools-14": {"python": sys.executable}},
    )
    whole, alone = make_source(tmp_path / "there/tools.git"), make_source(tmp_path / "13.bundle")
    mirrors = Mirrors(path)

    def asked(number, version="1.0"):
        instance = Instance(
            instance_id=f"acme__tools-{number}",
            repo="acme/tools",
            base_commit=COMMIT,
            problem_statement="",
            version=version,
        )
        return mirrors.source(instance), mirrors.python(instance)

    assert asked(12) == (whole, str(tmp_path / "envs/1/bin/python"))
    assert asked(12, "2.0") == (whole, sys.executable)
    assert asked(13) == (alone, str(tmp_path / "envs/1/bin/python"))
    assert asked(14) == (whole, sys.executable)
    with pytest.raises(UnknownNameError, match=r"version of acme/tools .* '3.0'. .*Known: 1.0, 2.0"):
        asked(12, "3.0")


def test_one_interpreter_for_all_versions(tmp_path):
    path = write_manifest(tmp_path, repositories={"acme/tools": {"source": "x", "python": "bin/python"}})

    assert Mirrors(path).python(INSTANCE) == str(tmp_path / "bin/python")


def test_manifests_that_lack_a_repository(tmp_path):
    path = write_manifest(tmp_path)
    with pytest.raises(RepositoryMissingError, match=f'{COMMIT}.*add `"acme/tools": .*"source": PATH'):
        Mirrors(path).source(INSTANCE)

    path = write_manifest(tmp_path, repositories={"acme/tools": {"source": "gone.git"}})
    with pytest.raises(
        RepositoryMissingError, match=rf"gone.git: acme__tools-12 needs .* with commit {COMMIT}"
    ):
        Mirrors(path).source(INSTANCE)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"format_version": "2.0.0"}, "format_version"),
        ({"repositories": {"a/b": {}}}, "repositories/a/b: .*source"),
        ({"repositories": {"a/b": {"source": ""}}}, "repositories/a/b/source"),
        ({"repositories": {"a/b": {"source": "x", "pyhton": "y"}}}, "pyhton"),
        ({"repositories": {"a/b": {"source": "x", "python": {}}}}, "repositories/a/b/python"),
        ({"instances": {"a": {}}}, "instances/a"),
    ],
)
def test_damaged_manifests_are_refused(content, problem, tmp_path):
    with pytest.raises(DataFileError, match=problem):
        Mirrors(write_manifest(tmp_path, **content))


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataFileError, match="expected a folder of repositories or a manifest"):
        Mirrors(tmp_path / "none")


def test_repositories_are_looked_for_beside_the_instances(tmp_path):
    assert mirrors_beside(tmp_path / "rows.jsonl") == tmp_path

    (tmp_path / "mirrors.json").write_text("{}", encoding="utf-8")
    assert mirrors_beside(tmp_path / "rows.jsonl") == tmp_path / "mirrors.json"
