"""Query: what a client asks about documents."""

from typing import NamedTuple


class Query(NamedTuple):
    """What is asked for, as it was sent; hashable, so that its Plan can be kept."""

    top_k: int | None = None
    operating_point: str | None = None
    threshold: float | None = None
    min_probability: float | None = None
    labels: tuple[str, ...] | None = None
    explain: int | None = None
    nearest: bool = False
    """Whether the nearest operating point does where the one asked for is unattainable."""
