"""DecidedChunk: all that is measured of some documents, sparse rows of many chunks together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Truth
from app.metrics.counting.pairs import Pairs
from app.metrics.counting.score_rows import ScoredPairs, ScoreRows

DOCUMENTS = 2048


@dataclass(frozen=True)
class DecidedChunk:
    """Documents with their scores, truth and decisions; their texts are no longer needed."""

    ids: list[str | None]
    lines: NDArray[np.int64]
    lengths: NDArray[np.int64]
    rows: ScoreRows
    truth: Truth
    dropped: Truth
    """Zero-shot labels that the truth leaves out."""
    pairs: Pairs


class SparseQueue:
    """Chunks of sparse rows, until they are worth the fixed cost of measuring a chunk.

    With very many labels a chunk has a few documents, because their scores come as an array.
    """

    def __init__(self) -> None:
        self._chunks: list[DecidedChunk] = []
        self._n_documents = 0

    def add(self, chunk: DecidedChunk) -> list[DecidedChunk]:
        """What can be measured now, in the order of the documents."""
        if not isinstance(chunk.rows, ScoredPairs):
            return [*self.rest(), chunk]
        self._chunks.append(chunk)
        self._n_documents += len(chunk.ids)
        return self.rest() if self._n_documents >= DOCUMENTS else []

    def rest(self) -> list[DecidedChunk]:
        """All chunks that still wait, as one."""
        chunks, self._chunks, self._n_documents = self._chunks, [], 0
        return [_stacked(chunks)] if chunks else []


def _stacked(chunks: Sequence[DecidedChunk]) -> DecidedChunk:
    return DecidedChunk(
        [id for chunk in chunks for id in chunk.ids],
        np.concatenate([chunk.lines for chunk in chunks]),
        np.concatenate([chunk.lengths for chunk in chunks]),
        ScoredPairs.stacked([one.rows for one in chunks if isinstance(one.rows, ScoredPairs)]),
        _stacked_truth([chunk.truth for chunk in chunks]),
        _stacked_truth([chunk.dropped for chunk in chunks]),
        _stacked_pairs(chunks),
    )


def _stacked_truth(parts: Sequence[Truth]) -> Truth:
    """The rows of all parts; the last one has met the most zero-shot labels."""
    counts = np.concatenate([np.diff(one.indptr) for one in parts])
    ends = np.concatenate([[0], np.cumsum(counts)])
    columns = np.concatenate([one.indices for one in parts])
    shape = (len(counts), parts[-1].shape[1])
    return csr_array((np.ones(len(columns), np.bool_), columns, ends), shape=shape)


def _stacked_pairs(chunks: Sequence[DecidedChunk]) -> Pairs:
    firsts = np.cumsum([0, *(len(chunk.ids) for chunk in chunks[:-1])]).tolist()
    numbered = list(zip(firsts, chunks, strict=True))
    return Pairs(
        np.concatenate([first + chunk.pairs.document for first, chunk in numbered]),
        np.concatenate([chunk.pairs.column for chunk in chunks]),
        np.concatenate([chunk.pairs.kind for chunk in chunks]),
    )
