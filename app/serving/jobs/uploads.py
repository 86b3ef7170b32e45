"""UploadStore: files by the SHA-256 of their bytes, each whole or not there at all."""

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.artifacts.folders import make_folder, sync_folder
from app.errors import UploadNotFoundError
from app.serving.spool import storage_errors

SHA256 = re.compile(r"[0-9a-f]{64}")
LOCK = ".lock"
UNUSED_SECONDS = 3600.0
"""How long a file that no evaluation refers to is kept: it was sent to be evaluated next."""

IsUsed = Callable[[str], bool]


class UploadStore:
    """The folder DATA_DIR/uploads, which processes may share.

    A file comes in by a rename, after its bytes are on the disk. It goes out under a lock that
    whoever refers to a file holds meanwhile (`held`), so nobody refers to what is being removed.
    """

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / "uploads"

    def path(self, sha256: str) -> Path:
        """Where the file lies; UploadNotFoundError where there is none."""
        path = self.folder / sha256
        if not SHA256.fullmatch(sha256) or not path.is_file():
            raise UploadNotFoundError
        return path

    def put(self, file: Path, sha256: str) -> bool:
        """Move a whole file to its place; False where it was there, and is only kept for longer.

        `file` lies in the same file system. A crash leaves it where it was or where it belongs.
        """
        with storage_errors():
            self._make_folder()
            path, is_new = self.folder / sha256, True
            with suppress(FileNotFoundError):
                is_new = path.stat().st_size != file.stat().st_size
            if is_new:
                _sync_file(file)
                file.rename(path)
            self.touch(sha256)
            return is_new

    def touch(self, sha256: str) -> None:
        """Begin anew to count the time for which an unused file is kept."""
        now = time.time()
        try:
            os.utime(self.path(sha256), (now, now))
        except FileNotFoundError:
            raise UploadNotFoundError from None
        for folder in (self.folder, self.folder.parent):  # whoever put it there may not have yet
            sync_folder(folder)

    @contextmanager
    def held(self) -> Iterator[None]:
        """No file is removed while the block runs."""
        with storage_errors():
            self._make_folder()
        with self._locked(fcntl.LOCK_SH):
            yield

    def remove_unused(self, is_used: IsUsed, *, seconds: float = UNUSED_SECONDS) -> list[str]:
        """Remove files that nobody uses and that were not asked for lately; their names."""
        before = time.time() - seconds
        old = [name for name, found in self._files() if found.st_mtime < before]
        return [name for name in old if self.remove(name, is_used, touched_before=before)]

    def remove(self, sha256: str, is_used: IsUsed, *, touched_before: float | None = None) -> bool:
        """Remove a file unless it is used, or was touched since; whether it is gone."""
        path = self.folder / sha256
        if not SHA256.fullmatch(sha256) or not path.exists():
            return False
        with self._locked(fcntl.LOCK_EX), suppress(FileNotFoundError):
            was_touched = touched_before is not None and path.stat().st_mtime >= touched_before
            if was_touched or is_used(sha256):
                return False
            path.unlink()
        return True

    def sizes(self) -> dict[str, int]:
        """The bytes of every file, by its name."""
        return {name: found.st_size for name, found in self._files()}

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Every file, and what is known of it; not those that are removed meanwhile."""
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if SHA256.fullmatch(entry.name):
                        yield entry.name, entry.stat()

    def _make_folder(self) -> None:
        make_folder(self.folder, 0o700)

    @contextmanager
    def _locked(self, kind: int) -> Iterator[None]:
        # Opened anew each time: a lock belongs to the open file, and threads must not share one.
        with storage_errors():
            descriptor = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, kind)
            yield
        finally:
            os.close(descriptor)


def _sync_file(path: Path) -> None:
    """Bring the file's bytes through to the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
