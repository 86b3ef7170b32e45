"""Gives freed arrays back to the system: training frees and allocates large ones all the time."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MAPPED = 1 << 20
KEPT = 1 << 26


def return_freed_memory() -> None:
    """Have every array from a mebibyte on mapped by itself, so that freeing it frees its memory.

    glibc otherwise raises that bound to 32 MiB as it goes, and arrays below it leave holes in the
    heap that are never given back: a sixth of a training's peak. What is freed at the end of the
    heap is kept up to 64 MiB: workers of Dask give back all beyond 64 KiB, and take it again a
    thousand times a second. Other systems are left alone.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MAPPED)
        mallopt(M_TRIM_THRESHOLD, KEPT)
