"""From a question about documents to their labels: Query → Plan → Predictions."""

from app.prediction.plan import Plan
from app.prediction.planning import plan_of
from app.prediction.query import Query

__all__ = ["Plan", "Query", "plan_of"]
