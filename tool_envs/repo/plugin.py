"""Runs pytest and writes what became of each test; meant for a sandbox, started by `testing.py`.

The interpreter of the tests gets the text of this file by `-c`, so nothing of this package need be there, and
nothing in the project's folder can stand in for it. It imports pytest and the standard library only, and
means to work on Python 3.8 and pytest 6, and later.

On the standard input it expects one JSON object: `key` (hexadecimal), `report` (the file to write), `own`
(the top-level modules that belong to the project), `path` (the folders from which they are imported) and
`arguments` (of pytest). The report has a line for each event, `<seal> <JSON>`; see `journal`.

The code under test runs in the same process, so it could do all that is done here. What makes it hard:

* What was reported cannot be taken back: each line has a key of its own, which does not tell earlier ones.
* A module that is installed is never looked for in the project's folder, unless it is the project's own.
* What decides whether a test passes (`DECIDING`, the functions of the tests, what plugs into pytest) must be
  what it was before the project's code came; this is checked after each file of tests, and a change reported.
* The last line is written after pytest is done, and then the process ends at once.

What cannot be stopped here: code that finds the key in the memory of the process before a failure is
reported, or alters the interpreter beneath Python (ctypes, a debugger); that patches pytest and mends it
before its file of tests is done; that patches a library which only the tests use; and objects that equal
everything, or code that behaves well only while it is tested, which better tests would find.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and sys.path and not sys.path[0]:
    del sys.path[0]  # with `-c`, Python before 3.11 would look for what follows in the project's folder

import hashlib
import hmac
import itertools
import json
import os
import unittest.mock
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from operator import attrgetter
from operator import is_ as _is
from types import FunctionType, ModuleType
from typing import Any

import pytest

DECIDING = ("_pytest", "pytest", "pluggy", "unittest", "builtins", "math", "operator", "__main__")
"""Packages of the functions and classes that decide whether a test passes; `__main__` is this file."""

_EXPLAINING = frozenset({"_pytest.assertion.util._reprcompare", "_pytest.assertion.util._assertion_pass"})
# which pytest exchanges for each test, to explain assertions that have been decided

_OVERRULED = {"xdist": "-n0", "pytest_cov": "--no-cov"}
# plugins that a project's configuration may ask for, and the options that switch them off: tests would run in
# processes where nothing is checked, or measure themselves and fail by what they found

_TEXT_LIMIT = 8000  # characters of a failure's text, and of each stream that it captured


def journal(path: str, key: bytes) -> Callable[..., None]:
    """A function that appends its keyword arguments as a line of JSON, sealed by an HMAC-SHA256.

    The next line's key is the SHA-256 of this one's: who learns a key can forge what follows, never what is
    written. Only the process that made the journal writes, none that was forked from it. What it needs is
    bound here, since tests may replace functions of `os` while it is used.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
    process, getpid, write = os.getpid(), os.getpid, os.write
    encode, new, sha256 = json.JSONEncoder().encode, hmac.new, hashlib.sha256

    def append(**event: object) -> None:
        nonlocal key
        if getpid() != process:
            return
        line = encode(event).encode()
        seal = new(key, line, sha256).hexdigest().encode()
        key = sha256(key).digest()
        write(descriptor, seal + b" " + line + b"\n")

    return append


class InstalledFirst:
    """A finder of modules to which what is installed comes before the project's folder.

    Otherwise a file `random.py` there would stand in for the standard library's, and a `hypothesis.py` for
    the installed one, in the tests as well.
    """

    def __init__(self, path: Sequence[str], own: Collection[str]) -> None:
        self._path, self._own = list(path), frozenset(own)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The installed top-level module of this name; None: there is none, or the project has its own."""
        if path is not None or name in self._own:
            return None
        spec = PathFinder.find_spec(name, self._path, target)
        return spec if spec and spec.loader else None


class Generated:
    """A finder of modules that a build adds to the project's packages, such as a `_version.py`.

    Git does not hold them, so they are looked for among what is installed, after all else.
    """

    def __init__(self, path: Sequence[str], own: Collection[str]) -> None:
        self._path, self._own = list(path), frozenset(own)

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002 - where it was not found
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The installed module of this name in one of the project's packages; None: there is none."""
        *packages, _ = name.split(".")
        if not packages or packages[0] not in self._own:
            return None
        spec = PathFinder.find_spec(name, [os.path.join(part, *packages) for part in self._path], target)
        return spec if spec and spec.loader else None


