"""From a question about documents to their labels: Query → Plan → Predictions."""

from app.prediction.answers import Label, Prediction, Term
from app.prediction.plan import Explained, Explainer, Plan, best
from app.prediction.planning import plan_of
from app.prediction.query import Query

__all__ = [
    "Explained",
    "Explainer",
    "Label",
    "Plan",
    "Prediction",
    "Query",
    "Term",
    "best",
    "plan_of",
]
