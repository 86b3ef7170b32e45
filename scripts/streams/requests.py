"""Streams of requests, well framed and badly, from a seed; and what a rule says they are equal to.

A stream is made of requests that know their parts. So the same stream can be written again without
what one of our rules is about (an offer to upgrade, trailers), for a server that has no such rule.
"""

from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from random import Random

METHODS = [b"POST", b"POST", b"POST", b"GET", b"PUT", b"HEAD", b"DELETE", b"OPTIONS"]
ODD_METHODS = [b"CONNECT", b"get", b"G@T", b"", b"PRI", b"M-SEARCH"]
PATHS = [
    b"/quick",
    b"/quick",
    b"/quick",
    b"/echo",
    b"/echo?a=b%20c",
    b"/early",
    b"/slow",
    b"/stream",
]
ODD_PATHS = [b"*", b"http://here/echo", b"/echo#x", b"/\xc3\xa9", b"/a b", b"//echo", b"/quick?"]
ODD_VERSIONS = [b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.2", b"HTTX/1.1", b""]
HEADERS = [
    *(b"Host: here", b"Accept: */*", b"X-User: anna", b"X-User: ben", b"Expect: 100-continue"),
    *(b"Connection: keep-alive", b"Connection: close", b"Cookie: a=1", b"Cookie: b=2"),
    *(b"Content-Type: application/json", b"X-Empty:", b"X-Padded:  \t x \t", b"TE: trailers"),
]
ODD_HEADERS = [
    *(b"X Y: z", b"X-\x00: z", b"X-Z: \x00", b" Folded: x", b"X: a\r\n folded", b"NoColon"),
    *(b"Content-Length: 3", b"Content-Length: -1", b"Content-Length: 1,1", b"Content-Length: 0x1"),
    *(b"Content-Length: 99999999999999999999", b"Transfer-Encoding: gzip", b"X-8bit: \xff\xfe"),
    *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked, identity", b": x", b"X:\ty"),
    *(b"Transfer-Encoding: xchunked", b"Content-Length : 3", b"Connection: close, keep-alive"),
]
OFFERS = [
    (b"Connection: Upgrade", b"Upgrade: h2c"),
    (b"Connection: upgrade, http2-settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk"),
    (b"Upgrade: websocket", b"Connection: keep-alive, Upgrade"),
    (b"Upgrade: foo/2",),
]
TRAILERS = [b"X-User: admin", b"X-Sum: 1", b"Content-Length: 5", b"Host: elsewhere"]
ODD_CHUNKS = [b"4\r\nab\r\n", b"g\r\nabc\r\n", b"-1\r\n", b'4;x="y"\r\nabcd\r\n', b"04\r\nabcd\r\n"]
ENDS = [b"\r\n", b"\r\n", b"\r\n", b"\r\n", b"\n"]


@dataclass(frozen=True)
class Request:
    """One request, as its parts."""

    method: bytes
    path: bytes
    version: bytes
    headers: tuple[bytes, ...]
    body: bytes
    chunks: tuple[bytes, ...] | None = None
    """How the body is cut and framed; None: by Content-Length, or not at all."""
    offer: tuple[bytes, ...] = ()
    trailers: tuple[bytes, ...] = ()
    before: bytes = b""
    end: bytes = b"\r\n"
    end_of_head: bytes = b""
    """Instead of an empty line."""
    length: int | None = None
    """The Content-Length that is claimed; None: none."""

    def segments(self) -> list[tuple[bytes, str]]:
        """Its bytes, and what each piece of them is: "", `offer` or `trailers`."""
        framing: tuple[bytes, ...] = ()
        if self.chunks is not None:
            framing = (b"Transfer-Encoding: chunked",)
        elif self.length is not None:
            framing = (b"Content-Length: %d" % self.length,)
        line = b" ".join((self.method, self.path, self.version))
        lines = [(each + self.end, "") for each in (line, *self.headers, *framing)]
        lines += [(each + self.end, self._part_of_offer(each)) for each in self.offer]
        lines.append((self.end_of_head or self.end, ""))
        return [(self.before, ""), *lines, (self.body, ""), *self._chunked()]

    def _part_of_offer(self, line: bytes) -> str:
        """What `Connection` says of it stays; an Upgrade without that is none."""
        return "offer" if line.startswith(b"Upgrade") and len(self.offer) > 1 else ""

    def _chunked(self) -> list[tuple[bytes, str]]:
        if self.chunks is None:
            return []
        chunks = [(chunk, "") for chunk in (*self.chunks, b"0\r\n")]
        # A Content-Length among trailers is an error: it is no part that can be left out.
        kinds = ["" if line.startswith(b"Content-Length") else "trailers" for line in self.trailers]
        trailers = [
            (b"%b\r\n" % line, kind) for line, kind in zip(self.trailers, kinds, strict=True)
        ]
        return [*chunks, *trailers, (b"\r\n", "")]


@dataclass(frozen=True)
class Stream:
    """Requests, and how their bytes arrive."""

    requests: tuple[Request, ...]
    cuts: tuple[float, ...]
    """Where pieces end, as shares of the whole."""
    turns: tuple[int, ...]
    """How many turns of the loop pass after each piece."""
    damage: tuple[tuple[float, int], ...] = field(default=())
    """Bytes that are replaced: where, as a share, and by what."""

    left_out: tuple[str, ...] = ()
    """Parts of requests that do not arrive; all else arrives when it would."""

    def pieces(self) -> list[bytes]:
        """The bytes as they arrive; an empty piece is one of which everything was left out."""
        segments = [each for request in self.requests for each in request.segments()]
        whole = bytearray(b"".join(data for data, _ in segments))
        for share, value in self.damage:
            whole[int(share * len(whole))] = value
        stays = [kind not in self.left_out for data, kind in segments for _ in data]
        places = [0, *sorted(int(share * len(whole)) for share in self.cuts), len(whole)]
        pairs = [pair for pair in pairwise(places) if pair[0] < pair[1]]
        return [bytes(compress(whole[a:b], stays[a:b])) for a, b in pairs]

    def without(self, *parts: str) -> "Stream":
        """The same, without these parts (`offer`, `trailers`) of its requests."""
        return replace(self, left_out=parts)


def a_stream(seed: int) -> Stream:
    """The stream of a seed."""
    random = Random(seed)
    requests = tuple(a_request(random) for _ in range(random.choice((1, 1, 2, 3, 5))))
    n_pieces = random.choice((1, 1, 2, 3, 8, 40))
    cuts = tuple(random.random() for _ in range(n_pieces - 1))
    turns = tuple(random.choice((0, 0, 1, 2, 5)) for _ in range(n_pieces))
    is_plain = not any(request.offer or request.trailers for request in requests)
    damage: tuple[tuple[float, int], ...] = ()
    if is_plain and random.random() < 0.2:
        damage = tuple((random.random(), random.randrange(256)) for _ in range(2))
    return Stream(requests, cuts, turns, damage)


def a_request(random: Random) -> Request:
    """Some request; most of them are well framed."""
    odd = random.random() < 0.25
    headers = random.choices(HEADERS, k=random.randint(0, 4))
    if odd:
        headers.insert(random.randint(0, len(headers)), random.choice(ODD_HEADERS))
    body = bytes(random.choices(b'{"a": [1]}x\r\n', k=random.choice((0, 3, 10, 200, 20_000))))
    framed = replace(_framed(random, body, odd), headers=tuple(headers))
    return replace(
        framed,
        method=random.choice(ODD_METHODS if odd and random.random() < 0.2 else METHODS),
        path=random.choice(ODD_PATHS if odd and random.random() < 0.3 else PATHS),
        version=random.choice(ODD_VERSIONS) if odd and random.random() < 0.3 else b"HTTP/1.1",
        offer=random.choice(OFFERS) if random.random() < 0.1 else (),
        before=b"\r\n" if odd and random.random() < 0.2 else b"",
        end=random.choice(ENDS) if odd else b"\r\n",
    )


def _framed(random: Random, body: bytes, odd: bool) -> Request:
    """A body by chunks, by its length, by a wrong length, or without any frame."""
    empty = Request(b"", b"", b"", (), b"")
    kind = random.random()
    if kind < 0.3:
        chunks = list(_chunks(random, body))
        if odd and random.random() < 0.5:
            chunks.append(random.choice(ODD_CHUNKS))
        trailers = tuple(random.choices(TRAILERS, k=random.choice((0, 0, 1, 2))))
        return replace(empty, chunks=tuple(chunks), trailers=trailers)
    if kind < 0.9 or not odd:
        return replace(empty, body=body, length=len(body) if body or kind < 0.6 else None)
    return replace(empty, body=body, length=max(0, len(body) + random.choice((-2, -1, 1, 5))))


def _chunks(random: Random, body: bytes) -> list[bytes]:
    size = random.choice((1, 7, 1000, 30_000)) if len(body) < 300 else random.choice((999, 30_000))
    cut = [body[at : at + size] for at in range(0, len(body), size)]
    extension = random.choice((b"", b"", b";a=b"))
    return [b"%x%b\r\n%b\r\n" % (len(piece), extension, piece) for piece in cut]