class Originals:
    """The functions and classes that decide, and the code of each function, as they are when this is made."""

    def __init__(self, reporter: Reporter) -> None:
        self._modules = {
            name: module for name, module in sys.modules.items() if name.split(".")[0] in DECIDING
        }
        self._places: list[tuple[str, Mapping[str, Any], dict[str, Any], frozenset[str]]] = []
        seen: set[int] = set()
        for name, module in self._modules.items():
            self._remember(name, module, seen)
        self._remember("reporter", reporter, seen)
        self._codes = Codes(
            (f"{name}.{attribute}", value)
            for name, _, values, _ in self._places
            for attribute, value in values.items()
        )

    def _remember(self, name: str, owner: Any, seen: set[int]) -> None:  # noqa: ANN401 - a module or a class
        if id(owner) in seen:
            return
        seen.add(id(owner))
        values = {
            attribute: value
            for attribute, value in vars(owner).items()
            if _decides(value) and f"{name}.{attribute}" not in _EXPLAINING
        }
        self._places.append((name, vars(owner), values, frozenset(vars(owner))))
        for attribute, value in values.items():
            if isinstance(value, type) and value.__module__.split(".")[0] in DECIDING:
                self._remember(f"{name}.{attribute}", value, seen)

    def changes(self) -> Iterator[str]:
        """The names of what is not what it was."""
        if not _same(self._modules, sys.modules):
            yield from (name for name, module in self._modules.items() if sys.modules.get(name) is not module)
        for name, now, values, names in self._places:
            if not _same(values, now):
                yield from (f"{name}.{key}" for key, value in values.items() if now.get(key) is not value)
            if not now.keys() <= names and name != "builtins":  # there, gettext's `_`, say, hides nothing
                added = sorted(now.keys() - names)
                yield from (f"{name}.{attribute}" for attribute in added if _decides(now[attribute]))
        yield from self._codes.changes()


