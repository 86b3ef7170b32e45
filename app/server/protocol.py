"""BoundedHttpProtocol: uvicorn's HTTP/1.1 protocol with bounds on time and size, and a fast path.

uvicorn has no hook for any of this, so its protocol class is extended: this file and its tests
(tests/canaries/test_uvicorn.py) are what to look at when uvicorn changes.
"""

from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.server.fast_path import MAX_BODY_BYTES, MAX_CONSECUTIVE, NO_FAST_PATH, FastPath, Headers
from app.server.upgrade_offers import CONNECT, head_without_offer
from app.server.write_coalescer import WriteCoalescer

HEAD_SECONDS, HEAD_BYTES = 10.0, 65_536
LINGER_SECONDS = 30  # for reading on after an early answer, so that the client gets to read it
INVALID = "Invalid HTTP request received."


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection: slow heads, endless heads and bodies that nobody wants are cut off.

    A request that `fast_path` accepts waits for its body, which has mostly come with its head. If
    the body is complete in the same turn of the loop and the fast path has an answer, that is
    written at once; otherwise the request is handed to the application from its beginning. A task,
    two timers and a dozen objects a request, which the application takes, cost more than a small
    prediction does.
    """

    _close_timer: Any = None
    _is_head_open = False
    _is_trailer_open = False
    """Whether a chunk's size was the last thing to come: the end of a body has trailers next."""
    _head_bytes = -1
    """Of the head or the trailers that are being received, without the first piece; -1: only that
    has come."""
    _body: bytearray | None = None
    """The body of a request that waits for the fast path; None: there is no such request."""
    _answers_left = 0
    _idle_since = 0.0

    def __init__(
        self,
        *arguments: Any,
        fast_path: FastPath = NO_FAST_PATH,
        head_seconds: float = HEAD_SECONDS,
        **named: Any,
    ) -> None:
        super().__init__(*arguments, **named)
        self._fast_path, self._head_seconds = fast_path, head_seconds
        self._pieces: list[bytes] = []  # of a body, of this turn, on their way to the application

    def connection_made(self, transport: Any) -> None:
        """A new connection must send a whole head in time."""
        super().connection_made(transport)
        self.transport = WriteCoalescer(transport, self.loop)  # type: ignore[assignment]
        self._close_in(self._head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._stay_open()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the data; a head that is not complete yet is given a time and a size.

        The keep-alive timer goes on running: see `timeout_keep_alive_handler`.
        """
        self._answers_left = MAX_CONSECUTIVE
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self.send_400_response(INVALID)
            return
        if self._body is not None:  # the application has its own time for the rest of the body
            self._hand_over()
        if self._pieces:
            self._pass_on()
        if self._is_head_open or self._is_trailer_open:
            self._bound_head(len(data))

    def on_message_begin(self) -> None:
        """A head begins; what the application needs besides is made in `_start_application`."""
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self._is_head_open, self._head_bytes = True, -1

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header of the head. What comes later is a trailer and never becomes a header:
        gateways check and replace headers, and pass trailers on as the client sent them."""
        if not self._is_head_open:
            return
        # As uvicorn does it: to ask it would take as long again, for each header.
        name = name.lower()
        self.headers.append((name, value))
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True

    def on_headers_complete(self) -> None:
        """The head is complete: a small request waits for its body."""
        if self.parser.should_upgrade():  # it is read again, without the offer: see `_parse`
            return
        self._is_head_open = False
        self._stay_open()
        if self.url in self._fast_path.paths and self._may_answer():
            self._body = bytearray()
        else:
            self._start_application()

    def on_chunk_header(self) -> None:
        """The size of a chunk: its data follow, or trailers, which the parser keeps in memory."""
        self._is_trailer_open, self._head_bytes = True, -1

    def on_body(self, body: bytes) -> None:
        """A piece of the body: a chunk, or what the data have of one."""
        self._is_trailer_open = False
        if self._body is None:
            self._pieces.append(body)
            return
        self._body += body
        if len(self._body) > MAX_BODY_BYTES:
            self._hand_over()

    def on_message_complete(self) -> None:
        """The body is complete: answer now, or let the application do it."""
        if self._is_head_open:  # of a head with an offer, behind which the parser sees no body
            return
        self._is_trailer_open = False
        self._stay_open()
        if self._body is not None:
            if self._is_answered(bytes(self._body)):
                return
            self._hand_over()
        if self._pieces:
            self._pass_on()
        if self.cycle is not None:  # None: the connection closes before its first request
            super().on_message_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that is idle; look again later where it was used meanwhile.

        Setting a timer anew for each request costs more than looking twice at an idle connection.
        """
        self.timeout_keep_alive_task = None
        if self._is_head_open or not (self.cycle is None or self.cycle.response_complete):
            return  # the end of that request sets the timer
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._wait_idle(left)
        else:
            super().timeout_keep_alive_handler()

    def _parse(self, data: bytes) -> None:
        """Parse the data; offers to upgrade to another protocol are not taken."""
        rest: bytes | memoryview = data
        while rest:
            try:
                self.parser.feed_data(rest)
            except httptools.HttpParserUpgrade as offer:
                rest = memoryview(rest)[offer.args[0] :]
                self._ignore_offer()
            else:
                return

    def _ignore_offer(self) -> None:
        """Begin anew with the head that has just been parsed, as if it offered nothing."""
        offering = self.parser
        if offering.get_method() == CONNECT:
            raise httptools.HttpParserError("no tunnels")
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        version = offering.get_http_version()
        head = head_without_offer(offering.get_method(), self.url, version, self.headers)
        self.parser.feed_data(head)

    def _may_answer(self) -> bool:
        """Whether the fast path may answer, by the request's head and what went before it."""
        parser, cycle = self.parser, self.cycle
        return (
            self._answers_left > 0
            and parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not self.expect_100_continue
            and not self.flow.write_paused
            and (cycle is None or cycle.response_complete)
        )

    def _is_answered(self, body: bytes) -> bool:
        """Answer by the fast path, where that has an answer."""
        address = self.client[0] if self.client else ""
        answer = self._fast_path.respond(self.headers, address, body)
        if answer is None:
            return False
        self._body = None
        self._answers_left -= 1
        self._write(*answer)
        self.server_state.total_requests += 1
        self._idle_since = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._wait_idle(self.timeout_keep_alive)
        return True

    def _write(self, headers: Headers, body: bytes) -> None:
        lines = [b"%b: %b\r\n" % line for line in (*self.server_state.default_headers, *headers)]
        self.transport.write(b"".join((STATUS_LINE[200], *lines, b"\r\n", body)))

    def _hand_over(self) -> None:
        """Give the request to the application, as far as it has arrived."""
        body, self._body = self._body, None
        if not self.transport.is_closing():
            self._start_application()
            super().on_body(bytes(body or b""))

    def _pass_on(self) -> None:
        """Give the turn's pieces of a body to the application.

        All at once: a chunk may be a byte long, and uvicorn adds each piece to all before it. What
        follows an early answer is read on for a while, and dropped.
        """
        body = b"".join(self._pieces)
        self._pieces.clear()
        super().on_body(body)
        if self.cycle.response_complete and self._close_timer is None:
            self._close_in(LINGER_SECONDS)

    def _start_application(self) -> None:
        """Make the ASGI scope of the request whose head is complete, and start the application."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)  # the scope holds this very list
        super().on_headers_complete()

    def _bound_head(self, n_bytes: int) -> None:
        """Count another piece of a head, or of trailers, that are not complete yet.

        Where they began in their first piece is not known: whole requests may lie before them.
        """
        self._head_bytes = 0 if self._head_bytes < 0 else self._head_bytes + n_bytes
        if self._close_timer is None and self._is_head_open:
            self._close_in(self._head_seconds)
        if self._head_bytes > HEAD_BYTES:
            self.transport.close()

    def _wait_idle(self, seconds: float) -> None:
        timer = self.loop.call_later(seconds, self.timeout_keep_alive_handler)
        self.timeout_keep_alive_task = timer

    def _close_in(self, seconds: float) -> None:
        self._close_timer = self.loop.call_later(seconds, self.transport.close)

    def _stay_open(self) -> None:
        if self._close_timer is not None:
            self._close_timer.cancel()
            self._close_timer = None
