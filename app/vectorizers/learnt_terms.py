"""LearntTerms: the terms of some texts and their counts, as a task that a worker can do."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.engine import Engine, Task, TaskArrays
from app.kernels import compiled, kernels
from app.kernels.text.chunks import text_chunks
from app.kernels.text.counts import Counts
from app.kernels.vocabulary.vocabulary import Vocabulary
from app.state import State
from app.vectorizers.tfidf_settings import TfidfSettings

CHARACTERS = 8 << 20
"""Of a task's texts."""
LEAST_TASKS = 8
"""With fewer, what they save is less than what it takes to send texts."""


@dataclass(frozen=True, slots=True)
class LearntTerms:
    """Some texts, and how they are cut into terms."""

    kind: ClassVar[str] = "learnt-terms"
    settings: TfidfSettings
    texts: Sequence[str]

    def shared(self) -> State:
        """The texts end to end; half a surrogate pair is kept as it is."""
        pieces = [text.encode(errors="surrogatepass") for text in self.texts]
        ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
        arrays: dict[str, NDArray[Any]] = {
            "texts": np.frombuffer(b"".join(pieces), np.uint8),
            "ends": ends,
        }
        return State(self.kind, asdict(self.settings), arrays)

    @classmethod
    def from_shared(cls, state: State) -> "LearntTerms":
        """The same texts again."""
        packed, ends = state.arrays["texts"].tobytes(), state.arrays["ends"].tolist()
        bounds = zip([0, *ends], ends, strict=False)
        texts = [packed[start:end].decode(errors="surrogatepass") for start, end in bounds]
        return cls(TfidfSettings(**state.settings), texts)

    def run(self, task: Task) -> TaskArrays:
        """The terms, packed, and where each ends; row ends, columns and counts."""
        analysis = self.settings.analysis()
        vocabulary, counts = kernels("text.tokens").learn(self.texts, analysis)
        return (vocabulary.packed, vocabulary.ends, *counts)


def learn_on(
    engine: Engine, texts: Sequence[str], settings: TfidfSettings
) -> tuple[Vocabulary, Counts] | None:
    """What the kernel `learn` gives for all texts, by workers; None where it is not worth it."""
    if settings.stemmer or not compiled():
        return None
    chunks = text_chunks(texts, CHARACTERS)
    first = list(islice(chunks, LEAST_TASKS))
    if len(first) < LEAST_TASKS:
        return None
    works = (LearntTerms(settings, chunk) for chunk in chain(first, chunks))
    learnt: tuple[Vocabulary, Counts] = kernels("text.tokens").merged(
        map(_learnt, engine.map_each(works))
    )
    return learnt


def _learnt(arrays: TaskArrays) -> tuple[Vocabulary, Counts]:
    packed, ends, indptr, columns, counts = arrays
    table = np.zeros(0, np.uint32)  # nothing is looked up: these terms are put together with others
    return Vocabulary(packed, ends, table), Counts(indptr, columns, counts)
