"""Copies of shared arrays on a node's own disk, where the folder that all see is on another."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from distributed import Worker, get_worker

from app.artifacts.folders import locked, whole_file

FOLDER = "labelserve-arrays"
CHUNK = 1 << 24


def copies_folder(shared: Path) -> Path | None:
    """Where a worker keeps copies; None where its own disk is that of the shared folder.

    All workers of a node that have the same --local-directory share them.
    """
    try:
        own = Path(get_worker().local_directory).parent
    except ValueError:  # no worker runs this
        return None
    return own / FOLDER if device(own) != device(shared) else None


def device(folder: Path) -> int:
    """What tells apart disks and mounts."""
    return os.stat(folder).st_dev


def copied(path: Path, folder: Path) -> Path:
    """The copy of a file, made by whoever comes first: others wait for it."""
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / path.name
    with locked(folder):
        if not copy.exists():
            with path.open("rb") as source, whole_file(copy) as target:
                shutil.copyfileobj(source, target, CHUNK)
    return copy


def local_files(shared: Path) -> Callable[[Path], Path]:
    """Which file to read for a shared one: its copy, or itself."""
    folder = copies_folder(shared)
    return partial(copied, folder=folder) if folder else Path


def remove_copies(worker: Worker) -> None:
    """Remove what a node has copied; arrays that are mapped stay readable until they are let go.

    Outside a task `get_worker` finds none: who calls has it.
    """
    shutil.rmtree(Path(worker.local_directory).parent / FOLDER, ignore_errors=True)
