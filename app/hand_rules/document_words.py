"""DocumentWords: the words of one text and where each stands, which all rules are matched on."""

from bisect import bisect_left
from collections.abc import Sequence

from app.kernels.text.analysis import Analysis


class DocumentWords:
    """The words of a text as the tokenizer of a model sees them, by their positions.

    Made once a text, in time that grows with its length alone.
    """

    def __init__(self, words: Sequence[str], unstemmed: Sequence[str] | None = None) -> None:
        self._words = words
        self._unstemmed = words if unstemmed is None else unstemmed
        self._positions = _positions(words)
        self._alphabetical: list[str] | None = None
        self._by_unstemmed = self._positions

    @classmethod
    def of(cls, text: str, analysis: Analysis) -> "DocumentWords":
        """The words of a text; terms of several words count as their words."""
        words = analysis.words(text)
        return cls(analysis.stemmed(words), words)

    @property
    def present(self) -> dict[str, list[int]]:
        """Every word of the text and its positions, in rising order."""
        return self._positions

    def positions(self, word: str) -> Sequence[int]:
        """Where the word stands, in rising order."""
        return self._positions.get(word, ())

    def is_at(self, word: str, position: int) -> bool:
        """Whether this word stands there; nothing stands behind the last one."""
        return position < len(self._words) and self._words[position] == word

    def prefixed(self, prefix: str) -> list[int]:
        """Where words stand that begin so before they are stemmed, in rising order."""
        if self._alphabetical is None:
            if self._unstemmed is not self._words:
                self._by_unstemmed = _positions(self._unstemmed)
            self._alphabetical = sorted(self._by_unstemmed)
        found: list[int] = []
        for word in self._alphabetical[bisect_left(self._alphabetical, prefix) :]:
            if not word.startswith(prefix):
                break
            found += self._by_unstemmed[word]
        found.sort()
        return found


def _positions(words: Sequence[str]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        positions.setdefault(word, []).append(position)
    return positions
