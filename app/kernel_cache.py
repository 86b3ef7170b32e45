"""Where the kernels' machine code is kept: one folder, whichever way a program is started."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

PROJECT = Path(__file__).parents[1]
GIVEN = "NUMBA_CACHE_DIR"


def cache_folder() -> Path:
    """NUMBA_CACHE_DIR; else `.cache/numba` of a source checkout; else below the user's cache.

    The user's is for an installed package, and for a checkout that cannot be written to. Numba
    makes a folder in it for each folder of sources, so that several checkouts can share one.
    """
    if given := os.environ.get(GIVEN):
        return Path(given)
    inside = PROJECT / ".cache" / "numba"
    if (PROJECT / "pyproject.toml").exists() and is_writable(inside):
        return inside
    return _user_folder() / "labelserve" / "kernels"


def is_writable(folder: Path) -> bool:
    """Whether files can be written there, the folder itself and those above it included."""
    there = next((path for path in (folder, *folder.parents) if os.path.exists(path)), folder)
    return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)


@contextmanager
def written_by_one(folder: str) -> Iterator[None]:
    """No other process is in this block for the same folder at the same time."""
    with Path(folder, "lock").open("a") as file:
        flock(file, LOCK_EX)
        yield


def _user_folder() -> Path:
    """The user's cache folder; one that cannot be written to where the user has no home."""
    given, home = os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~")
    if os.path.isabs(given):
        return Path(given)
    return Path(home if os.path.isabs(home) else os.devnull) / ".cache"
