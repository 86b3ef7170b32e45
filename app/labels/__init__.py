"""The labels of a model: their columns, what a labels file says of them, what they became."""

from app.labels.index import LabelIndex
from app.labels.relabelling import Relabelling
from app.labels.taxonomy import LabelEntry, Taxonomy

__all__ = ["LabelEntry", "LabelIndex", "Relabelling", "Taxonomy"]
