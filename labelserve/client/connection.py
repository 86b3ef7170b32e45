"""How both clients set up httpx, and what its answers and errors are to an exchange."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from labelserve.client.exchange import NoReply, Reply, ServiceCall

PIECE = 1 << 16
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a service is, and how it is asked."""

    url: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 3

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError("the address of a service begins with http:// or https://")

    def options(self, further: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments for an httpx client; `further` ones are the caller's own."""
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        ours = {"base_url": self.url, "headers": headers, "timeout": self.timeout}
        return {**ours, **further}

    def request(self, call: ServiceCall) -> dict[str, Any]:
        """Keyword arguments for the request, but its content."""
        return {
            "method": call.method,
            "url": call.path,
            "params": call.query,
            "headers": call.headers,
            "timeout": httpx.Timeout(self.timeout, read=call.seconds or self.timeout),
        }


def reply_of(response: httpx.Response) -> Reply:
    """An answer that was read whole."""
    return Reply(response.status_code, response.headers, response.content)


def no_reply(error: httpx.TransportError) -> NoReply:
    """Why there is no answer; the address is not in it, because it may hold a secret."""
    reason = f"{type(error).__name__}: {error}".rstrip(": ")
    is_timeout = isinstance(error, httpx.TimeoutException)
    return NoReply(reason, not isinstance(error, NOT_SENT), is_timeout)


async def pieces(file: Path) -> AsyncIterator[bytes]:
    """A file's bytes, read in a thread: a disk may be slow."""
    with file.open("rb") as opened:
        while piece := await asyncio.to_thread(opened.read, PIECE):
            yield piece
