"""A body of any size, streamed into a file of the spool."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.types import Receive

from app.api.http.bodies import check_length, next_message, with_minimum_rate
from app.api.http.multipart import FileField
from app.api.http.request_context import RequestContext
from app.errors import UnsupportedMediaTypeError
from app.serving.admission import Deadline
from app.serving.service import Service
from app.serving.spool import Upload

PIECE = 1 << 20
MULTIPART, GUESSED = b"multipart/form-data", b"application/octet-stream"
FORMATS = {
    b"text/tab-separated-values": "tsv",
    b"application/x-ndjson": "jsonl",
    b"text/csv": "csv",
    b"text/x-svmlight": "svmlight",
    GUESSED: "auto",
    MULTIPART: "auto",
}
NAMED = [name.decode() for name, format in FORMATS.items() if format != "auto"]
"""Media types that say the format."""
ENCODINGS = (b"", b"identity", b"gzip", b"zstd")


def format_of(context: RequestContext) -> str:
    """The data format that the media type names; UnsupportedMediaTypeError for others."""
    if context.header(b"content-encoding").strip().lower() not in ENCODINGS:
        raise UnsupportedMediaTypeError("accepted content encodings: gzip, zstd")
    found = FORMATS.get(_media_type(context))
    if found is None:
        accepted = ", ".join(name.decode() for name in FORMATS)
        raise UnsupportedMediaTypeError(f"accepted media types: {accepted}")
    return found


async def spooled(
    receive: Receive, context: RequestContext, path: Path, service: Service, deadline: Deadline
) -> None:
    """Write the body (or its field `file`) to a file, in threads, within bytes and time."""
    limit = service.settings.max_upload_bytes
    check_length(context, limit, overhead=PIECE)
    upload = await asyncio.to_thread(Upload, path, limit)
    try:
        feed, close = _sink(context, upload)
        bounded = with_minimum_rate(receive, service.settings.request_seconds)
        await _pumped(bounded, feed, deadline)
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


def _sink(
    context: RequestContext, upload: Upload
) -> tuple[Callable[[bytes], None], Callable[[], None]]:
    if _media_type(context) != MULTIPART:
        return upload.write, lambda: None
    field = FileField(context.header(b"content-type"), upload.write)
    return field.feed, field.close


def _media_type(context: RequestContext) -> bytes:
    return context.head.media_type
