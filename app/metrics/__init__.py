"""Quality of predictions, as pure functions. Catalogue by name, in the order of the reports.

A name is the figure's key in the report; K in `P@K` stands for every K that was asked for.
"""

from app.catalogue import find
from app.metrics.base import (
    DecisionMetric,
    DocumentDecisionMetric,
    LabelMetric,
    Measure,
    RankingMetric,
)

RANKING_METRICS = {
    "P@K": "app.metrics.precision_at_k:PRECISION_AT_K",
    "R@K": "app.metrics.precision_at_k:RECALL_AT_K",
    "RP@K": "app.metrics.precision_at_k:R_PRECISION_AT_K",
    "NDCG@K": "app.metrics.ndcg:NDCG_AT_K",
    "PSP@K": "app.metrics.propensity:PSP_AT_K",
    "PSnDCG@K": "app.metrics.propensity:PSNDCG_AT_K",
    "eleven_point": "app.metrics.eleven_point:ELEVEN_POINT",
    "eleven_points": "app.metrics.eleven_point:ELEVEN_POINTS",
    "lrap": "app.metrics.label_ranking:LRAP",
    "coverage_error": "app.metrics.label_ranking:COVERAGE_ERROR",
    "ranking_loss": "app.metrics.label_ranking:RANKING_LOSS",
    "one_error": "app.metrics.reciprocal_rank:ONE_ERROR",
    "mrr": "app.metrics.reciprocal_rank:MRR",
}
MEASURES = {
    "precision": "app.metrics.contingency:PRECISION",
    "recall": "app.metrics.contingency:RECALL",
    "f1": "app.metrics.contingency:F1",
    "fbeta": "app.metrics.contingency:F_BETA",
    "fallout": "app.metrics.contingency:FALLOUT",
    "overlap": "app.metrics.contingency:OVERLAP",
    "accuracy": "app.metrics.contingency:ACCURACY",
    "error": "app.metrics.contingency:ERROR",
}
DECISION_METRICS = {
    "macro_star_f1": "app.metrics.overall_decisions:MACRO_STAR_F1",
    "subset_accuracy": "app.metrics.overall_decisions:SUBSET_ACCURACY",
    "labels_skipped": "app.metrics.overall_decisions:LABELS_SKIPPED",
    "rejector_accuracy": "app.metrics.overall_decisions:REJECTOR_ACCURACY",
}
LABEL_METRICS = {
    "average_precision": "app.metrics.average_precision:AVERAGE_PRECISION",
}


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
