"""The `decisions` part of a report, for all documents and labels or for a group of them."""

from typing import Any

from app.metrics import decision_metrics
from app.metrics.base import DecisionMetric
from app.metrics.counting.averages import macro, micro, weighted
from app.metrics.counting.cells import Cells
from app.metrics.counting.document_values import DocumentValues, Values


def decision_figures(cells: Cells, values: DocumentValues, sums: Values) -> dict[str, Any]:
    """Every decision figure of the labels' tables and the documents' summed values."""
    averaging, over_documents = values.averaging, values.decisions(sums)
    single = {
        name: metric.value(cells, averaging)
        if isinstance(metric, DecisionMetric)
        else over_documents[name]
        for name, metric in decision_metrics().items()
    }
    return {
        "micro": micro(cells, averaging),
        "macro": macro(cells, averaging),
        "macro_in_test": macro(cells.take(cells.support > 0), averaging),
        "weighted": weighted(cells, averaging),
        "samples": values.samples(sums),
        **single,
    }