def _same(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether all values are the objects that they were."""
    return all(map(_is, map(now.get, before), before.values()))


class Codes:
    """The code and the defaults of functions, and of the functions that these wrap, when this is made.

    Args:
        values: Names, and what may be a function, a method or a property.
    """

    def __init__(self, values: Iterable[tuple[str, Any]]) -> None:
        found = [(name, function) for name, value in values for function in _functions(value)]
        self._names = [name for name, _ in found]
        self._functions = [function for _, function in found]
        self._before = [list(map(part, self._functions)) for part in _PARTS]

    def changes(self) -> Iterator[str]:
        """The names of those that have another code, or other defaults."""
        for part, before in zip(_PARTS, self._before):  # noqa: B905 - new in Python 3.10
            now = list(map(part, self._functions))
            if not all(map(_is, now, before)):
                changed = (a is not b for a, b in zip(now, before))  # noqa: B905
                yield from itertools.compress(self._names, changed)


_PARTS = tuple(map(attrgetter, ("__code__", "__defaults__", "__kwdefaults__")))


def _functions(value: Any) -> Iterator[Any]:  # noqa: ANN401 - anything
    while value is not None:
        value = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if not isinstance(value, FunctionType):
            break
        yield value
        value = vars(value).get("__wrapped__")


def _decides(value: object) -> bool:
    return callable(value) or isinstance(value, (property, staticmethod, classmethod))


class Reporter:
    """The plugin: reports what pytest says of each test, and what the project changed that it must not.

    Args:
        report: Takes an event.
        root: The project's folder.
    """

    def __init__(self, report: Callable[..., None], root: str) -> None:
        self._report, self._root = report, root
        self._originals: Originals | None = None
        self._tests = Codes(())
        self._plugins: set[Any] = set()
        self._manager: pytest.PytestPluginManager | None = None
        self._reported: set[str] = set()
        self._check = self.check  # bound, so that another method of the class does not come before it

    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> None:
        """Plugins are loaded, and have patched what they patch; the project's code is not."""
        self._manager = early_config.pluginmanager
        self._originals = Originals(self)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """All that plugs into pytest by itself has done so."""
        self._plugins = set(session.config.pluginmanager.get_plugins())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of tests was imported, or could not be."""
        if report.outcome != "passed":
            self._report(
                test=report.nodeid, when="collect", outcome=report.outcome, text=_text(report), captured=[]
            )

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """All code at the top of the files has run."""
        self._tests = Codes((item.nodeid, getattr(item, "function", None)) for item in session.items)
        self._report(collected=len(session.items))
        self._check()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test was set up, called or torn down; a part of a test counts if it failed."""
        part = type(report).__name__.lower() == "subtestreport"
        if part and report.outcome != "failed":
            return
        marked = hasattr(report, "wasxfail")
        failed = report.outcome == "failed"
        self._report(
            test=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            marked=marked,
            text=_text(report) if report.outcome != "passed" else "",
            captured=[[name, _cut(text)] for name, text in report.sections] if failed else [],
        )

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """After the last test of a file, all that its tests changed for their own duration is as it was."""
        yield
        if nextitem is None or nextitem.nodeid.split("::")[0] != item.nodeid.split("::")[0]:
            self._check()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """The last moment at which pytest's plugins have not taken back what they patched."""
        self._check()

    def check(self) -> None:
        """Report, once each, what the project changed that it must not."""
        changed = {*self._tests.changes(), *self._added_plugins()}
        if self._originals:
            changed.update(self._originals.changes())
        if changed - self._reported:
            self._report(changed=sorted(changed - self._reported))
            self._reported |= changed

    def _added_plugins(self) -> Iterator[str]:
        """Plugins that came after the start, out of the project's folder, and that no conftest.py names."""
        now = set(self._manager.get_plugins()) if self._manager and self._plugins else set()
        named = {name for plugin in now for name in _listed(getattr(plugin, "pytest_plugins", ()))}
        for plugin in now - self._plugins:
            is_module = isinstance(plugin, ModuleType)
            module = plugin if is_module else sys.modules.get(type(plugin).__module__)
            file, name = str(getattr(module, "__file__", None)), getattr(module, "__name__", "")
            known = is_module and (os.path.basename(file) == "conftest.py" or name in named)
            if file.startswith(self._root + os.sep) and not known:
                yield f"plugin {name}"


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else list(names)


def _text(report: pytest.CollectReport | pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):  # (file, line, reason) of what was skipped
        return str(report.longrepr[2])
    return _cut(report.longreprtext)


def _cut(text: str) -> str:
    if len(text) <= _TEXT_LIMIT:
        return text
    half = _TEXT_LIMIT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"


def _read_task() -> Any:  # noqa: ANN401 - JSON
    """The task from the standard input, which is empty from then on."""
    parts = []
    while part := os.read(0, 1 << 16):
        parts.append(part)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return json.loads(b"".join(parts))


def main() -> None:
    """Do what the standard input says, and end the process with pytest's exit code."""
    task = _read_task()
    root = os.getcwd()
    getattr(unittest, "IsolatedAsyncioTestCase", None)  # loads it, which adds to the module
    report = journal(os.path.join(root, task["report"]), bytes.fromhex(task.pop("key")))
    reporter = Reporter(report, root)
    end = os._exit
    installed = sys.path.copy()
    sys.meta_path.insert(0, InstalledFirst(installed, task["own"]))
    sys.meta_path.append(Generated(installed, task["own"]))
    folders = [os.path.join(root, folder) for folder in task["path"]]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)  # for the processes that tests start
    report(python=list(sys.version_info[:3]), pytest=pytest.__version__)
    overruled = [option for plugin, option in _OVERRULED.items() if find_spec(plugin)]
    exit_code = int(pytest.main([*overruled, *task["arguments"]], plugins=[reporter]))
    report(exit_code=exit_code)
    sys.stdout.flush()
    sys.stderr.flush()
    end(exit_code)


if __name__ == "__main__":
    main()
