"""What a metric is to the catalogue: a pure function, and the few facts that reports need of it.

A family each for rankings, contingency tables, whole sets of decisions and labels' scores. The
defaults are what a new metric wants.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.catalogue import find
from app.metrics import DECISION_METRICS, LABEL_METRICS, MEASURES, RANKING_METRICS
from app.metrics.counting.cells import Averaging, Cells, Values
from app.metrics.counting.ranked_positives import RankedPositives

Average: TypeAlias = Literal["micro", "macro", "macro_in_test", "samples"]
Figures: TypeAlias = dict[str, float | None]
DecisionFigure: TypeAlias = float | dict[str, int] | None


def mean(sums: Sequence[float], n: float) -> float:
    """The mean over documents of one value each."""
    return sums[0] / n


@dataclass(frozen=True, slots=True)
class RankingMetric:
    """A figure of how the labels are ranked, made of sums over documents: `ranking` in a report."""

    values: Callable[..., Values]
    """(TrueRanks), or (TrueRanks, k) where the catalogue's name ends in @K → one value a document,
    or (documents, width) of them. Metrics with the same function share its result."""
    width: int = 1
    figure: Callable[[Sequence[float], float], float | list[float]] = mean
    """(the sums of the values, the number of documents, at least 1) → the figure. A list has no
    bootstrap interval."""
    title: str = ""
    """In tables; empty: the name."""
    is_headline: bool = False
    """Whether it has a card on the page and its interval is printed."""
    needs_propensity: bool = False
    """Whether it is None where the labels' training frequencies are not known."""
    is_loss: bool = False
    """Whether a lower value is better."""
    upper: float = 1.0
    """The highest value it can have; the lowest is 0."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a contingency table: in `decisions` under every average."""

    values: Callable[[Cells, Averaging], Values]
    """One value for each table; NaN where 0/0 is to be skipped."""
    title: str = ""
    """In tables; empty: the name."""
    is_per_label: bool = True
    """Whether `labels` has it for every label, and `labels_skipped` counts its 0/0."""
    intervals: tuple[Average, ...] = ("micro", "macro", "macro_in_test", "samples")
    """The averages that get bootstrap intervals."""
    is_loss: bool = False
    """Whether a lower value is better."""
    upper: float = 1.0


@dataclass(frozen=True, slots=True)
class DecisionMetric:
    """A figure of all labels' contingency tables: in `decisions` under its own name."""

    value: Callable[[Cells, Averaging], DecisionFigure]
    """(one table a label, how 0/0 is read) → the figure; None where it is not defined."""
    title: str = ""
    upper: float = 1.0


@dataclass(frozen=True, slots=True)
class DocumentDecisionMetric:
    """A mean over documents of what was decided on each: in `decisions` under its own name."""

    values: Callable[[Cells], Values]
    """(one table a document) → one value each. The mean is None without documents, and has a
    bootstrap interval."""
    title: str = ""
    upper: float = 1.0


@dataclass(frozen=True, slots=True)
class LabelMetric:
    """A figure of all documents' scores for one label: in every entry of `labels`."""

    value: Callable[[RankedPositives], float | None]
    """None where it is not defined. It must not rise when other documents come to stand higher:
    where scores are only counted in bins, it lies between its values with the fewest and the most
    others above the true documents, and the report has their middle."""
    title: str = ""
    upper: float = 1.0


def ranking_metrics() -> dict[str, RankingMetric]:
    """The metrics of the documents' rankings, by name."""
    return {name: find(RANKING_METRICS, name, "metric") for name in RANKING_METRICS}


def measures() -> dict[str, Measure]:
    """The measures of a contingency table, by name."""
    return {name: find(MEASURES, name, "measure") for name in MEASURES}


def decision_metrics() -> dict[str, DecisionMetric | DocumentDecisionMetric]:
    """The metrics of a whole set of decisions, by name."""
    return {name: find(DECISION_METRICS, name, "metric") for name in DECISION_METRICS}


def label_metrics() -> dict[str, LabelMetric]:
    """The metrics of one label's scores, by name."""
    return {name: find(LABEL_METRICS, name, "metric") for name in LABEL_METRICS}
