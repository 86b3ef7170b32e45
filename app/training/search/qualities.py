"""Qualities: how much is tried before a model is trained, and where nothing is."""

from dataclasses import dataclass

from app.errors import InvalidRequestError

FEWEST_DOCUMENTS, MOST_LABELS = 200, 2000
"""Below and above these a search would choose by chance, or cost more than it brings."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What a search may try, and how much of the data it may use."""

    name: str
    most_work: float
    """Words times labels of the documents that are tried; of more, a sample."""
    has_union: bool = False
    """Whether pairs of words and characters are tried: models several times as slow to serve."""
    has_ensembles: bool = False


FAST = "fast"
QUALITIES = {
    "balanced": Quality("balanced", 6e7),
    "best": Quality("best", 3e8, has_union=True, has_ensembles=True),
}
NAMES = (FAST, *QUALITIES)


def quality_of(name: str) -> Quality | None:
    """The quality of that name; None for `fast`, which tries nothing."""
    if name not in NAMES:
        raise InvalidRequestError(f"no such quality; accepted: {', '.join(NAMES)}")
    return QUALITIES.get(name)
