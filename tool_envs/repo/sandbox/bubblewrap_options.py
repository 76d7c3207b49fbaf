"""What bubblewrap is told: which namespaces, which files are shown, and who the command is."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tool_envs.repo.sandbox.installation import copies_of_this_package
from tool_envs.repo.sandbox.rlimits import limited, plain_environment
from tool_envs.repo.sandbox.sandbox import Limits
from tool_envs.repo.sandbox.shared_files import give_to_nobody, shared_files
from tool_envs.repo.sandbox.system_calls import system_call_filter
from tool_envs.repo.sandbox.user_namespace import USER, user_namespace

WORKSPACE = "/workspace"
"""Where a command sees its folder."""

_SHARED_MEMORY_BYTES = 64 << 20  # /dev/shm, as docker has it
_ETC = {
    "passwd": f"user:x:{USER}:{USER}::/tmp:/bin/sh\n",
    "group": f"user:x:{USER}:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
}


class Options:
    """Options of one call of bubblewrap; files that they name by descriptor are open until `held` closes.

    Attributes:
        text: The options.
        descriptors: What bubblewrap must inherit.
    """

    def __init__(self, held: ExitStack) -> None:
        self.text: list[str] = []
        self.descriptors: list[int] = []
        self._held = held
        self._as_root = os.geteuid() == 0

    def add_all(
        self, folder: Path, limits: Limits, environment: Mapping[str, str], readable: Sequence[Path]
    ) -> None:
        """All that one run needs; later mounts lie over earlier ones."""
        self._namespaces()
        for name, value in {**plain_environment("/tmp"), **environment}.items():  # noqa: S108 - its own
            self._add("--setenv", name, value)
        self._system(limits)
        for path in readable:
            self._readable(path.absolute())
        self._workspace(folder)
        self._add("--seccomp", str(self.file(system_call_filter())))
        self._add("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORKSPACE)

    def file(self, content: bytes) -> int:
        """A descriptor from which `content` can be read."""
        descriptor = os.memfd_create("tool-envs")
        self._held.callback(os.close, descriptor)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        self.descriptors.append(descriptor)
        return descriptor

    def command(self, command: Sequence[str], limits: Limits) -> list[str]:
        """The command as bubblewrap must start it, so that it has limits and no rights that matter."""
        if not self._as_root:
            # The first process in it, which is bubblewrap's, is of the same user and counts as well.
            return limited(command, dataclasses.replace(limits, processes=limits.processes + 1))
        command = limited(command, limits)
        ids = (f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
        return ["/usr/bin/setpriv", *ids, "--inh-caps=-all", "--bounding-set=-all", "--", *command]

    def _add(self, *parts: str) -> None:
        self.text += parts

    def _namespaces(self) -> None:
        self._add("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup")
        self._add("--hostname", "sandbox", "--die-with-parent", "--new-session", "--clearenv")
        if self._as_root:
            namespace = self._held.enter_context(user_namespace())
            self.descriptors.append(namespace)
            self._add("--userns", str(namespace))
            self._add("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
        else:
            self._add("--unshare-user", "--disable-userns", "--uid", str(USER), "--gid", str(USER))

    def _system(self, limits: Limits) -> None:
        self._show(Path("/usr"))
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            self._like_the_host(Path("/", name))
        for name, content in _ETC.items():
            self._add("--perms", "0644", "--ro-bind-data", str(self.file(content.encode())), f"/etc/{name}")
        for place in ("/etc/alternatives", "/etc/ld.so.cache"):
            self._add("--ro-bind-try", place, place)
        self._add("--proc", "/proc", "--dev", "/dev")
        for place, size in (("/tmp", limits.file_bytes), ("/dev/shm", _SHARED_MEMORY_BYTES)):  # noqa: S108
            self._add("--perms", "1777", "--size", str(size), "--tmpfs", place)

    def _like_the_host(self, place: Path) -> None:
        """Old folders of the system: links into `/usr`, or folders where it is not merged."""
        if place.is_symlink():
            self._add("--symlink", os.readlink(place), str(place))
        elif place.is_dir():
            self._add("--ro-bind", str(place), str(place))

    def _readable(self, path: Path) -> None:
        # Bubblewrap makes parents with the rights that they have outside, where they may be root's alone.
        for parent in reversed(path.parents[:-1]):
            self._add("--perms", "0755", "--dir", str(parent))
        self._show(path)

    def _show(self, path: Path) -> None:
        self._add("--ro-bind", str(path), str(path))
        for hidden in copies_of_this_package(path):
            self._add("--tmpfs", str(hidden), "--remount-ro", str(hidden))

    def _workspace(self, folder: Path) -> None:
        shared = shared_files(folder)
        if self._as_root:
            give_to_nobody(folder)
        self._add("--bind", str(folder), WORKSPACE)
        for file in shared:
            self._add("--ro-bind", str(file), str(WORKSPACE / file.relative_to(folder)))
