"""A body of any size, streamed into files of the spool."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from starlette.types import Receive

from app.api.http.bodies import (
    check_length,
    next_message,
    refuse_workbook,
    with_minimum_rate,
)
from app.api.http.media_types import FORMATS, MULTIPART
from app.api.http.multipart import FileFields, Write
from app.api.http.request_context import RequestContext
from app.errors import InvalidRequestError, PayloadTooLargeError, UnsupportedMediaTypeError
from app.serving.admission import Deadline
from app.serving.service import Service
from app.serving.spool import Upload

PIECE = 1 << 20
ENCODINGS = (b"", b"identity", b"gzip", b"zstd")
LONGEST_NAME = 200
"""Characters of a file's name that are kept."""


def format_of(context: RequestContext) -> str:
    """The data format that the media type names; UnsupportedMediaTypeError for others."""
    if context.header(b"content-encoding").strip().lower() not in ENCODINGS:
        raise UnsupportedMediaTypeError("accepted content encodings: gzip, zstd")
    found = FORMATS.get(_media_type(context))
    refuse_workbook(_media_type(context))
    if found is None:
        accepted = ", ".join(name.decode() for name in FORMATS)
        raise UnsupportedMediaTypeError(f"accepted media types: {accepted}")
    return found


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file of the spool, the name it was sent under ("": none), and its SHA-256 if wanted."""

    path: Path
    name: str = ""
    sha256: str = ""


class FileReceiver:
    """Writes the files of one body into a folder; together they are no longer than allowed."""

    def __init__(
        self,
        folder: Path,
        limit: int,
        *,
        most: int = 1,
        is_hashed: bool = False,
        is_form: bool | None = None,
    ) -> None:
        self.is_form = is_form
        """Whether the body is a form; None: as its media type says."""
        self._folder, self._limit, self._most, self._is_hashed = folder, limit, most, is_hashed
        self._size = 0
        self._uploads: list[Upload] = []
        self._names: list[str] = []
        self._hashes = [sha256() for _ in range(most)]

    def open_file(self, name: str) -> Write:
        """Where the bytes of the next file go; InvalidRequestError where it is one too many."""
        number = len(self._uploads)
        if number == self._most:
            times = "once" if self._most == 1 else f"at most {self._most} times"
            raise InvalidRequestError(f"the multipart body has the field `file` {times}")
        self._uploads.append(Upload(self._folder / f"upload-{number}", self._limit))
        self._names.append(shown_name(name))
        return lambda data: self._write(number, data)

    @property
    def files(self) -> list[ReceivedFile]:
        """What was written."""
        hashes = [one.hexdigest() if self._is_hashed else "" for one in self._hashes]
        received = zip(self._uploads, self._names, hashes, strict=False)
        return [ReceivedFile(upload.path, name, hash) for upload, name, hash in received]

    def close(self) -> None:
        """No more is written."""
        for upload in self._uploads:
            upload.close()

    def _write(self, number: int, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limit:
            raise PayloadTooLargeError("the upload", self._limit, "bytes")
        if self._is_hashed:
            self._hashes[number].update(data)
        self._uploads[number].write(data)


async def spooled(
    receive: Receive,
    context: RequestContext,
    receiver: FileReceiver,
    service: Service,
    deadline: Deadline,
) -> list[ReceivedFile]:
    """Write the body (or its fields `file`) to files, in threads, within bytes and time."""
    check_length(context, service.settings.max_upload_bytes, overhead=PIECE)
    try:
        feed, close = await asyncio.to_thread(_sink, context, receiver)
        bounded = with_minimum_rate(receive, service.settings.request_seconds)
        await _pumped(bounded, _checked(feed, service), deadline)
        close()
    finally:
        receiver.close()
    return receiver.files


async def _pumped(receive: Receive, feed: Callable[[bytes], None], deadline: Deadline) -> None:
    """Hand the body on in pieces worth a thread's while."""
    held, more = bytearray(), True
    while more:
        message = await next_message(receive, deadline)
        held += message["body"]
        more = message.get("more_body", False)
        if len(held) >= PIECE or not more:
            await asyncio.to_thread(feed, bytes(held))
            held.clear()


def _checked(feed: Write, service: Service) -> Write:
    """The same, after a look at the disk."""

    def write(data: bytes) -> None:
        service.resources.check_disk()
        feed(data)

    return write


def _sink(context: RequestContext, receiver: FileReceiver) -> tuple[Write, Callable[[], None]]:
    is_form = _media_type(context) == MULTIPART if receiver.is_form is None else receiver.is_form
    if not is_form:
        return receiver.open_file(""), lambda: None
    fields = FileFields(context.header(b"content-type"), receiver.open_file)
    return fields.feed, fields.close


def shown_name(name: str) -> str:
    """The last part of a file's name, without control characters, of bounded length.

    >>> shown_name("C:\\\\data\\\\test\\x00.jsonl")
    'test.jsonl'
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(filter(str.isprintable, last))[:LONGEST_NAME]


def _media_type(context: RequestContext) -> bytes:
    return context.head.media_type
