"""Upgrade offers (RFC 9110, 7.8): a request that offers another protocol, read without its offer.

A server may ignore an offer, and this one takes none. The parser, however, takes what follows the
head of such a request for bytes of the other protocol: the body and all requests behind it.
"""

from collections.abc import Sequence

UPGRADE = b"upgrade"
CONNECT = b"CONNECT"
"""The method that asks for a tunnel: without one, nothing of the request is left to answer."""


def head_without_offer(
    method: bytes, url: bytes, version: str, headers: Sequence[tuple[bytes, bytes]]
) -> bytes:
    r"""The bytes of a head as if no other protocol had been offered in it.

    Only `Upgrade` is left out: without it, what `Connection` says of it has no meaning.

    >>> head_without_offer(b"GET", b"/", "1.1", [(b"host", b"here"), (b"upgrade", b"h2c")])
    b'GET / HTTP/1.1\r\nhost: here\r\n\r\n'
    """
    lines = [b"%b: %b\r\n" % (name, value) for name, value in headers if name != UPGRADE]
    return b"%b %b HTTP/%b\r\n%b\r\n" % (method, url, version.encode(), b"".join(lines))
