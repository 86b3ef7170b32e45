"""Content negotiation: which of the media types on offer a client prefers (RFC 9110, 12.5.1)."""

from collections.abc import Sequence


def preferred(accept: bytes, offered: Sequence[str]) -> str:
    """The media type on offer with the highest weight; the first of them where that is shared.

    What no range of the header names has no weight; without a header everything is equal.

    >>> preferred(b"text/html, */*;q=0.8", ("application/json", "text/html"))
    'text/html'
    >>> preferred(b"*/*", ("application/json", "text/html"))
    'application/json'
    """
    weights = dict(map(_weighted, accept.decode("latin-1").lower().split(",")))
    return max(offered, key=lambda name: _weight(name, weights))


def _weighted(part: str) -> tuple[str, float]:
    name, *parameters = (piece.strip() for piece in part.split(";"))
    given = [piece[2:] for piece in parameters if piece.startswith("q=")]
    try:
        return name, min(1.0, max(0.0, float(given[0]))) if given else 1.0
    except ValueError:
        return name, 0.0


def _weight(name: str, weights: dict[str, float]) -> float:
    """The weight of the most specific range that has the media type in it."""
    ranges = (name, f"{name.partition('/')[0]}/*", "*/*")
    return next((weights[one] for one in ranges if one in weights), 0.0)
