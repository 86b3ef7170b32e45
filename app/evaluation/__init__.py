"""A scorer and a test set in, the report of docs/metrics.md out.

Catalogue of what others ask for; each loads on first use, since a service only reads options.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.evaluation.compare.promotion import not_worse
    from app.evaluation.options import EvaluationOptions, JudgedModel, parse_k
    from app.evaluation.report.report import Report
    from app.evaluation.run import evaluate

__all__ = ["EvaluationOptions", "JudgedModel", "Report", "evaluate", "not_worse", "parse_k"]
MODULES = {
    "EvaluationOptions": "app.evaluation.options",
    "JudgedModel": "app.evaluation.options",
    "Report": "app.evaluation.report.report",
    "evaluate": "app.evaluation.run",
    "not_worse": "app.evaluation.compare.promotion",
    "parse_k": "app.evaluation.options",
}


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(MODULES[name]), name)
