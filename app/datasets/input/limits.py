"""Limits: how much of a data set is read at most."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that hold before anything is allocated; None = no bound.

    `max_bytes` counts decompressed bytes, `max_ratio` bounds them against the compressed ones once
    a mebibyte has been inflated. `max_window` is the memory that Zstandard data may ask for.
    """

    max_line_bytes: int = 64 << 20
    max_bytes: int | None = None
    max_ratio: float | None = None
    max_documents: int | None = None
    max_labels: int | None = None
    max_window: int = 128 << 20
