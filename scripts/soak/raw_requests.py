"""Requests written byte by byte, and the statuses that come back on their connection."""

import re
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

JSON = b"Content-Type: application/json\r\n"
NDJSON = b"Content-Type: application/x-ndjson\r\n"
ADMIN = b"X-Forwarded-User: admin\r\nX-Forwarded-Groups: labelserve-admin\r\n"
H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
WEBSOCKET = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
ANSWER_SECONDS = 10


def sized(start: bytes, head: bytes, body: bytes) -> bytes:
    """A request with a Content-Length; the last on its connection unless the head says more."""
    length = b"Content-Length: %d\r\n" % len(body)
    close = b"" if b"Connection:" in head else b"Connection: close\r\n"
    return b"%b HTTP/1.1\r\nHost: here\r\n%b%b%b\r\n%b" % (start, head, length, close, body)


def chunked(start: bytes, head: bytes, body: bytes, trailer: bytes = b"") -> bytes:
    """A request of one chunk, with a trailer; the last on its connection."""
    return (
        b"%b HTTP/1.1\r\nHost: here\r\n%bTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        b"%x\r\n%b\r\n0\r\n%b\r\n"
    ) % (start, head, len(body), body, trailer)


def statuses(port: int, *pieces: bytes, pause: float = 0.0) -> list[int]:
    """The statuses of all answers to what is sent in these pieces, until the other side closes."""
    content = b""
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):  # who refuses a request need not read the rest of it
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
        with suppress(ConnectionError, TimeoutError):  # what has not come is missed by the caller
            while received := connection.recv(65536):
                content += received
    return [int(status) for status in re.findall(rb"(?:^|[\n}])HTTP/1\.1 (\d{3})", content)]


def split(sent: bytes, places: Sequence[int]) -> list[bytes]:
    """The bytes, cut at these places."""
    edges = [0, *sorted(places), len(sent)]
    return [sent[start:end] for start, end in pairwise(edges)]
