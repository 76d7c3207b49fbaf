"""Compiles kernels (see `tool_envs.rows`) with numba, and keeps what was compiled on disk.

Numba's own cache does not see that a function or a constant in another file changed. So the folder is named
by a digest of all that a function is compiled from. Where nothing can be written, a temporary folder takes
its place.
"""

import contextlib
import dis
import functools
import hashlib
import inspect
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import EnumType
from pathlib import Path
from typing import Any

import numba
import numba.extending
import numpy as np
from llvmlite import ir

from tool_envs.rows import KERNELS, prefetch
from tool_envs.user_cache import cache_folder

INLINED = 300
"""Kernels are compiled into their callers as long as that adds no more code than this, in bytes of bytecode.

A smaller number makes slower steps, a larger one a longer compilation, and soon no quicker steps.
"""

CACHE_LINE = 64
"""What processors read from memory at once, in bytes."""

_known: set[int] = set()  # kernels that numba knows, by their place in `KERNELS`
_lock = threading.Lock()


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a module that calls kernels, compiled for each kind of arguments that it is called with.

    With `NUMBA_DISABLE_JIT=1` it runs as Python, where numpy's integers wrap around in silence as well; with
    `NUMBA_BOUNDSCHECK=1` a wrong index is an IndexError.
    """
    with _lock:
        if len(_known) < len(KERNELS):
            _make_known()
        settings: Any = numba.config  # its attributes come from the environment
        kept = not (settings.BOUNDSCHECK or settings.DISABLE_JIT)
        # The folder is read when the function is made; it is numba's for all of the process.
        folder = cache_folder("compiled", source_digest(function))
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
        try:
            ready: Callable[..., Any] = numba.njit(function, cache=kept, nogil=True)
        finally:
            settings.CACHE_DIR = before
        return ready if is_compiling() else np.errstate(over="ignore")(ready)


def _make_known() -> None:
    """Tell numba of the kernels that came up since."""
    sites = _call_sites()
    for number, kernel in enumerate(KERNELS):
        if number not in _known:
            adds = (sites[kernel] - 1) * len(kernel.__code__.co_code)
            numba.extending.register_jitable(forceinline=adds <= INLINED)(kernel)
            _known.add(number)


def _call_sites() -> Counter[Callable[..., Any]]:
    """In how many places each kernel is called by kernels; one of a `NamedTuple` of kernels, in none."""
    return Counter(
        used
        for kernel in KERNELS
        for each in dis.get_instructions(kernel)
        if each.opname == "LOAD_GLOBAL" and inspect.isfunction(used := kernel.__globals__.get(each.argval))
    )


@numba.extending.overload(prefetch)
def _prefetch(part):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, ARG001 - numba's, of types
    """What stands for a call of `prefetch` in compiled code."""
    return lambda part: _prefetch_lines(part)  # type: ignore[call-arg]  # numba gives the context itself


@numba.extending.intrinsic
def _prefetch_lines(typing: Any, part: Any) -> Any:  # noqa: ANN401, ARG001 - numba's
    """LLVM's instruction for each cache line of a record or of a list in one.

    It is for reading, and for all caches but the first: what is on its way to that one is counted in few
    places, for which a long list of requests would wait.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401 - numba's
        (form,), (value,) = signature.args, values
        is_record = isinstance(form, numba.types.Record)
        data = value if is_record else context.make_array(form)(context, builder, value).data
        start, flag = builder.bitcast(data, ir.IntType(8).as_pointer()), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [start.type, flag, flag, flag])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [start.type], kind)
        size = form.size if is_record else form.size * form.nitems
        for offset in [*range(0, size, CACHE_LINE), size - 1]:
            line = builder.gep(start, [ir.Constant(ir.IntType(64), offset)])
            builder.call(instruction, [line, flag(0), flag(2), flag(1)])
        return context.get_dummy_value()

    return numba.types.void(part), generate


def is_compiling() -> bool:
    """Whether functions are compiled at all, and not run as Python (`NUMBA_DISABLE_JIT=1`)."""
    settings: Any = numba.config
    return not settings.DISABLE_JIT


def source_digest(function: Callable[..., Any]) -> str:
    """Digest of all that a function is compiled from, in hexadecimal.

    These are this file, those of the functions that it reaches, and the constants that they take from
    elsewhere.
    """
    files, constants, reached, left = {Path(__file__)}, set(), set(), [function]
    while left:
        one = left.pop()
        if one in reached:
            continue
        reached.add(one)
        files.add(Path(inspect.getfile(one)))
        for name, value in _used(one):
            if inspect.isfunction(value):
                left.append(value)
            elif isinstance(value, int | float | str | tuple):
                constants.add(f"{one.__module__}.{name} = {value!r}")
            elif isinstance(value, EnumType):
                constants.add(f"{one.__module__}.{name} = {list(value)!r}")
    parts = [files_digest(sorted(files)), *sorted(constants)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _used(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """What a function uses of its module, and of modules that this one imports: names and values."""
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        if inspect.ismodule(value):
            yield from ((f"{name}.{each}", getattr(value, each)) for each in names if hasattr(value, each))
        else:
            yield name, value


def files_digest(files: Iterable[Path]) -> str:
    """Digest of the content of files, in hexadecimal."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:32]


@contextlib.contextmanager
def saying_when_slow(text: str, seconds: float = 1.0) -> Iterator[None]:
    """Write a line to stderr when what is done takes longer."""
    timer = threading.Timer(seconds, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
