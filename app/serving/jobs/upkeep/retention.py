"""Retention: the oldest evaluations go when there are too many; files go that nobody refers to.

Every step may be the last one before a crash. A row is removed before its files, and files that no
row refers to are found again by `clean`, so nothing is lost that is listed, and nothing stays that
is not.
"""

import shutil
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

from app.serving.jobs.archive import EvaluationArchive
from app.serving.jobs.upkeep import statements
from app.settings import Settings

DAY = 86_400.0
UNKNOWN_SECONDS = DAY
"""How long a folder stays of which no row is known: the database may be a wrong or an old one."""


@dataclass(frozen=True)
class KeptRow:
    """What retention knows of an ended evaluation; `age` is in seconds, since its end."""

    id: str
    upload: str
    bytes: int
    pinned: bool
    age: float


@dataclass(frozen=True)
class RetentionLimits:
    """How much is kept."""

    number: int
    seconds: float = inf
    bytes: float = inf

    @classmethod
    def of(cls, settings: Settings) -> "RetentionLimits":
        """The limits that are set."""
        days = settings.keep_evaluation_days
        seconds = inf if days is None else days * DAY
        return cls(settings.keep_evaluations, seconds, settings.keep_evaluation_bytes)


def beyond(
    limits: RetentionLimits, rows: Iterable[KeptRow], sizes: Mapping[str, int]
) -> list[KeptRow]:
    """The rows that have to go, of rows from the oldest to the newest; pinned ones never.

    `sizes` has the bytes of every upload; one that several rows have is freed with the last.
    """
    every = list(rows)
    users = Counter(row.upload for row in every)
    number = len(every)
    size = sum(row.bytes for row in every) + sum(sizes.get(upload, 0) for upload in users)
    going = []
    for row in every:
        is_too_much = number > limits.number or size > limits.bytes
        if row.pinned or not (is_too_much or row.age > limits.seconds):
            continue
        going.append(row)
        number -= 1
        users[row.upload] -= 1
        size -= row.bytes + (0 if users[row.upload] else sizes.get(row.upload, 0))
    return going


class Retention:
    """Applies the limits to the evaluations of one data folder; several processes may do so."""

    def __init__(self, archive: EvaluationArchive, limits: RetentionLimits) -> None:
        self._archive, self._limits = archive, limits

    def apply(self) -> int:
        """Remove what is beyond the limits; how many evaluations that were."""
        archive = self._archive
        rows = archive.rows(statements.RETAINED, storage=archive.storage)
        kept = (KeptRow(**{**row, "pinned": bool(row["pinned"])}) for row in rows)
        going = beyond(self._limits, kept, archive.uploads.sizes())
        return sum(archive.remove(row.id, row.upload) for row in going)

    def clean(self) -> None:
        """Remove what crashes and lost tries have left."""
        self._remove_unknown_folders()
        self._remove_old_tries()
        self._archive.uploads.remove_unused(self._archive.is_used)

    def _remove_unknown_folders(self) -> None:
        before = time.time() - UNKNOWN_SECONDS
        old = [folder for folder in self._archive.folders() if _is_older(folder, before)]
        if not old:
            return
        # Asked after the folders were listed: whoever makes one has a row first.
        known = {row["id"] for row in self._archive.rows(statements.IDS)}
        for folder in old:
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)

    def _remove_old_tries(self) -> None:
        folders = {folder.name: folder for folder in self._archive.folders()}
        for row in self._archive.rows(statements.TRIED, storage=self._archive.storage):
            if row["id"] in folders:
                has_result = row["state"] not in ("failed", "cancelled")
                _remove_tries(folders[row["id"]], row["token"] if has_result else inf)


def _is_older(folder: Path, before: float) -> bool:
    """Whether it was changed before that time; not where another process has removed it."""
    try:
        return folder.stat().st_mtime < before
    except FileNotFoundError:
        return False


def _remove_tries(folder: Path, before: float) -> None:
    try:
        attempts = list(folder.iterdir())
    except FileNotFoundError:  # another process has removed it
        return
    for attempt in attempts:
        if attempt.name.isdigit() and int(attempt.name) < before:
            shutil.rmtree(attempt, ignore_errors=True)
