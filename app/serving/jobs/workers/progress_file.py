"""ProgressFile: how far an evaluating process is, in a few bytes that its worker reads."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from app.serving.jobs.job import JobProgress

NAME = "progress"
WIDTH = 20


class ProgressFile:
    """Written in place, always to the same length: it needs no more room once it is there."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def show(self, stage: str, done: int, total: int) -> None:
        """So many documents are done of so many; a disk that refuses this stops nothing."""
        with suppress(OSError):
            os.pwrite(self._descriptor, f"{done:{WIDTH}d}{total:{WIDTH}d}".encode(), 0)


def read_progress(folder: Path) -> JobProgress:
    """What was written last; nothing done where nothing was."""
    try:
        content = (folder / NAME).read_bytes()
        return JobProgress(int(content[:WIDTH]), int(content[WIDTH:]))
    except (OSError, ValueError):
        return JobProgress()
