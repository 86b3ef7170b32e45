"""Headline figures of bootstrap samples, of one system or of several that are drawn alike."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from app.evaluation.kept.counted_documents import CountedDocuments
from app.evaluation.kept.resampled_system import Figures, ResampledSystem
from app.metrics.significance.bootstrap import resample_weights

Values = NDArray[np.float64]
DOCUMENTS = 2048
BATCH = 50
"""Resamples that share a generator of random numbers."""
BATCHES = 20
"""Batches that go through the documents together: their weights of a block take 16 MB."""
COUNTS = 8_000_000
"""Counts of labels that are held at once."""


def resampled_figures(
    systems: Sequence[CountedDocuments],
    resamples: int,
    seed: int,
    names: Collection[str] | None = None,
) -> list[Figures]:
    """For each system: the figures of every resample, by name; all of them, or those named.

    The draws depend on the number of documents and the seed alone, so that systems on the same
    documents are resampled alike, now or later.
    """
    from threadpoolctl import threadpool_limits  # here: nothing else of a report needs it

    planned = [ResampledSystem.of(system, names) for system in systems]
    with threadpool_limits(1):  # another number of threads would be other bits, and more CPU
        return [
            figures
            for together in _groups(planned)
            for figures in _figures(together, resamples, seed)
        ]


def observed_figures(systems: Sequence[CountedDocuments], name: str) -> list[float | None] | None:
    """The figure of each system's documents as they are; None where it cannot be resampled.

    A figure that is not defined for a system is None.
    """
    planned = [ResampledSystem.of(system, [name]) for system in systems]
    if any(name not in one.names for one in planned):
        return None
    values = [float(_observed(one)[name][0]) for one in planned]
    return [None if np.isnan(value) else value for value in values]


def _observed(system: ResampledSystem) -> Figures:
    """The figures of the one sample in which every document is drawn once."""
    sums, tables = np.zeros((1, len(system.columns))), np.zeros(3 * system.n_tables)
    for block in system.blocks(DOCUMENTS):
        sums += block.values.sum(axis=0)
        tables += block.pairs.sum(axis=1)
    return system.figures(sums, tables.reshape(3, system.n_tables, 1))


def _groups(systems: list[ResampledSystem]) -> list[list[ResampledSystem]]:
    """All systems in one group, so that draws are made once; each alone where they hold much."""
    if BATCH * _counts(systems) <= COUNTS:
        return [systems]
    return [[system] for system in systems]


def _counts(systems: list[ResampledSystem]) -> int:
    """Counts that one resample holds."""
    return sum(3 * system.n_tables for system in systems) or 1


def _figures(systems: list[ResampledSystem], resamples: int, seed: int) -> list[Figures]:
    at_once = BATCH * min(BATCHES, max(1, COUNTS // (BATCH * _counts(systems))))
    passes = [
        _one_pass(systems, range(start, min(start + at_once, resamples)), seed)
        for start in range(0, resamples, at_once)
    ]
    return [_joined(of_system) for of_system in zip(*passes, strict=True)]


def _one_pass(systems: list[ResampledSystem], numbers: range, seed: int) -> list[Figures]:
    """The figures of the resamples with these numbers, from one pass over the documents."""
    sums = [np.zeros((len(numbers), len(one.columns))) for one in systems]
    tables = [np.zeros((3 * one.n_tables, len(numbers))) for one in systems]
    blocks = zip(*(one.blocks(DOCUMENTS) for one in systems), strict=True)
    for drawn, together in zip(_weights(systems[0], numbers, seed), blocks, strict=True):
        for i, block in enumerate(together):
            sums[i] += drawn @ block.values
            tables[i] += block.pairs @ drawn.T
    return [
        one.figures(own, counts.reshape(3, one.n_tables, -1))
        for one, own, counts in zip(systems, sums, tables, strict=True)
    ]


def _weights(system: ResampledSystem, numbers: range, seed: int) -> Iterator[Values]:
    """For each block of documents: (resamples, documents) of how often each is drawn."""
    total = len(system.documents)
    sizes = [min(DOCUMENTS, total - start) for start in range(0, total, DOCUMENTS)]
    batches = [
        resample_weights(
            np.random.default_rng([seed, start]), sizes, min(BATCH, numbers.stop - start)
        )
        for start in numbers[::BATCH]
    ]
    return (np.concatenate(drawn) for drawn in zip(*batches, strict=True))


def _joined(parts: Sequence[Figures]) -> Figures:
    return {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
