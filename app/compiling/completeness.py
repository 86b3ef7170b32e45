"""Whether the cache has the machine code of all kernels: a marker file says so."""

import os
import platform
from functools import cache
from hashlib import sha256
from pathlib import Path

from app.kernel_cache import PROJECT, cache_folder, is_writable
from app.kernels import KERNELS, may_compile
from app.kernels.source_stamp import source_stamp

PROCESSOR = Path("/proc/cpuinfo")


def is_wanted() -> bool:
    """Whether kernels are to be compiled, are not yet, and can be kept once they are."""
    return may_compile() and not is_complete() and is_writable(cache_folder())


def is_complete() -> bool:
    """Whether every kernel was compiled here as it stands, for this machine.

    Where the marker is wrong, as after files were deleted, a kernel is compiled by its first user.
    """
    return os.path.exists(marker())


def mark_complete() -> None:
    """Write down that every kernel is compiled."""
    marker().touch()


def marker() -> Path:
    """The file that is there once all kernels are compiled, named after all that they depend on."""
    return cache_folder() / f"complete-{_stamp()}"


@cache
def _stamp() -> str:
    """A hash of the kernels' sources, of where they are, and of what compiles them for whom."""
    from importlib.metadata import version  # here: it takes long to import, and is needed once

    made_of = [source_stamp(name) for name in KERNELS]
    compiler = [platform.python_version(), version("numba"), version("llvmlite")]
    depends_on = [str(PROJECT), *made_of, *compiler, _processor()]
    return sha256("\n".join(depends_on).encode()).hexdigest()[:24]


def _processor() -> str:
    """The processor's model and instruction sets, which machine code is made for."""
    try:
        with PROCESSOR.open() as file:
            said = file.read(1 << 13).partition("\n\n")[0].splitlines()
    except OSError:
        return platform.machine()
    kept = [line for line in said if line.startswith(("model name", "flags", "Features", "CPU "))]
    return "\n".join([platform.machine(), os.environ.get("NUMBA_CPU_NAME", ""), *kept])
