"""A connection whose bytes a test writes by hand."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from tests.reliability.servers import Server


def request(body: Any, head: bytes = b"", start: bytes = b"POST /predict HTTP/1.1") -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    if b"Content-Type" not in head:
        head += b"Content-Type: application/json\r\n"
    return b"%b\r\nHost: here\r\n%bContent-Length: %d\r\n\r\n%b" % (
        start,
        head,
        len(content),
        content,
    )


class Connection:
    """A socket on which answers are read one after the other."""

    def __init__(self, taken: socket.socket, reading: BinaryIO) -> None:
        self.socket, self._read = taken, reading

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        status = int(self._read.readline().split()[1])
        headers = {}
        while line := self._read.readline().strip().decode():
            name, _, value = line.partition(": ")
            headers[name] = value
        return status, headers, self._read.read(int(headers["content-length"]))

    def is_closed(self) -> bool:
        return self._read.read(1) == b""


@contextmanager
def connected(server: Server) -> Iterator[Connection]:
    host, _, port = server.url.removeprefix("http://").partition(":")
    taken = socket.create_connection((host, int(port)), timeout=60)
    with taken, taken.makefile("rb") as reading:
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield Connection(taken, reading)
