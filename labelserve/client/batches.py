"""Texts in batches: each is a request of its own, so that it can be sent again."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from labelserve.documents import checked_texts, json_line

MOST_TEXTS, MOST_BYTES = 256, 1 << 19
"""Of a batch: below what a gateway takes without being told to take more (nginx: 1 MiB)."""


@dataclass(slots=True)
class TextBatch:
    """Texts that are sent together; `first` is the line of the first among all."""

    first: int = 1
    lines: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, text: str) -> Self:
        """One more text."""
        line = json_line(text, self.first + len(self.lines) - 1)
        self.lines.append(line)
        self.size += len(line)
        return self

    @property
    def is_full(self) -> bool:
        """Whether it should be sent: a request is held in memory on both sides."""
        return len(self.lines) >= MOST_TEXTS or self.size >= MOST_BYTES

    def next(self) -> "TextBatch":
        """An empty one for the lines that follow."""
        return TextBatch(self.first + len(self.lines))


def batches(texts: Iterable[str]) -> Iterator[TextBatch]:
    """The texts in batches, as soon as each is full."""
    batch = TextBatch()
    for text in checked_texts(texts):
        if batch.add(text).is_full:
            yield batch
            batch = batch.next()
    if batch.lines:
        yield batch
