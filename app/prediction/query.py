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
    ancestors: bool = False
    """Whether labels come with those above them in the labels file."""
    marks_doubt: bool = False
    """Whether labels near their cut are named, too, as those are which the model abstains from."""
    below_cut: int | None = None
    """So many of the best labels that did not pass their cut come as well, apart."""
