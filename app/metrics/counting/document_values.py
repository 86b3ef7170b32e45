"""Per-document values of every metric that is a mean (or a ratio of sums) over documents."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.metrics.averages import Averaging, Figures
from app.metrics.contingency import MEASURES, Cells
from app.metrics.counting.records import Records
from app.metrics.label_ranking import coverage, lrap, ranking_loss
from app.metrics.ranking import discount

Values = NDArray[np.float64]


@dataclass(frozen=True)
class DocumentValues:
    """Turns records into columns that can be summed, weighted or not, and sums into figures."""

    ks: tuple[int, ...]
    n_columns: int
    averaging: Averaging
    has_propensity: bool = True

    @property
    def names(self) -> list[str]:
        """What each column is."""
        at_k = [f"{metric}@{k}" for k in self.ks for metric in ("P", "R", "RP", "NDCG")]
        parts = ("PSP", "PSP best", "PSnDCG", "PSnDCG best")
        propensity = [f"{part}@{k}" for k in self.ks for part in parts]
        samples = [f"samples {name}" for name in MEASURES]
        return [
            *("documents", "tp", "fp", "fn", "subset", "first"),
            *("lrap", "coverage_error", "ranking_loss", "mrr"),
            *(f"point {i}" for i in range(11)),
            *at_k,
            *propensity,
            *samples,
            *(f"{name} defined" for name in samples),
        ]

    def matrix(self, records: Records) -> Values:
        """(documents, columns) of values."""
        relevant = records["relevant"].astype(np.int64)
        unscored, n = records["unscored"].astype(np.int64), self.n_columns
        samples = self._samples(records)
        defined = ~np.isnan(samples)
        columns = [
            np.ones(len(records)),
            *(records[cell] for cell in ("tp", "fp", "fn")),
            (records["fp"] == 0) & (records["fn"] == 0),
            records["reciprocal_rank"] == 1.0,
            lrap(relevant, records["ratio"], unscored, n),
            coverage(records["covered"], unscored, n),
            ranking_loss(relevant, records["wrong"], unscored, n),
            records["reciprocal_rank"],
        ]
        return np.column_stack(
            [
                *columns,
                records["eleven"],
                self._at_k(records, relevant),
                records["propensity"].reshape(len(records), -1),
                np.where(defined, samples, 0.0),
                defined,
            ]
        )

    def ranking(self, sums: Values) -> dict[str, float | list[float] | None]:
        """The `ranking` part of a report from summed columns."""
        total = dict(zip(self.names, sums.tolist(), strict=True))
        n = total["documents"] or 1.0
        figures: dict[str, float | list[float] | None] = {}
        for k in self.ks:
            for metric in ("P", "R", "RP", "NDCG"):
                figures[f"{metric}@{k}"] = total[f"{metric}@{k}"] / n
            for metric in ("PSP", "PSnDCG"):
                best = total[f"{metric} best@{k}"]
                value = total[f"{metric}@{k}"] / best if best else 0.0
                figures[f"{metric}@{k}"] = value if self.has_propensity else None
        points = [total[f"point {i}"] / n for i in range(11)]
        return {
            **figures,
            "eleven_point": sum(points) / 11,
            "eleven_points": points,
            "lrap": total["lrap"] / n,
            "coverage_error": total["coverage_error"] / n,
            "ranking_loss": total["ranking_loss"] / n,
            "one_error": 1 - total["first"] / n,
            "mrr": total["mrr"] / n,
        }

    def samples(self, sums: Values) -> Figures:
        """The averages over documents of the contingency measures."""
        total = dict(zip(self.names, sums.tolist(), strict=True))
        counts = {name: total[f"samples {name} defined"] for name in MEASURES}
        return {
            name: total[f"samples {name}"] / counts[name] if counts[name] else None
            for name in MEASURES
        }

    def subset_accuracy(self, sums: Values) -> float | None:
        """Share of documents whose decisions are all right."""
        total = dict(zip(self.names, sums.tolist(), strict=True))
        return total["subset"] / total["documents"] if total["documents"] else None

    def _at_k(self, records: Records, relevant: NDArray[np.int64]) -> Values:
        columns = []
        some = np.maximum(relevant, 1)
        for i, k in enumerate(self.ks):
            hits = records["hits"][:, i]
            ideal = np.concatenate([[1.0], np.cumsum(discount(np.arange(1, k + 1)))])
            ndcg = records["dcg"][:, i] / ideal[np.minimum(relevant, k)]
            columns += [hits / k, hits / some, hits / np.minimum(some, k), ndcg]
        return np.column_stack(columns)

    def _samples(self, records: Records) -> Values:
        tp, fp, fn = (records[cell].astype(np.int64) for cell in ("tp", "fp", "fn"))
        cells = Cells(tp, fp, fn, self.n_columns - tp - fp - fn)
        return np.column_stack([self.averaging.values(name, cells) for name in MEASURES])
