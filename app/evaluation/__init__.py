"""A scorer and a test set in, the report of docs/metrics.md out."""

from app.evaluation.options import EvaluationOptions, ModelInfo, parse_k
from app.evaluation.promotion import not_worse
from app.evaluation.report import Report
from app.evaluation.run import evaluate

__all__ = ["EvaluationOptions", "ModelInfo", "Report", "evaluate", "not_worse", "parse_k"]
