"""HTTP/1.1 connections: how long they may take, and how answers are put on the wire."""

import re
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

HEAD_SECONDS, HEAD_BYTES = 10, 65_536
LINGER_SECONDS = 30  # for reading on after an early answer, so that the client gets to read it
MOST_WAITING = 65_536  # bytes of an answer that wait for the end of a turn
MOST_HELD = 16_384  # bytes of a body that may be answered at once
MOST_AT_ONCE = 16  # requests that are answered at once while all other connections wait
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,5})\r\n", re.IGNORECASE)


class Likeness(NamedTuple):
    """A request's head but for the number that says how long the body is."""

    before: bytes
    after: bytes

    @classmethod
    def of(cls, request: bytes) -> "Likeness | None":
        """The likeness of a request that has such a number."""
        end = request.find(b"\r\n\r\n") + 4
        length = LENGTH.search(request, 0, end)
        if length is None:
            return None
        return cls(request[: length.start(1)], request[length.end(1) : end])

    def body(self, data: bytes) -> bytes | None:
        """The body, where the data are one whole request with such a head."""
        before, after = self
        end = data.find(b"\r", len(before), len(before) + 6)
        start = end + len(after)
        is_alike = (
            data.startswith(before)
            and data.startswith(after, end)
            and data[len(before) : end] == b"%d" % (len(data) - start)
        )
        return data[start:] if is_alike else None


class BoundedHttpProtocol(HttpToolsProtocol):
    """HTTP/1.1 with an end to patience: for slow heads, endless heads, unread bodies.

    A POST to one of `quick_paths` that is there as a whole is offered to `at_once`. Where that has
    no answer, the request goes the way of all others, to the application. That way takes a task,
    two timers and a dozen objects a request: more than a small one is worth.

    Clients send the same head again and again. What is like the request before, byte for byte, is
    not parsed anew, and its connection's timer is left alone.
    """

    head_seconds: float = HEAD_SECONDS
    quick_paths: ClassVar[frozenset[bytes]] = frozenset()
    read_head: ClassVar[Callable[[str, Any, str], Any]]
    """(method, headers, address) → what `at_once` wants to know of a head."""
    at_once: ClassVar[Callable[[Any, bytes], bytes | None]]
    """(head, body) → an answer but for its first line; None: it takes longer."""
    _timer: Any = None
    _head_is_open = False
    _head_bytes = 0
    """Of the latest head, in earlier pieces than its last."""
    _held: bytearray | None = None
    _head: Any = None
    """Of the latest request that is, or was, to be answered at once."""
    _left_at_once = 0
    _likeness: Likeness | None = None
    """Of the request before, if it came alone and was answered at once: nothing is under way."""
    _used_at = 0.0

    def connection_made(self, transport: Any) -> None:
        """A new connection must send a whole head in time."""
        super().connection_made(transport)
        self.transport = WriteCoalescer(transport, self.loop)  # type: ignore[assignment]
        self._close_in(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._stay_open()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A head that is not complete yet is given a time and a size."""
        self._left_at_once = MOST_AT_ONCE
        body = None if self._likeness is None else self._likeness.body(data)
        if body is not None and len(body) <= MOST_HELD and not self.flow.write_paused:
            if self._was_answered(body):
                self._used_at = self.loop.time()
                return
            self._left_at_once = 0  # it was tried
        super().data_received(data)
        if self._held is not None:  # the application has its own time for the rest of the body
            self._go_on()
        if self._left_at_once == MOST_AT_ONCE - 1 and not self._head_bytes:
            self._remember(data)
        if self._head_is_open:
            self._head_bytes += len(data)
            if self._timer is None:
                self._close_in(self.head_seconds)
            if self._head_bytes > HEAD_BYTES:
                self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection, unless it was used since the timer was set."""
        left = self._used_at + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            again = self.loop.call_later(left, self.timeout_keep_alive_handler)
            self.timeout_keep_alive_task = again
        else:
            super().timeout_keep_alive_handler()

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._head_is_open, self._head_bytes, self._likeness = True, 0, None

    def on_headers_complete(self) -> None:
        """The head is complete: a small request waits for its body, which may be here already."""
        self._head_is_open = False
        self._stay_open()
        if self.url in self.quick_paths and self._is_quick():
            self._held = bytearray()
            address = self.client[0] if self.client else ""
            self._head = type(self).read_head("POST", self.headers, address)
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """What follows an early answer is read on for a while, and dropped."""
        if self._held is not None:
            self._held += body
            if len(self._held) > MOST_HELD:
                self._go_on()
            return
        super().on_body(body)
        if self.cycle.response_complete and self._timer is None:
            self._close_in(LINGER_SECONDS)

    def on_message_complete(self) -> None:
        """The body is complete."""
        self._stay_open()
        if self._held is not None:
            if self._was_answered(bytes(self._held)):
                self._held = None
                self.on_response_complete()
                return
            self._go_on()
        super().on_message_complete()

    def _is_quick(self) -> bool:
        """Whether the request can be answered at once, by its head and what went before."""
        parser, cycle = self.parser, self.cycle
        return (
            self._left_at_once > 0
            and parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not parser.should_upgrade()
            and not self.expect_100_continue
            and not self.flow.write_paused
            and (cycle is None or cycle.response_complete)
        )

    def _was_answered(self, body: bytes) -> bool:
        """Answer at once, where that is possible."""
        answer = type(self).at_once(self._head, body)
        if answer is None:
            return False
        self._left_at_once -= 1
        head = [b"%b: %b\r\n" % header for header in self.server_state.default_headers]
        self.transport.write(b"".join([STATUS_LINE[200], *head, answer]))
        return True

    def _remember(self, data: bytes) -> None:
        """Know a request like this one again, if it is all that came."""
        likeness = Likeness.of(data)
        if likeness is not None and likeness.body(data) is not None:
            self._likeness = likeness

    def _go_on(self) -> None:
        """Hand the request to the application, as far as it has arrived."""
        held, self._held = self._held, None
        if not self.transport.is_closing():
            super().on_headers_complete()
            super().on_body(bytes(held or b""))

    def _close_in(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self.transport.close)

    def _stay_open(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class WriteCoalescer:
    """A transport that sends all pieces of one turn of the loop in one system call.

    An answer's head and body go together, and under load the answers of many requests go out one
    after the other: the client's machine is woken once for them, not once for each.
    """

    __slots__ = ("_loop", "_pieces", "_size", "_transport", "is_closing")

    def __init__(self, transport: Any, loop: AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pieces: list[bytes] = []
        self._size = 0
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Send this piece at the end of the turn, or now where much is waiting."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MOST_WAITING:
            self._flush()

    def close(self) -> None:
        """Send what is left, then close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._pieces and not self.is_closing():
            self._transport.write(b"".join(self._pieces))
        self._pieces, self._size = [], 0
