"""An HTTP/1.1 client with little work of its own, so that the long runs measure the service."""

import asyncio
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from bench.harness.environment import WORK

JSON, NDJSON = "application/json", "application/x-ndjson"
LOST = 0
"""The status of a request whose connection broke."""

FAILURES = WORK / "soak-failures.jsonl"
"""Every request that was lost or answered 5xx, with its time: added to, never emptied."""

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, and how many seconds after the request was sent."""

    status: int
    seconds: float
    headers: dict[str, str]
    body: bytes = b""

    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


def request(path: str, body: bytes | None = None, kind: str = JSON) -> bytes:
    """The bytes of a POST with this body, or of a GET."""
    if body is None:
        return f"GET {path} HTTP/1.1\r\nHost: soak\r\n\r\n".encode()
    return head(path, kind, f"Content-Length: {len(body)}") + body


def head(path: str, kind: str, *headers: str) -> bytes:
    """The head of a POST."""
    lines = [f"POST {path} HTTP/1.1", "Host: soak", f"Content-Type: {kind}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def prediction(documents: list[str], **asked: Any) -> bytes:
    """The bytes of a request for predictions."""
    return request("/predict", json.dumps({"documents": documents, **asked}).encode())


class Client:
    """Sends to one port over connections that it keeps."""

    def __init__(self, port: int) -> None:
        self._port, self._idle = port, list[Connection]()

    async def open(self) -> Connection:
        """A new connection."""
        return await asyncio.open_connection("127.0.0.1", self._port)

    async def _free(self) -> Connection:
        """A connection that nobody uses; one that the service has closed meanwhile is let go."""
        while self._idle:
            connection = self._idle.pop()
            if not connection[0].at_eof():
                return connection
            connection[1].close()
        return await self.open()

    async def send(self, content: bytes) -> Answer:
        """The answer to these bytes; status LOST where the connection broke."""
        answer = await self._answer(content)
        if answer.status == LOST or answer.status >= 500:
            _keep(content, answer)
        return answer

    async def _answer(self, content: bytes) -> Answer:
        start = perf_counter()
        try:
            connection = await self._free()
            connection[1].write(content)
            answer = await read_answer(connection[0], start)
        except (OSError, EOFError) as error:
            return Answer(LOST, perf_counter() - start, {}, repr(error).encode())
        if answer.headers.get("connection") == "close":
            connection[1].close()
        else:
            self._idle.append(connection)
        return answer

    async def paced(
        self, content: bytes, rate: float, seconds: float, *, evenly: bool = False
    ) -> list[Answer]:
        """So many a second on average, sent whether or not earlier ones have been answered.

        They come as from many clients that know nothing of each other (a Poisson process), or
        evenly spaced.
        """
        loop, sent, pick = asyncio.get_running_loop(), [], random.Random(1)
        due = loop.time()
        for _ in range(max(1, int(rate * seconds))):
            due += 1 / rate if evenly else pick.expovariate(rate)
            await asyncio.sleep(max(0.0, due - loop.time()))
            sent.append(asyncio.create_task(self.send(content)))
        return await asyncio.gather(*sent)

    async def repeated(self, content: bytes, done: asyncio.Event, pause: float) -> list[Answer]:
        """One after the other, with a pause between, until told to stop."""
        found = []
        while not done.is_set():
            found.append(await self.send(content))
            await asyncio.sleep(pause)
        return found

    async def rate(self, content: bytes, clients: int, seconds: float) -> float:
        """Answers a second that so many clients get when each waits for its answer."""
        done = asyncio.Event()
        asyncio.get_running_loop().call_later(seconds, done.set)
        answers = await asyncio.gather(*(self.repeated(content, done, 0.0) for _ in range(clients)))
        return sum(answer.status == 200 for each in answers for answer in each) / seconds

    def close(self) -> None:
        """Close what is kept."""
        for _, writer in self._idle:
            writer.close()
        self._idle.clear()


def _keep(content: bytes, answer: Answer) -> None:
    """Note a failure down; the service's own log can be compared by time and request id."""
    line = {
        "time": datetime.now(UTC).isoformat(),
        "request": content.partition(b"\r\n")[0].decode(),
        "status": answer.status,
        "seconds": answer.seconds,
        "request_id": answer.headers.get("x-request-id"),
        "body": answer.body[:2000].decode(errors="replace"),
    }
    WORK.mkdir(parents=True, exist_ok=True)
    with FAILURES.open("a") as file:
        file.write(json.dumps(line) + "\n")


async def read_answer(reader: asyncio.StreamReader, start: float) -> Answer:
    """The next answer of a connection."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    if headers.get("transfer-encoding") == "chunked":
        body = await _chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Answer(int(first.split()[1]), perf_counter() - start, headers, body)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    pieces, size = [], 1
    while size:
        size = int(await reader.readline(), 16)
        pieces.append((await reader.readexactly(size + 2))[:-2])
    return b"".join(pieces)


def p99(answers: list[Answer]) -> float:
    """The time within which 99 % of them came; NaN where there is none."""
    times = sorted(answer.seconds for answer in answers)
    return times[int(len(times) * 0.99)] if times else float("nan")
