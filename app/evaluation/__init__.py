"""A scorer and a test set in, the report of docs/metrics.md out."""

from app.evaluation.compare.promotion import not_worse
from app.evaluation.options import EvaluationOptions, JudgedModel, parse_k
from app.evaluation.report.report import Report
from app.evaluation.run import evaluate

__all__ = ["EvaluationOptions", "JudgedModel", "Report", "evaluate", "not_worse", "parse_k"]
