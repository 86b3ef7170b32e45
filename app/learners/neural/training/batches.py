"""SolverRows of features as tensors: padded token ids, or bags of weighted terms."""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Truth

Tensor: TypeAlias = Any
SolverRows: TypeAlias = NDArray[np.int64]

UNKNOWN = 1  # the number of every word that has none of its own
POOL = 50  # batches whose documents are sorted by length together: close lengths, still random


class Ids(NamedTuple):
    """Token ids (documents, positions), 0 where a document has ended, and the lengths."""

    ids: Tensor
    lengths: Tensor

    def to(self, device: Any) -> "Ids":
        """The same on another device."""
        return Ids(self.ids.to(device), self.lengths.to(device))


class Bags(NamedTuple):
    """Terms of all documents end to end, their weights, and where each document starts."""

    terms: Tensor
    weights: Tensor
    starts: Tensor

    def to(self, device: Any) -> "Bags":
        """The same on another device."""
        return Bags(*(part.to(device) for part in self))


def ids_of(features: Features, rows: SolverRows, *, size: int) -> Ids:
    """Padded ids of some documents; ids from `size` on were not trained: UNKNOWN.

    An empty document is one padding token, so that every document has a position.
    """
    chosen = features[rows]
    lengths = np.diff(chosen.indptr)
    ids = np.zeros((len(rows), max(int(lengths.max(initial=0)), 1)), np.int64)
    inside = np.arange(ids.shape[1]) < lengths[:, None]
    ids[inside] = np.where(chosen.data < size, chosen.data, UNKNOWN)
    return Ids(torch.from_numpy(ids), torch.from_numpy(np.maximum(lengths, 1).astype(np.int64)))


def first_tokens(features: Features, most: int) -> Features:
    """Rows of at most so many tokens: a longer one keeps its first ones and the mark at its end."""
    starts, lengths = features.indptr[:-1], np.diff(features.indptr)
    kept = np.minimum(lengths, most)
    indptr = np.concatenate([[0], np.cumsum(kept)])
    places = np.arange(indptr[-1]) - np.repeat(indptr[:-1], kept)
    data = features.data[np.repeat(starts, kept) + places]
    is_cut = lengths > most
    data[indptr[1:][is_cut] - 1] = features.data[features.indptr[1:][is_cut] - 1]
    return csr_array((data, places.astype(np.int32), indptr), shape=features.shape)


def bags_of(features: Features, rows: SolverRows) -> Bags:
    """Terms and weights of some documents."""
    chosen = features[rows]
    return Bags(
        torch.from_numpy(chosen.indices.astype(np.int64)),
        torch.from_numpy(chosen.data.astype(np.float32)),
        torch.from_numpy(chosen.indptr[:-1].astype(np.int64)),
    )


def targets_of(truth: Truth, rows: SolverRows) -> Tensor:
    """Dense 0/1 targets of some documents."""
    return torch.from_numpy(truth[rows].toarray().astype(np.float32))


def training_batches(features: Features, size: int, rng: np.random.Generator) -> list[SolverRows]:
    """All documents in random batches, each of documents of about the same length."""
    order = rng.permutation(features.shape[0])
    lengths = np.diff(features.indptr)
    pools = [order[at : at + size * POOL] for at in range(0, len(order), size * POOL)]
    batches = [
        batch
        for pool in pools
        for batch in _cut(pool[np.argsort(-lengths[pool], kind="stable")], size)
    ]
    return [batches[i] for i in rng.permutation(len(batches))]


def scoring_batches(features: Features, size: int) -> Iterator[SolverRows]:
    """All documents in batches of neighbours in length, whatever their order was."""
    yield from _cut(np.argsort(-np.diff(features.indptr), kind="stable"), size)


def _cut(rows: SolverRows, size: int) -> list[SolverRows]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]
