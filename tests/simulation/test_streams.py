"""Our protocol answers every stream of bytes as plain uvicorn does, but for what rules explain."""

import asyncio
from collections.abc import Callable

import pytest
from streams.conversation import ours, outcome, plain
from streams.requests import Request, Stream, a_stream
from streams.run import verdict, verdicts

STREAMS = 300


def test_every_difference_from_uvicorn_is_explained() -> None:
    found = verdicts(0, STREAMS)
    assert [seed for seed, said in found.items() if said == "unexplained"] == []
    assert sum(said == "equal" for said in found.values()) > STREAMS / 2


def test_a_stream_is_the_same_again() -> None:
    assert [a_stream(seed).pieces() for seed in range(50)] == [
        a_stream(seed).pieces() for seed in range(50)
    ]


PROTOCOL = "app.server.protocol.BoundedHttpProtocol."
DIFFERENCES: dict[str, Callable[..., None]] = {
    "on_message_complete": lambda self: None,
    "_pass_on": lambda self: self._pieces.clear(),
    "_parse": lambda self, data: self.transport.close(),
}


@pytest.mark.parametrize("method", DIFFERENCES)
def test_a_planted_difference_is_not_explained(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PROTOCOL + method, DIFFERENCES[method])
    assert "unexplained" in verdicts(0, 20).values()


def test_an_offer_and_trailers_are_left_out_and_nothing_else() -> None:
    request = Request(
        *(b"POST", b"/echo", b"HTTP/1.1", (b"Host: here",), b""),
        chunks=(b"1\r\na\r\n",),
        offer=(b"Connection: Upgrade", b"Upgrade: h2c"),
        trailers=(b"X: y",),
    )
    stream = Stream((request,), cuts=(), turns=(1,))
    assert stream.pieces()[0].count(b"Upgrade: h2c\r\n") == 1
    without = b"".join(stream.without("offer", "trailers").pieces())
    assert without.endswith(b"chunked\r\nConnection: Upgrade\r\n\r\n1\r\na\r\n0\r\n\r\n")
    assert asyncio.run(verdict(stream)) == "offer and trailers"
    mine, theirs = (asyncio.run(outcome(stream, server)) for server in (ours, plain))
    assert mine != theirs
