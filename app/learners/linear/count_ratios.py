"""CountRatios: how much more often a feature comes with a label than without, as feature scales.

Wang & Manning (2012) train a linear classifier on features times r = log((p / |p|) / (q / |q|)),
where p and q are 1 plus the number of the label's documents, and of all others, that have the
feature, and |p|, |q| their sums over all features. Here features are multiplied with |r| to a
power between 0 and 1: the sign of a feature makes no difference to the classifier.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from app.kernels import kernels
from app.kernels.solver.types import LANES, FeatureScales, LabelBlock, Solution, aligned_lanes
from app.learners.linear.block_rows import BlockRows


def count_ratios(
    rows: BlockRows, samples: Sequence[NDArray[Any]], power: float
) -> "list[CountRatios]":
    """The ratios of each sample of the documents; what does not depend on it is made once."""
    starts, columns, values = rows.rows[:3]
    shape = (len(rows.kept), len(starts) - 1)
    presence = csc_array(((values != 0).astype(np.int32), columns, starts), shape=shape)
    return [CountRatios(rows, presence, documents, power) for documents in samples]


class CountRatios:
    """The counts that all blocks share, over the documents that are learnt from."""

    def __init__(
        self, rows: BlockRows, presence: csc_array, documents: NDArray[Any], power: float
    ) -> None:
        self._rows, self._presence, self._power = rows.rows, presence, power
        n_documents = presence.shape[1]
        self._is_known = np.zeros(n_documents, np.bool_)
        self._is_known[documents] = True
        self._frequencies = presence @ self._is_known.astype(np.int32)
        singletons = rows.singletons.documents[rows.singletons.values != 0]
        sizes = np.asarray(presence.sum(axis=0)).ravel()
        self._sizes = sizes + np.bincount(singletons, minlength=n_documents)
        n_singletons = int(np.count_nonzero(self._is_known[singletons]))
        # At least 1: without any feature every ratio is 1, not 0 / 0.
        n_shared = int(np.count_nonzero(self._frequencies))
        self._n_features = max(1, n_shared + n_singletons)

    def scaled(self, block: LabelBlock) -> LabelBlock:
        """The block, every label with its own scales of the features."""
        is_positive = (block.marks[:, None] >> np.arange(LANES, dtype=np.uint16)) & 1 == 1
        is_positive &= self._is_known[:, None]
        shifts = self._shifts(is_positive)
        squares = self._squares(is_positive, shifts)
        single = aligned_lanes(2)
        single.reshape(2, LANES)[:] = self._powers(shifts + np.log([[0.5], [2.0]]))
        norms = aligned_lanes(len(is_positive))
        singleton_norms = aligned_lanes(len(is_positive))
        chosen = single.reshape(2, LANES)[is_positive.astype(np.int8), np.arange(LANES)]
        singleton_norms.reshape(-1, LANES)[:] = self._rows.singleton_norms[:, None] * chosen
        self._write_norms(squares, norms)
        norms += singleton_norms
        return block._replace(scales=FeatureScales(squares, single, singleton_norms, norms))

    def _shifts(self, is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
        """log(|q| / |p|) of each label."""
        total = int(self._sizes[self._is_known].sum())
        positive = self._sizes @ is_positive
        shifts: NDArray[np.float64] = np.log(
            (self._n_features + total - positive) / (self._n_features + positive)
        )
        return shifts

    def _squares(
        self, is_positive: NDArray[np.bool_], shifts: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """r² of each feature and label; few features have a count with a label."""
        flat = aligned_lanes(len(self._frequencies))
        squares = flat.reshape(-1, LANES)
        squares[:] = self._powers(shifts - np.log1p(self._frequencies)[:, None])
        counts = (self._presence @ csc_array(is_positive.astype(np.int32))).tocoo()
        features, lanes = counts.coords
        others = self._frequencies[features] - counts.data
        ratios = np.log((1 + counts.data) / (1 + others)) + shifts[lanes]
        squares[features, lanes] = self._powers(ratios)
        return flat

    def _powers(self, ratios: NDArray[np.float64]) -> NDArray[np.float64]:
        powers: NDArray[np.float64] = np.abs(ratios) ** (2 * self._power)
        return powers

    def _write_norms(self, squares: NDArray[np.float32], norms: NDArray[np.float32]) -> None:
        """Each row's sum of r² · value² for each label, the bias feature included."""
        rows, bias = self._rows, aligned_lanes(1)
        bias[:] = rows.bias
        squared = rows._replace(values=rows.values**2)
        every = np.arange(len(rows.starts) - 1, dtype=np.int32)
        weights = Solution(squares, bias, norms)
        kernels("solver.block_descent").score(squared, weights, every, norms)
