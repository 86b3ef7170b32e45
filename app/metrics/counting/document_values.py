"""Per-document values of every metric that is made of sums over documents."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.metrics.base import (
    DocumentDecisionMetric,
    Figures,
    RankingMetric,
    decision_metrics,
    measures,
    ranking_metrics,
)
from app.metrics.counting.cells import Averaging, Cells
from app.metrics.counting.true_ranks import TrueRanks

Values = NDArray[np.float64]
RankingFigures = dict[str, float | list[float] | None]


class RankingEntry(NamedTuple):
    """A figure of `ranking` in a report: its key, its metric, and its K if it has one."""

    name: str
    metric: RankingMetric
    k: int | None

    @property
    def source(self) -> tuple[Callable[..., Values], int | None]:
        """What its columns are computed by; entries with the same source share them."""
        return self.metric.values, self.k

    def values(self, ranked: TrueRanks) -> Values:
        """(documents) or (documents, width) of its values; zeros without propensities."""
        if self.metric.needs_propensity and ranked.inverse is None:
            return np.zeros((len(ranked.relevant), self.metric.width))
        return self.metric.values(ranked) if self.k is None else self.metric.values(ranked, self.k)


@dataclass(frozen=True)
class DocumentValues:
    """Turns documents into columns that can be summed, weighted or not, and sums into figures.

    The columns: 1 for each document; the decision metrics over documents; the ranking metrics;
    the measures of each document's table, 0 where undefined; whether each is defined.
    """

    ks: tuple[int, ...]
    averaging: Averaging
    has_propensity: bool = True

    @cached_property
    def entries(self) -> list[RankingEntry]:
        """The figures of `ranking` in the report's order: those at every K, then the others."""
        metrics = ranking_metrics()
        at_k = [
            RankingEntry(f"{name.removesuffix('K')}{k}", metric, k)
            for k in self.ks
            for name, metric in metrics.items()
            if name.endswith("@K")
        ]
        whole = [
            RankingEntry(name, metric, None)
            for name, metric in metrics.items()
            if not name.endswith("@K")
        ]
        return [*at_k, *whole]

    @cached_property
    def decision_metrics(self) -> dict[str, DocumentDecisionMetric]:
        """The metrics of `decisions` that are means over documents."""
        metrics = decision_metrics().items()
        return {name: one for name, one in metrics if isinstance(one, DocumentDecisionMetric)}

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.samples_start + 2 * len(measures())

    def matrix(self, ranked: TrueRanks, cells: Cells) -> Values:
        """(documents, width) of values, given one contingency table a document."""
        tables = [one.values(cells, self.averaging) for one in measures().values()]
        samples = np.column_stack(tables)
        is_defined = ~np.isnan(samples)
        columns = [
            np.ones(len(ranked.relevant)),
            *(metric.values(cells) for metric in self.decision_metrics.values()),
            *(entry.values(ranked) for entry in self._sources.values()),
            np.where(is_defined, samples, 0.0),
            is_defined,
        ]
        return np.column_stack(columns)

    def ranking(self, sums: Values) -> RankingFigures:
        """The `ranking` part of a report from summed columns."""
        total = sums.tolist()
        n = total[0] or 1.0
        return {
            entry.name: entry.metric.figure(total[self._spans[entry.source]], n)
            if self.has_propensity or not entry.metric.needs_propensity
            else None
            for entry in self.entries
        }

    def decisions(self, sums: Values) -> Figures:
        """The means over documents of the decision metrics; None without documents."""
        n, *rest = sums[: 1 + len(self.decision_metrics)].tolist()
        means = zip(self.decision_metrics, rest, strict=True)
        return {name: total / n if n else None for name, total in means}

    def samples(self, sums: Values) -> Figures:
        """The averages over documents of the contingency measures."""
        names = list(measures())
        totals, counts = np.split(sums[self.samples_start :], 2)
        rows = zip(names, totals.tolist(), counts.tolist(), strict=True)
        return {name: total / count if count else None for name, total, count in rows}

    def columns(self, entry: RankingEntry) -> range:
        """The columns that a ranking figure is made of."""
        own = self._spans[entry.source]
        return range(own.start, own.stop)

    @cached_property
    def _sources(self) -> dict[tuple[Callable[..., Values], int | None], RankingEntry]:
        return {entry.source: entry for entry in self.entries}

    @cached_property
    def _spans(self) -> dict[tuple[Callable[..., Values], int | None], slice]:
        """Where the columns of each source are."""
        spans, start = {}, 1 + len(self.decision_metrics)
        for source, entry in self._sources.items():
            spans[source] = slice(start, start + entry.metric.width)
            start += entry.metric.width
        return spans

    @cached_property
    def samples_start(self) -> int:
        """The first column of the contingency measures."""
        widths = (entry.metric.width for entry in self._sources.values())
        return 1 + len(self.decision_metrics) + sum(widths)
