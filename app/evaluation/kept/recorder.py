"""KeptRecorder: writes the documents of an evaluation to arrays on disk while they go by."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.artifacts.manifest import File
from app.artifacts.npy import header_bytes
from app.evaluation.kept.documents import KINDS, Integers, KeptDocuments
from app.evaluation.kept.facts import ARRAYS
from app.evaluation.measure.decided_chunk import DecidedChunk
from app.evaluation.measure.tally import Tally
from app.evaluation.storage.array_file import ArrayFile
from app.metrics.counting.pairs import FN, FP, Pairs
from app.metrics.counting.true_ranks import NEVER, TrueRanks

HEADER = len(header_bytes("<i8", [0], is_fortran=False))
"""Bytes before the first item: the same for every length, which is known only at the end."""


class RankedPairs(NamedTuple):
    """Pairs by document, then by column, each with its rank and the labels scored as high."""

    pairs: Pairs
    rank: Integers
    at_least: Integers


class KeptRecorder:
    """One file an array; what they are is written beside them once all is known."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._files = {
            name: ArrayFile(folder / f"{name}.npy", dtype, offset=HEADER)
            for name, dtype in ARRAYS.items()
        }

    def add(self, chunk: DecidedChunk, ranked: TrueRanks) -> None:
        """Write some documents; the ranks are those of the labels that are counted."""
        every = _with_dropped(_by_column(chunk.pairs, ranked), chunk)
        pairs, is_true = every.pairs, every.pairs.kind != FP
        ids = [None if id is None else id.encode() for id in chunk.ids]
        joined = b"".join(id for id in ids if id is not None)
        arrays = {
            "line": chunk.lines,
            "id_length": np.array([-1 if id is None else len(id) for id in ids]),
            "id_bytes": np.frombuffer(joined, np.uint8),
            "pair_count": np.bincount(pairs.document, minlength=len(ids)),
            "pair": pairs.column * KINDS + pairs.kind,
            "rank": every.rank[is_true],
            "at_least": every.at_least[is_true],
        }
        for name, items in arrays.items():
            self._files[name].append(items)

    def tally(self) -> Tally:
        """All arrays so far."""
        return {name: file.read(0, file.length) for name, file in self._files.items()}

    def merge(self, tally: Tally, columns: Integers, first_line: int) -> None:
        """Add further documents, whose lines count on; `columns` are their columns' places here."""
        document = np.repeat(np.arange(len(tally["pair_count"])), tally["pair_count"])
        column, kind = np.divmod(tally["pair"], KINDS)
        order = np.lexsort((columns[column], document))
        is_true = kind != FP
        at = np.cumsum(is_true) - 1  # where a true pair's rank stands
        true_order = at[order][is_true[order]]
        arrays = {
            **tally,
            "line": tally["line"] + first_line,
            "pair": (columns[column] * KINDS + kind)[order],
            "rank": tally["rank"][true_order],
            "at_least": tally["at_least"][true_order],
        }
        for name, items in arrays.items():
            self._files[name].append(items)

    def documents(self) -> KeptDocuments:
        """All that was added so far, to be read."""
        return KeptDocuments(self._files)

    def seal(self, inverse: NDArray[np.float64] | None) -> dict[str, File]:
        """Write what was missing, all through to the disk; what each file is, by its array."""
        if inverse is not None:
            self._files["inverse_propensity"].append(inverse)
        return {name: File(**file.seal(name)) for name, file in self._files.items()}

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


def _by_column(pairs: Pairs, ranked: TrueRanks) -> RankedPairs:
    """The pairs as they are, with the ranks of the true ones; 0 where there is none."""
    rank, at_least = (np.zeros(len(pairs.kind), np.int64) for _ in range(2))
    order = np.lexsort((ranked.column, ranked.document))
    is_true = pairs.kind != FP
    rank[is_true] = np.where(ranked.rank == NEVER, 0, ranked.rank)[order]
    at_least[is_true] = ranked.at_least[order]
    return RankedPairs(pairs, rank, at_least)


def _with_dropped(ranked: RankedPairs, chunk: DecidedChunk) -> RankedPairs:
    """The pairs together with those of zero-shot labels that are not counted: all missed."""
    dropped, pairs = chunk.dropped, ranked.pairs
    if not dropped.nnz:
        return ranked
    none = np.zeros(dropped.nnz, np.int64)
    rows = np.repeat(np.arange(len(chunk.ids)), np.diff(dropped.indptr))
    document, column = np.append(pairs.document, rows), np.append(pairs.column, dropped.indices)
    kind = np.append(pairs.kind, np.full(dropped.nnz, FN, np.uint8))
    order = np.lexsort((column, document))
    every = Pairs(document[order], column[order], kind[order])
    rank, at_least = np.append(ranked.rank, none), np.append(ranked.at_least, none)
    return RankedPairs(every, rank[order], at_least[order])
