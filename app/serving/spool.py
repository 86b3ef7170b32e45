"""The spool: folders for uploads while they are worked on, clean again after every crash."""

import errno
import fcntl
import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from app.errors import PayloadTooLargeError, StorageFullError

FULL = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM", "EIO", "ENOENT")
}

OURS = re.compile(r"([0-9a-f]{16})(\.lock|-[0-9a-f]{8})")
"""What a process has in the spool: its lock and its folders; nothing else there is ours."""

log = logging.getLogger("labelserve.spool")


class Spool:
    """Folders of one process. Its lock says that it lives; what has no living owner is removed."""

    def __init__(self, data_dir: Path) -> None:
        self._dir = data_dir / "spool"
        self._owner = secrets.token_hex(8)
        self._lock: BinaryIO | None = None

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """An empty folder that is gone when the block ends."""
        with storage_errors():
            self.open()
            path = self._dir / f"{self._owner}-{secrets.token_hex(4)}"
            path.mkdir(mode=0o700)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def open(self) -> None:
        """Take the lock and remove what the dead have left; again where it all was removed."""
        if self._lock is not None:
            if _is_in_place(self._lock):
                return
            log.warning("%s was removed, and is made again", self._dir)
            self._lock.close()
        self._dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A new name each time: others may just be removing what the old one has left.
        self._owner = secrets.token_hex(8)
        self._lock = self._locked()
        self._clean()

    def close(self) -> None:
        """Remove everything of this process."""
        if self._lock is not None:
            self._remove(self._owner)
            self._lock.close()
            self._lock = None

    def _locked(self) -> BinaryIO:
        """This process's lock; made again where another took it for a dead one's and removed it."""
        path = self._dir / f"{self._owner}.lock"
        while True:
            lock = path.open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_in_place(lock):
                return lock
            lock.close()

    def _clean(self) -> None:
        names = map(OURS.fullmatch, (entry.name for entry in self._entries()))
        owners = {name[1] for name in names if name is not None}
        for owner in sorted(owners - {self._owner}):
            self._remove_if_dead(owner)

    def _remove_if_dead(self, owner: str) -> None:
        try:
            with (self._dir / f"{owner}.lock").open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                log.info("removing what a dead process left in %s", self._dir)
                self._remove(owner)  # under its lock: an owner that is just starting notices
        except FileNotFoundError:
            self._remove_folders(owner)
        except OSError:  # somebody has the lock: it lives
            return

    def _remove(self, owner: str) -> None:
        self._remove_folders(owner)
        (self._dir / f"{owner}.lock").unlink(missing_ok=True)

    def _remove_folders(self, owner: str) -> None:
        for entry in self._entries():
            if entry.name.startswith(f"{owner}-"):
                shutil.rmtree(entry.path, ignore_errors=True)

    def _entries(self) -> list[os.DirEntry[str]]:
        with os.scandir(self._dir) as entries:
            return list(entries)


def _is_in_place(lock: BinaryIO) -> bool:
    """Whether the file is still the one of its name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(lock.fileno()), os.stat(lock.name))
    return False


class Upload:
    """A file of the spool that grows up to a limit."""

    def __init__(self, path: Path, limit: int) -> None:
        with storage_errors():
            self._file = path.open("xb", buffering=0)
        self.path, self.size, self._limit = path, 0, limit

    def write(self, data: bytes) -> None:
        """Append; PayloadTooLargeError past the limit, StorageFullError where the disk is full."""
        self.size += len(data)
        if self.size > self._limit:
            raise PayloadTooLargeError("the upload", self._limit, "bytes")
        with storage_errors():
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """No more is written."""
        with suppress(OSError):
            self._file.close()


@contextmanager
def storage_errors() -> Iterator[None]:
    """What the disk refuses becomes a StorageFullError."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            why = os.strerror(error.errno or 0)
            raise StorageFullError(f"the spool cannot take the upload: {why}") from error
        raise
