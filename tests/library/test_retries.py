"""When a client tries again: against a server that fails as it is told to."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

import labelserve
from labelserve.client import exchange
from labelserve.client.errors import BusyError, FailedError, UnansweredError

ANSWER = b'{"labels":[{"label":"billing","score":1.5}]}\n'
BUSY = {"type": "urn:labelserve:error:too-many-requests", "status": 429, "detail": "wait"}
Script = list[tuple[int, dict[str, str], bytes] | None]
"""Status, headers and body of each answer in turn; None: the connection is cut."""


@contextmanager
def service(script: Script) -> Iterator[tuple[str, list[str]]]:
    """A server that answers by the script, and the id of each request it got."""
    seen: list[str] = []
    left = iter(script)

    class Scripted(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            seen.append(self.headers["x-request-id"])
            answer = next(left)
            if answer is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, headers, body = answer
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "FIRST_WAIT", 0.001)


def busy(status: int, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return status, headers, json.dumps({**BUSY, "status": status}).encode()


def predicted(url: str, **options: Any) -> list[labelserve.TextPrediction]:
    with labelserve.Client(url, **options) as client:
        return client.predict(["a"])


async def predicted_later(url: str) -> list[labelserve.TextPrediction]:
    async with labelserve.AsyncClient(url) as client:
        return await client.predict(["a"])


def test_a_busy_service_and_a_broken_connection_are_asked_again() -> None:
    script: Script = [busy(429, **{"retry-after": "0"}), None, busy(503), (200, {}, ANSWER)]
    for ask in (predicted, lambda url: asyncio.run(predicted_later(url))):
        with service(script) as (url, seen):
            assert ask(url)[0].labels == ("billing",)
        assert len(seen) == 4
        assert len(set(seen)) == 1  # one request in the service's log, however often it is sent


def test_it_gives_up_after_so_many_tries() -> None:
    with service([busy(503)] * 9) as (url, seen), pytest.raises(BusyError, match="wait"):
        predicted(url, retries=2)
    assert len(seen) == 3


@pytest.mark.parametrize(
    "answer",
    [
        busy(429, **{"retry-after": "86400"}),
        (500, {}, b"<html>"),
        (422, {}, b"{}"),
        (502, {}, b"[]"),
    ],
    ids=["in a day", "a fault", "a refusal", "a gateway"],
)
def test_what_will_not_be_better_soon_is_not_asked_again(answer: Any) -> None:
    with service([answer, (200, {}, ANSWER)]) as (url, seen):
        with pytest.raises(labelserve.ServiceError) as caught:
            predicted(url)
        assert caught.value.status == answer[0]
    assert len(seen) == 1


def test_an_evaluation_that_may_have_begun_is_not_begun_again() -> None:
    with service([None, (200, {}, b"{}")]) as (url, seen), labelserve.Client(url) as client:
        with pytest.raises(UnansweredError, match="no answer: RemoteProtocolError"):
            client.evaluate(["a"], [["billing"]])
        assert len(seen) == 1


def test_a_service_that_nobody_runs_is_an_error_without_an_answer() -> None:
    with pytest.raises(UnansweredError, match=r"no answer: ConnectError.*\(request py-"):
        predicted("http://127.0.0.1:1", retries=1)


def test_an_answer_with_too_few_lines_is_not_taken_for_the_whole() -> None:
    with (
        service([(200, {}, b"")]) as (url, _),
        pytest.raises(FailedError, match="1 texts were sent, and 0 predictions came back"),
    ):
        predicted(url)
