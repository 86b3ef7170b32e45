"""ResponseBuffer: sends an answer while its next part is made, bounded in bytes and time."""

import asyncio
from collections.abc import Awaitable

from starlette.types import Send

from app.errors import DeadlineError
from app.serving.admission import Deadline

MOST_WAITING = 4 << 20
"""Bytes of answers kept for clients that read only after they have sent everything."""


class ResponseBuffer:
    """Sends in the background, so that a client which does not read yet can still send."""

    def __init__(self, send: Send, deadline: Deadline) -> None:
        self._send, self._deadline, self._waiting = send, deadline, bytearray()
        self._is_closed = False
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> "ResponseBuffer":
        self._sending = asyncio.ensure_future(self._deliver())
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._sending.cancel()

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
            await self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING)
            self._waiting += data
            self._changed.notify_all()

    async def _deliver(self) -> None:
        """Send until everything is sent and the buffer is closed."""
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: self._waiting or self._is_closed)
                data, self._waiting = bytes(self._waiting), bytearray()
                is_last = self._is_closed
                self._changed.notify_all()
            await self._send({"type": "http.response.body", "body": data, "more_body": not is_last})
            if is_last:
                return
