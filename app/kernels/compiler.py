"""The compiler of the kernels, with a cache that may also live in a folder nobody can write to."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)

from app.kernels import source_stamp


def kernel(function: Callable[..., Any]) -> Any:
    """The function compiled on its first call: without the GIL, cached on disk where that works.

    Arithmetic keeps its written order (no fastmath), so that results equal the plain version's.
    """
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    with suppress(RuntimeError):  # no folder at all: compiled anew in each process
        dispatcher._cache = KernelCache(function)
    return dispatcher


def brief(function: Callable[..., Any]) -> Any:
    """The function as a kernel that keeps the GIL, for calls of a microsecond.

    A thread that gave it away waits for the others to get it back, every time.
    """
    dispatcher = numba.njit(error_model="numpy")(function)
    with suppress(RuntimeError):
        dispatcher._cache = KernelCache(function)
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """The function as a piece of kernels: it becomes part of each, so nothing is left of a call."""
    return numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)


class GivenFolder(UserProvidedCacheLocator):  # type: ignore[misc]
    """NUMBA_CACHE_DIR, also where it is read-only: a container brings its cache prepared."""

    def ensure_cache_path(self) -> None:
        """Make the folder where that is allowed."""
        with suppress(OSError):
            super().ensure_cache_path()


class KernelCacheFiles(CompileResultCacheImpl):  # type: ignore[misc]
    """The compiler's own cache files, first of all in the folder that was given."""

    _locator_classes = (GivenFolder, InTreeCacheLocator, UserWideCacheLocator)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The compiler's cache, made stale also by a change in the kernels that a kernel is built of.

    A folder that cannot be read or written costs a compilation, never an error.
    """

    _impl_class = KernelCacheFiles

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = source_stamp(
            function.__module__.removeprefix("app.kernels.")
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code, or None where it must be compiled."""
        with suppress(OSError):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for other processes, where possible."""
        with suppress(OSError):
            super().save_overload(sig, data)
