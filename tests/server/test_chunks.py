"""A body that comes in chunks of a byte costs little more than its parsing."""

import asyncio
from collections.abc import Callable
from time import thread_time

import httptools

from tests.server.test_protocol import Echo, Wire, answered, serving

HEAD = b"POST /ordinary HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
COUNT = 40_000
CHUNKS = b"1\r\na\r\n" * COUNT
ROUNDS = 5


class Nothing:
    """What the parser calls, at the least cost."""

    def on_chunk_header(self) -> None:
        """A chunk begins."""

    def on_body(self, body: bytes) -> None:
        """A chunk's data."""


def test_a_body_in_small_chunks_is_the_same_body() -> None:
    echo, written = answered(HEAD, CHUNKS[: 6 * 1000 + 2], CHUNKS[6 * 1000 + 2 :] + b"0\r\n\r\n")
    assert echo.ordinary_bodies == [b"a" * COUNT]
    assert written.startswith(b"HTTP/1.1 204")


def test_small_chunks_cost_little_more_than_their_parsing() -> None:
    async def least() -> tuple[float, float]:
        protocol = serving(Echo())()
        protocol.connection_made(Wire())  # type: ignore[arg-type]
        protocol.data_received(HEAD)
        await asyncio.sleep(0)
        parser = httptools.HttpRequestParser(Nothing())
        parser.feed_data(HEAD)
        ours = await least_seconds(protocol.data_received)
        bare = await least_seconds(parser.feed_data)
        protocol.connection_lost(None)
        await asyncio.sleep(0)
        return ours, bare

    ours, bare = asyncio.run(least())
    assert ours < 3 * bare


async def least_seconds(feed: Callable[[bytes], object]) -> float:
    """The least CPU time of this thread that the chunks have taken; others run in between."""
    times = []
    for _ in range(ROUNDS):
        start = thread_time()
        feed(CHUNKS)
        times.append(thread_time() - start)
        await asyncio.sleep(0)
    return min(times)
