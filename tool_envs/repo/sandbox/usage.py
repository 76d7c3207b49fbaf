"""What processes take, read from a folder of the form of `/proc` (see proc(5))."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")  # per second
_PAGE = os.sysconf("SC_PAGE_SIZE")  # bytes
_HOST = Path("/proc")
_BLOCK = 512  # bytes, in `st_blocks`


def process_folders(proc: Path) -> list[Path]:
    """The folders of all processes that are shown in `proc`, which is not this machine's own `/proc`.

    None where it is gone, or where it is not mounted yet, which shows this machine's.
    """
    try:
        if proc.stat().st_dev == _HOST.stat().st_dev:
            return []
        return [proc / name for name in os.listdir(proc) if name.isdigit()]
    except OSError:
        return []


def cpu_seconds(folders: list[Path]) -> float:
    """CPU time of processes and of their children that were waited for."""
    return sum(sum(map(int, fields[11:15])) for fields in map(_stat, folders) if fields) / _TICKS


def _stat(folder: Path) -> list[str]:
    """The fields of `stat` after the name, which may hold anything; none where the process is gone."""
    return _read(folder / "stat").rpartition(")")[2].split()


def memory_bytes(folders: list[Path], limit: int) -> int:
    """Resident memory of processes; exact only beyond `limit`.

    Resident sizes count what is shared as often as it is shared, and are quick to read. So the exact share of
    each (PSS) is read only where they are more than the limit.
    """
    rough = sum(int((_read(folder / "statm").split() or ["0", "0"])[1]) for folder in folders) * _PAGE
    return rough if rough <= limit else sum(map(_proportional_bytes, folders))


def _proportional_bytes(folder: Path) -> int:
    for line in _read(folder / "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def unlinked_bytes(folders: list[Path]) -> int:
    """Size on disk or in memory of files that are open and have no name any more, each counted once."""
    sizes = {(found.st_dev, found.st_ino): found.st_blocks * _BLOCK for found in _unlinked(folders)}
    return sum(sizes.values())


def _unlinked(folders: list[Path]) -> Iterator[os.stat_result]:
    for folder in folders:
        try:
            opened = os.listdir(folder / "fd")
        except OSError:
            continue
        for name in opened:
            try:
                found = os.stat(folder / "fd" / name)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                yield found


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
