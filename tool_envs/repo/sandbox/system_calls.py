"""Which calls of the kernel a sandbox refuses: a filter for seccomp(2), as a program for its machine.

Namespaces leave these open: sockets of families that are in no network namespace (`AF_VSOCK` reaches the host
of a virtual machine), memory that no process is seen to hold (System V segments), keys of the user, and parts
of the kernel that tests have no use for and that are often broken into.
"""

import errno
import platform
import socket
import struct

from tool_envs.repo.sandbox.sandbox import SandboxError

# Numbers of calls, from the kernel's tables (syscall_64.tbl, asm-generic/unistd.h).
_REFUSED = {
    "x86_64": {
        "add_key": 248,
        "bpf": 321,
        "io_uring_setup": 425,  # its operations, sockets among them, pass by every filter
        "keyctl": 250,
        "perf_event_open": 298,
        "request_key": 249,
        "shmget": 29,
        "userfaultfd": 323,
    },
    "aarch64": {
        "add_key": 217,
        "bpf": 280,
        "io_uring_setup": 425,
        "keyctl": 219,
        "perf_event_open": 241,
        "request_key": 218,
        "shmget": 194,
        "userfaultfd": 282,
    },
}
_SOCKET = {"x86_64": 41, "aarch64": 198}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_* of linux/audit.h
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
_OTHER_TABLE = 0x40000000  # calls of x32 have this bit, and numbers of their own

# Instructions and results, from linux/bpf_common.h and linux/seccomp.h.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16  # offsets in `struct seccomp_data`


def system_call_filter() -> bytes:
    """The filter, as an array of `struct sock_filter`: what it refuses fails with an error number.

    Raises:
        SandboxError: The numbers of calls on this kind of machine are not known here.
    """
    machine = platform.machine()
    if machine not in _REFUSED:
        raise SandboxError(f"No filter of system calls for {machine}; known: {', '.join(_REFUSED)}.")
    return b"".join(
        [
            _instruction(_LOAD, _ARCHITECTURE_AT),
            _instruction(_IF_EQUAL, _ARCHITECTURE[machine], if_true=1),
            _instruction(_RETURN, _KILL),
            _instruction(_LOAD, _NUMBER_AT),
            _instruction(_IF_AT_LEAST, _OTHER_TABLE, if_false=1),
            _instruction(_RETURN, _REFUSE | errno.ENOSYS),
            *(_refuse(number) for number in _REFUSED[machine].values()),
            _only_known_families(_SOCKET[machine]),
            _instruction(_RETURN, _ALLOW),
        ]
    )


def _refuse(number: int) -> bytes:
    return _instruction(_IF_EQUAL, number, if_false=1) + _instruction(_RETURN, _REFUSE | errno.EPERM)


def _only_known_families(number: int) -> bytes:
    """Refuse the call `socket` where its first argument is none of the families."""
    count = len(_FAMILIES)
    checks = [_instruction(_IF_EQUAL, family, if_true=count - n) for n, family in enumerate(_FAMILIES)]
    return b"".join(
        [
            _instruction(_IF_EQUAL, number, if_false=count + 2),
            _instruction(_LOAD, _FIRST_ARGUMENT_AT),
            *checks,
            _instruction(_RETURN, _REFUSE | errno.EAFNOSUPPORT),
        ]
    )


def _instruction(code: int, value: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; a condition skips as many of those that follow as its outcome says."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
