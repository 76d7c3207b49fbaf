"""A small project with a bug, its fix, and the tests that decide."""

import sys

from made_repositories import make_repository

from tool_envs.repo.grading import GRADING_LIMITS, grade_by_tests
from tool_envs.repo.instances import Instance
from tool_envs.repo.repositories import open_repository
from tool_envs.repo.workspace import Workspace

SOURCE = '''"""Sums."""


def add(a, b):
    """The sum of two numbers."""
    return a - b


def double(a):
    """Twice a number."""
    return 2 * a
'''
FIXED = SOURCE.replace("a - b", "a + b")
TESTS = """import calc


def test_double():
    assert calc.double(4) == 8
"""
FILES = {
    "calc.py": SOURCE,
    "tests/test_calc.py": TESTS,
    "tests/helpers.py": "def same(a, b):\n    return a == b\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n",
}
TEST_PATCH = """diff --git a/tests/test_calc.py b/tests/test_calc.py
--- a/tests/test_calc.py
+++ b/tests/test_calc.py
@@ -1,5 +1,30 @@
+import sys
+import unittest
+from fractions import Fraction
+
 import calc
+import pytest
+from helpers import same


 def test_double():
     assert calc.double(4) == 8
+
+
+def test_add(three):
+    assert calc.add(1, 2) == three
+
+
+def test_add_fractions():
+    assert Fraction(calc.add(1, 5), 2) == Fraction(3)
+
+
+def test_add_with_help():
+    with pytest.raises(TypeError):
+        calc.add(1, None)
+    assert same(calc.add(2, 2), 4)
+
+
+class TestAdd(unittest.TestCase):
+    def test_zero(self):
+        self.assertEqual(calc.add(3, 1), 4)
"""
FAIL_TO_PASS = ("test_add", "test_add_fractions", "test_add_with_help", "TestAdd::test_zero")


class Project:
    """The small project, opened once.

    Args:
        folder: Where its repository is made.
        source: Path of the file with the bug.
    """

    def __init__(self, folder, source="calc.py"):
        files = {source if path == "calc.py" else path: text.encode() for path, text in FILES.items()}
        self.repository = open_repository(folder, *make_repository(folder, files))
        self.instance = Instance(
            instance_id="small__calc-1",
            repo="small/calc",
            base_commit=self.repository.commit,
            problem_statement="`add(1, 2)` is -1.",
            test_patch=TEST_PATCH,
            fail_to_pass=tuple(f"tests/test_calc.py::{name}" for name in FAIL_TO_PASS),
            pass_to_pass=("tests/test_calc.py::test_double",),
        )

    def workspace(self, changes):
        """Its files with changes: path -> text; None: the file is deleted."""
        workspace = Workspace(self.repository)
        for path in (path for path, text in changes.items() if text is None):
            workspace.delete(path)
        for path, text in changes.items():
            if text is not None:
                workspace.write(path, text.encode())
        return workspace

    def grade(self, changes, sandbox, limits=GRADING_LIMITS):
        """The grade of it with changes."""
        workspace = self.workspace(changes)
        return grade_by_tests(workspace, self.instance, sandbox=sandbox, python=sys.executable, limits=limits)
