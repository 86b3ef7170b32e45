"""Answers of any length, sent in pieces: as fast as the client reads, and no faster."""

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.http.request_context import Headers
from app.errors import DeadlineError
from app.serving.service import Service
from app.serving.unsent_answers import Pieces


async def send_in_pieces(send: Send, headers: Headers, pieces: Pieces, service: Service) -> None:
    """Send an answer, and drop each piece when it is sent; OverloadedError before it has begun.

    The server waits before each piece until the connection has taken the one before. Who reads
    too slowly is cut off there; who reads for longer than an evaluation may take, here.
    """
    seconds = service.settings.evaluate_seconds
    with service.unsent.take(sum(map(len, pieces))) as unsent:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if len(pieces) == 1:
            await send({"type": "http.response.body", "body": pieces.pop()})
            return
        try:
            async with asyncio.timeout(seconds):
                waiting = 0
                while pieces:
                    piece = pieces.popleft()
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    unsent.sent(waiting)
                    waiting = len(piece)
                    await asyncio.sleep(0)  # others have their turn, however fast this one reads
                await send({"type": "http.response.body"})
        except TimeoutError:
            raise DeadlineError("the answer was not read in the time allowed") from None


class PiecewiseResponse(Response):
    """The same as a response for routes of the framework; it is sent once."""

    def __init__(self, pieces: Pieces, headers: dict[str, str], service: Service) -> None:
        super().__init__(headers={**headers, "content-length": str(sum(map(len, pieces)))})
        self._pieces, self._service = pieces, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send_in_pieces(send, self.raw_headers, self._pieces, self._service)
