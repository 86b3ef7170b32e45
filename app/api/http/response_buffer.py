"""ResponseBuffer: sends an answer while its next part is made, bounded in bytes and time."""

import asyncio
from collections import deque
from collections.abc import Awaitable

from starlette.types import Send

from app.errors import DeadlineError
from app.serving.admission import Deadline
from app.serving.unsent_answers import PIECE_BYTES, UnsentAnswer, UnsentAnswers

MOST_WAITING = 4 << 20
"""Bytes of answers kept for clients that read only after they have sent everything."""


class ResponseBuffer:
    """Sends in the background, so that a client which does not read yet can still send."""

    def __init__(self, send: Send, deadline: Deadline, unsent: UnsentAnswers) -> None:
        self._send, self._deadline, self._unsent = send, deadline, UnsentAnswer(unsent)
        self._waiting, self._size = deque[bytes](), 0
        self._is_closed = False
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> "ResponseBuffer":
        self._sending = asyncio.ensure_future(self._deliver())
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._sending.cancel()
        self._unsent.close()

    async def put(self, data: bytes) -> None:
        """Add to what is to be sent; waits while too much of it is waiting."""
        await self._in_time(self._put(data))

    async def close(self) -> None:
        """Nothing more will be added; waits until everything is sent."""
        async with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        await self._in_time(self._sending)

    async def _in_time(self, work: Awaitable[None]) -> None:
        try:
            await asyncio.wait_for(work, self._deadline.remaining)
        except TimeoutError:
            raise DeadlineError("the answer was not read in the time allowed") from None

    async def _put(self, data: bytes) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._size < MOST_WAITING)
            self._waiting.append(data)
            self._size += len(data)
            self._unsent.add(len(data))
            self._changed.notify_all()

    async def _deliver(self) -> None:
        """Send until everything is sent and the buffer is closed."""
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: self._waiting or self._is_closed)
                data = self._next()
                is_last = self._is_closed and not self._waiting
                self._changed.notify_all()
            await self._send({"type": "http.response.body", "body": data, "more_body": not is_last})
            self._unsent.sent(len(data))
            if is_last:
                return

    def _next(self) -> bytes:
        """The pieces that are sent together: small ones as one, large ones as they are."""
        pieces, size = list[bytes](), 0
        while self._waiting and size < PIECE_BYTES:
            pieces.append(self._waiting.popleft())
            size += len(pieces[-1])
        self._size -= size
        return b"".join(pieces)
