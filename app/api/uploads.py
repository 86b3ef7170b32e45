"""A body of any size, streamed into a file of the spool."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.types import Receive

from app.api.bodies import check_length, hurried, next_message
from app.api.multipart import FileField
from app.api.visit import Visit
from app.errors import UnsupportedMediaTypeError
from app.serving.admission import Deadline
from app.serving.service import Service
from app.serving.spool import Upload

PIECE = 1 << 20
MULTIPART = b"multipart/form-data"
FORMATS = {
    b"text/tab-separated-values": "tsv",
    b"application/x-ndjson": "jsonl",
    b"text/csv": "csv",
    b"text/x-svmlight": "svmlight",
    b"application/octet-stream": "auto",
    MULTIPART: "auto",
}
ENCODINGS = (b"", b"identity", b"gzip", b"zstd")


def format_of(visit: Visit) -> str:
    """The data format that the media type names; UnsupportedMediaTypeError for others."""
    if visit.header(b"content-encoding").strip().lower() not in ENCODINGS:
        raise UnsupportedMediaTypeError("accepted content encodings: gzip, zstd")
    found = FORMATS.get(_media_type(visit))
    if found is None:
        accepted = ", ".join(name.decode() for name in FORMATS)
        raise UnsupportedMediaTypeError(f"accepted media types: {accepted}")
    return found


async def spooled(
    receive: Receive, visit: Visit, path: Path, service: Service, deadline: Deadline
) -> None:
    """Write the body (or its field `file`) to a file, in threads, within bytes and time."""
    limit = service.settings.max_upload_bytes
    check_length(visit, limit + PIECE)
    upload = await asyncio.to_thread(Upload, path, limit)
    try:
        feed, close = _sink(visit, upload)
        hurry = hurried(receive, service.settings.request_seconds)
        await _pumped(hurry, feed, deadline)
        close()
    finally:
        upload.close()


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


def _sink(visit: Visit, upload: Upload) -> tuple[Callable[[bytes], None], Callable[[], None]]:
    if _media_type(visit) != MULTIPART:
        return upload.write, lambda: None
    field = FileField(visit.header(b"content-type"), upload.write)
    return field.feed, field.close


def _media_type(visit: Visit) -> bytes:
    return visit.head.media_type
