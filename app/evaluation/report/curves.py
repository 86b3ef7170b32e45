"""The `curves` part of a report: precision against recall at the best cuts of every label."""

from typing import Any

from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.pr_curve import CurvePoint, pr_curve


def curves(hulls: Hulls) -> dict[str, list[dict[str, Any]]]:
    """The micro and the macro curve of the labels' hulls (Pillai et al. 2013, Algorithm 2)."""
    return {
        average: [_entry(point) for point in pr_curve(hulls, average)]
        for average in ("micro", "macro")
    }


def _entry(point: CurvePoint) -> dict[str, Any]:
    return {"beta": point.beta, "precision": point.precision, "recall": point.recall}
