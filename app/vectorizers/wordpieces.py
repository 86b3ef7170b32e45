"""Wordpieces: texts → rows of token numbers of a pre-trained encoder, cut into its windows."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from tokenizers import Tokenizer

from app.arrays import Features
from app.errors import InvalidRequestError
from app.progress import Progress, silent
from app.state import State
from app.vectorizers.base import TermSpans, Vectorizer
from app.vectorizers.sequences import sequence_spans, stacked

SHIFT = 1
"""Numbers are stored one higher than the tokenizer's own, as no 0 is ever stored."""


class Wordpieces(Vectorizer):
    """Tokens by the tokenizer of a local checkpoint folder (`tokenizer.json`).

    A text longer than `window` tokens goes on in further windows, up to `max_windows`; each window
    begins and ends with the tokenizer's own marks, so it begins with the same number as the row.
    """

    kind: ClassVar[str] = "wordpieces"

    def __init__(self, *, checkpoint: str = "", window: int = 256, max_windows: int = 4) -> None:
        if window < 4 or max_windows < 1:
            problem = "wordpieces: accepted: window of at least 4, max_windows of at least 1"
            raise InvalidRequestError(problem)
        self.checkpoint, self.window, self.max_windows = checkpoint, window, max_windows
        self._tokenizer: Any = None

    @property
    def n_features(self) -> int:
        """How many positions there are."""
        return self.window * self.max_windows

    def fit_transform(
        self, documents: Sequence[Any], *, jobs: int = 1, progress: Progress = silent
    ) -> Features:
        """Read the checkpoint's tokenizer (nothing is learned), and the rows of these texts."""
        self._use(_tokenizer_of(self.checkpoint))
        progress("vectorize", 0, len(documents))
        rows = self.transform(documents, jobs=jobs)
        progress("vectorize", len(documents), len(documents))
        return rows

    def transform(self, documents: Sequence[Any], *, jobs: int = 1) -> Features:
        """Rows of token numbers; a text without tokens is an empty row."""
        encoded = self._tokenizer.encode_batch([_encodable(text) for text in documents])
        return stacked([self._row(encoding) for encoding in encoded], self.n_features)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the token of each position stands in the text, in code points; marks are (0, 0)."""
        (encoded,) = self._tokenizer.encode_batch([_encodable(text)])
        windows = self._windows(encoded)
        return [span for window in windows for span in window.offsets] if windows else []

    def term_spans(self, text: str) -> TermSpans:
        """The token numbers in reading order, ones, and where each token stands in the text."""
        return sequence_spans(self.transform([text]), self.spans(text))

    def terms(self) -> Sequence[str]:
        """The tokens by their numbers as stored; number 0 stands for none."""
        by_number = {number: token for token, number in self._tokenizer.get_vocab().items()}
        last = max(by_number, default=-1)
        return [""] * SHIFT + [by_number.get(number, "") for number in range(last + 1)]

    def state(self) -> State:
        """Settings, and the tokenizer's own JSON as bytes; the folder it came from is not kept."""
        encoded = np.frombuffer(self._tokenizer.to_str().encode(), dtype=np.uint8)
        settings = {"window": self.window, "max_windows": self.max_windows}
        return State(self.kind, settings, {"tokenizer": encoded})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal vectorizer again, without the checkpoint."""
        vectorizer = cls(**state.settings)
        vectorizer._use(state.arrays["tokenizer"].tobytes().decode())
        return vectorizer

    def _use(self, description: str) -> None:
        self._tokenizer = Tokenizer.from_str(description)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=self.window)

    def _windows(self, encoded: Any) -> list[Any]:
        """The windows of a text; none if it has nothing but marks."""
        if all(encoded.special_tokens_mask):
            return []
        return [encoded, *encoded.overflowing][: self.max_windows]

    def _row(self, encoded: Any) -> list[int]:
        return [number + SHIFT for window in self._windows(encoded) for number in window.ids]


def _encodable(text: str) -> str:
    """The text with half surrogate pairs, which UTF-8 cannot hold, as U+FFFD."""
    return (
        text if text.isascii() else text.encode("utf-8", "surrogatepass").decode(errors="replace")
    )


def _tokenizer_of(checkpoint: str) -> str:
    file = Path(checkpoint) / "tokenizer.json"
    if not checkpoint or not file.is_file():
        problem = "wordpieces: set features.checkpoint to a folder with tokenizer.json"
        raise InvalidRequestError(problem)
    text = file.read_text(encoding="utf-8")
    json.loads(text)
    return text
