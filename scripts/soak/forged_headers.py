"""What only a gateway may say (R23): trailers, repeated headers and upgrade offers of clients."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.harness.processes import free_ports
from bench.harness.server_process import ServerProcess, replica
from soak.findings import Findings
from soak.gateway import GATEWAYS
from soak.raw_requests import ADMIN, H2C, JSON, NDJSON, WEBSOCKET, chunked, sized, split, statuses

EVE = {"X-Forwarded-User": "eve", "X-Forwarded-Groups": "labelserve-predict"}
SETTINGS = {"LABELSERVE_AUTH": "proxy", "LABELSERVE_TRUSTED_PROXIES": "127.0.0.0/8"}
DIRECTLY = "directly"
BODY = b'{"documents": ["my invoice was charged twice"]}'
REPEATED = (
    b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
    b"Content-Type: application/x-ndjson\r\n",
    b"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n",
    b"Content-Length: 1\r\n",
)
PIECES, PAUSE = 4, 0.001


@dataclass(frozen=True)
class Kind:
    """Requests of one kind, each to be answered in the same way."""

    name: str
    requests: tuple[bytes, ...]
    right: list[int]


def forged_headers(models: Path, folder: Path, quick: bool) -> Findings:
    """R23: every kind, directly and through each gateway, cut into pieces at random places."""
    found, count, pick = Findings(), 20 if quick else 500, random.Random(23)
    for way in (DIRECTLY, *GATEWAYS):
        with _running(way, models, folder) as port:
            for kind in _kinds(way):
                wrong = _wrong(kind, port, count, pick)
                words = f"{way}: {count} {kind.name}, {len(wrong)} answered wrongly"
                found.note(f"{words} {wrong[0] if wrong else ''}".strip(), not wrong)
    return found


def _kinds(way: str) -> list[Kind]:
    """What is sent by this way; without a gateway the client says itself that it is Eve."""
    lines = [f"{name}: {value}\r\n".encode() for name, value in EVE.items()]
    eve = b"".join(lines) if way == DIRECTLY else b""
    repeated = (*REPEATED, *lines) if way == DIRECTLY else REPEATED
    last = sized(b"POST /predict", JSON + eve, BODY)
    return [
        Kind("trailers", (chunked(b"POST /evaluate", NDJSON + eve, b"{}\n", ADMIN),), [403]),
        Kind(
            "repeated headers",
            tuple(sized(b"POST /predict", JSON + eve + twice, BODY) for twice in repeated),
            [400],
        ),
        Kind(
            "offers",
            tuple(sized(b"POST /predict", JSON + eve + o, BODY) + last for o in (H2C, WEBSOCKET)),
            [200, 200],
        ),
    ]


def _wrong(kind: Kind, port: int, count: int, pick: random.Random) -> list[list[int]]:
    """The statuses of those that were not answered as they should be."""
    answered = []
    for number in range(count):
        sent = kind.requests[number % len(kind.requests)]
        places = pick.sample(range(1, len(sent)), pick.randrange(PIECES))
        answered.append(statuses(port, *split(sent, places), pause=PAUSE))
    return [each for each in answered if each != kind.right]


@contextmanager
def _running(way: str, models: Path, folder: Path) -> Iterator[int]:
    """The port to ask: a replica that believes its gateway, or a gateway before it."""
    port, inside = free_ports(2)
    processes: list[ServerProcess] = [replica(models, inside, folder, **SETTINGS)]
    if way != DIRECTLY:
        _, gateway = GATEWAYS[way]
        processes.append(gateway(port, [inside, inside], folder, EVE))
    try:
        for process in processes:
            process.start()
            process.wait_until_ready()
        yield processes[-1].port
    finally:
        for process in reversed(processes):
            process.end()
