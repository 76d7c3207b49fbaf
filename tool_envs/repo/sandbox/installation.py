"""What a program needs to be seen to run: the parts of the installation of Python that it belongs to."""

from collections.abc import Iterator
from pathlib import Path

_PARTS = ("pyvenv.cfg", "bin", "lib", "lib64")  # and nothing else, where it is installed into a home
_PACKAGE = Path(__file__).parents[2]
_PACKAGE_PLACES = (
    "{}",
    "*-packages/{}",
    "python*/*-packages/{}",
    "lib*/python*/*-packages/{}",
    "local/lib*/python*/*-packages/{}",
)


def installation(program: Path) -> list[Path]:
    """The files and folders that belong to a Python, by the path of its interpreter.

    For one of a virtual environment (PEP 405) they are those of the environment and of the Python that it was
    made from. For any other program there are none.
    """
    prefixes = [program.parent.parent, program.resolve().parent.parent]
    settings = program.parent.parent / "pyvenv.cfg"
    if settings.is_file():
        prefixes += [Path(home).parent for home in _home(settings)]
    found = [prefix / part for prefix in dict.fromkeys(prefixes) if _is_python(prefix) for part in _PARTS]
    return [path for path in found if path.exists()]


def _home(settings: Path) -> Iterator[str]:
    for line in settings.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home":
            yield value.strip()


def _is_python(prefix: Path) -> bool:
    return next(prefix.glob("lib*/python3*"), None) is not None


def copies_of_this_package(path: Path) -> Iterator[Path]:
    """Folders below a path that hold this package, and with it the answers of built-in instances.

    They are the package itself, and where it is installed in a Python that lies there.
    """
    resolved = path.resolve()
    if _PACKAGE.is_relative_to(resolved):
        yield path / _PACKAGE.relative_to(resolved)
    for place in _PACKAGE_PLACES:
        for found in path.glob(place.format(_PACKAGE.name)):
            if found.is_dir() and found.resolve() != _PACKAGE:
                yield found
