"""Small git repositories with issues, made when tests need them."""

import json
import sys

from made_repositories import make_repository, run_git, write_files

FILES = {
    "shapes/__init__.py": "",
    "shapes/area.py": '''"""Areas of shapes."""


def rectangle(width, height):
    return width + height


def square(side):
    """A square is a rectangle."""
    return rectangle(side, side)


def triangle(base, height):
    return base * height
''',
    "shapes/names.py": '''"""Names of shapes."""

CORNERS = {3: "triangle", 4: "rectangle"}


def name_of(corners):
    return CORNERS[corners]
''',
    "shapes/old.py": "# Nobody needs this any more.\n",
    "tests/test_area.py": """from shapes.area import rectangle


def test_a_rectangle_without_height_has_its_width():
    assert rectangle(2, 2) == 4
""",
    "README.md": "# shapes\n\nAreas and names of shapes.\n",
    "logo.bin": b"\x00\x01\x02",
    "latin.txt": "Fl\xe4che\n".encode("latin-1"),
}

FIXES = {
    "shapes-area": (
        {
            "shapes/area.py": FILES["shapes/area.py"]
            .replace("width + height", "width * height")
            .replace("base * height", "base * height / 2")
        },
        {
            "tests/test_area.py": FILES["tests/test_area.py"]
            + """

def test_areas():
    from shapes.area import square, triangle

    assert [rectangle(2, 3), square(5), triangle(3, 4)] == [6, 25, 6.0]
"""
        },
        "The area of a rectangle is wrong: rectangle(2, 3) gives 5 and not 6.\nSo is that of a triangle.\n",
        ["tests/test_area.py::test_areas"],
        ["tests/test_area.py::test_a_rectangle_without_height_has_its_width"],
    ),
    "shapes-names": (
        {
            "shapes/names.py": FILES["shapes/names.py"].replace(
                "    return CORNERS[corners]\n", '    return CORNERS.get(corners, f"polygon of {corners}")\n'
            ),
            "shapes/old.py": None,
            "shapes/polygons.py": '"""Shapes of many corners."""\n\nLEAST = 3\n',
        },
        {
            "tests/test_names.py": """from shapes.names import name_of
from shapes.polygons import LEAST


def test_names():
    assert name_of(LEAST) == "triangle"
    assert name_of(7) == "polygon of 7"
"""
        },
        "name_of(7) raises a KeyError; it should say polygon of 7. The least number of corners is to be\n"
        "LEAST in shapes/polygons.py.\n",
        ["tests/test_names.py::test_names"],
        ["tests/test_area.py::test_a_rectangle_without_height_has_its_width"],
    ),
}
"""Name -> source part of the fix, its tests, the issue, FAIL_TO_PASS and PASS_TO_PASS."""


def encoded(files):
    """Files with texts as bytes."""
    return {
        path: content.encode() if isinstance(content, str) else content for path, content in files.items()
    }


def _diff_of(repository, files):
    """The patch that a change of files is, as git writes it; the change stays nowhere."""
    write_files(repository, encoded(files))
    run_git(repository, "add", "--all")
    patch = run_git(repository, "diff", "--cached", "--full-index", "--no-renames")
    run_git(repository, "reset", "--quiet", "--hard")
    return patch + "\n"


def make_instances(folder, names=tuple(FIXES), copies=1):
    """A repository in `folder`/mirrors and the rows of its instances in `folder`/instances.jsonl.

    Returns:
        The arguments of an environment for them.
    """
    repository = folder / "mirrors" / "acme__shapes"
    (commit,) = make_repository(repository, encoded(FILES))
    rows = []
    for name in names:
        source, tests, issue, fails, passes = FIXES[name]
        row = {
            "repo": "acme/shapes",
            "base_commit": commit,
            "problem_statement": issue,
            "patch": _diff_of(repository, source),
            "test_patch": _diff_of(repository, tests),
            "FAIL_TO_PASS": fails,
            "PASS_TO_PASS": passes,
            "difficulty": "2",
        }
        rows += [
            {"instance_id": name if number == 0 else f"{name}-{number}", **row} for number in range(copies)
        ]
    path = folder / "instances.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {
        "path": str(path),
        "mirrors": str(repository.parent),
        "sandbox": "subprocess",
        "python": sys.executable,
    }
