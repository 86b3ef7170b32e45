"""FastPath: answers a small request inside the HTTP protocol, without a task or ASGI messages."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

MAX_BODY_BYTES = 16_384
"""Longer bodies go to the application."""
MAX_CONSECUTIVE = 16
"""Pipelined requests answered in one turn of the loop, while all other connections wait."""

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]


class FastPath(NamedTuple):
    """Which requests are offered to `respond`: POSTs to one of `paths` that arrived as a whole."""

    paths: frozenset[bytes]
    respond: "Respond"


class Respond(Protocol):
    """Gives headers and body of a 200 answer; None where the application is to be asked."""

    def __call__(self, headers: Headers, address: str, body: bytes) -> tuple[Headers, bytes] | None:
        """The answer to a request with these headers from this address."""
        ...


NO_FAST_PATH = FastPath(frozenset(), lambda headers, address, body: None)
