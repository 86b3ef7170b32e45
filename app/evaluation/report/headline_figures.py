"""The single figures of a report under one name each, for tables over several reports."""

import re
from typing import Any

from app.evaluation.report.tables import AVERAGES
from app.metrics.base import measures, ranking_metrics
from app.metrics.counting.averages import label_measures

LOSSES = ("ece", "cost_per_document")


def headline_figures(report: dict[str, Any]) -> dict[str, float | None]:
    """Precision, recall and F1 of every average, and each figure that is one number.

    Names are those of `confidence` where it has them: `micro.f1`, `P@1`. None: not defined there.
    """
    decisions, ranking = report["decisions"], report["ranking"]
    averages = {
        f"{average}.{measure}": decisions[average][measure]
        for average in AVERAGES
        for measure in label_measures()
    }
    points = {name: decisions[name]["value"] for name in ("break_even", "break_even_per_label")}
    costs = report.get("costs")
    return {
        **averages,
        **_numbers(decisions),
        **points,
        **_numbers(ranking),
        "ece": report["calibration"]["ece"],
        **({"cost_per_document": costs["per_document"]} if costs else {}),
    }


def is_loss(name: str) -> bool:
    """Whether a lower value of such a figure is better."""
    average, _, measure = name.partition(".")
    if average in AVERAGES and measure in measures():
        return measures()[measure].is_loss
    ranked = ranking_metrics().get(re.sub(r"@[0-9]+$", "@K", name))
    return ranked.is_loss if ranked is not None else name in LOSSES


def _numbers(figures: dict[str, Any]) -> dict[str, float | None]:
    return {name: value for name, value in figures.items() if not isinstance(value, dict | list)}
