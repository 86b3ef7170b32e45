"""UsageFile: what each key has used in the current minute and day, one count for all processes.

A record has a fixed size and is written in place, under a lock of the file: workers of a machine
count together, a process that dies loses nothing, and what was counted outlives a restart.
"""

import fcntl
import hashlib
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

RECORD = struct.Struct("<16sQQQQ")
"""A hash of the key's id, then the four numbers of `Usage`."""
MINUTE, DAY = 60, 86_400
LOCK_SECONDS, LOCK_AGAIN_SECONDS = 0.5, 0.001
MOST_BYTES = RECORD.size * 100_000


class Usage(NamedTuple):
    """What a key has used: requests in a minute of the clock, documents in a day of UTC."""

    minute: int = 0
    requests: int = 0
    day: int = 0
    documents: int = 0

    def at(self, now: float) -> "Usage":
        """The same, with nothing in a minute or a day that has just begun.

        A clock that is set back a little counts on where it was; one set back far begins anew.
        """
        minute, day = int(now // MINUTE), int(now // DAY)
        found = self
        if minute not in (self.minute, self.minute - 1):
            found = found._replace(minute=minute, requests=0)
        if day not in (self.day, self.day - 1):
            found = found._replace(day=day, documents=0)
        return found

    def is_over(self, now: float) -> bool:
        """Whether its minute and its day are past, so that it says nothing any more."""
        return self.minute < now // MINUTE - 1 and self.day < now // DAY - 1


Change = Callable[[Usage], Usage]


class UsageFile:
    """The counts of one file, changed by one process at a time; used by one thread of each."""

    def __init__(self, path: Path) -> None:
        self._path, self._descriptor = path, -1

    def change(self, key: str, now: float, change: Change) -> None:
        """Put what `change` makes of the key's usage in its place; what it raises changes nothing.

        OSError where the file cannot be read, written or locked.
        """
        name = hashlib.blake2b(key.encode(), digest_size=16).digest()
        with self._locked() as descriptor:
            content = _content(descriptor)
            offset, usage = _found(content, name, now)
            record = RECORD.pack(name, *change(usage.at(now)))
            while record:
                written = os.pwrite(descriptor, record, offset)
                record, offset = record[written:], offset + written

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @contextmanager
    def _locked(self) -> Iterator[int]:
        descriptor, end = self._opened(), monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monotonic() > end:  # whoever has it is stopped: nobody waits for that one
                    raise
                sleep(LOCK_AGAIN_SECONDS)
        try:
            yield descriptor
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)

    def _opened(self) -> int:
        """The file, made anew where it was removed."""
        if self._descriptor >= 0 and not self._is_in_place():
            self.close()
        if self._descriptor < 0:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._descriptor

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False


def _content(descriptor: int) -> bytes:
    """All records; a read may give fewer bytes than there are."""
    content = b""
    while piece := os.pread(descriptor, MOST_BYTES - len(content), len(content)):
        content += piece
    return content


def _found(content: bytes, name: bytes, now: float) -> tuple[int, Usage]:
    """Where the key's record lies, and what it says; a free place and nothing for a new key."""
    whole = len(content) - len(content) % RECORD.size
    free = whole
    for number, (known, *figures) in enumerate(RECORD.iter_unpack(content[:whole])):
        usage = Usage(*figures)
        if known == name:
            return number * RECORD.size, usage
        if free == whole and usage.is_over(now):
            free = number * RECORD.size
    return free, Usage()
