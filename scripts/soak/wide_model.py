"""A model with many labels, so that a small request can have a large answer."""

from pathlib import Path

import numpy as np

from app.artifacts.info import Info
from app.artifacts.store import Store
from app.classifier import Classifier, Member
from app.decisions.decision import Decision
from app.labels import LabelIndex
from app.learners.linear.label_weights import LabelWeights
from app.learners.one_vs_rest import OneVsRest
from app.model import compose_golden
from app.vectorizers.tfidf import Tfidf

N_LABELS = 20_000
TEXTS = ["refund", "paper"]


def store_wide(folder: Path, n_labels: int = N_LABELS) -> None:
    """Write a linear model of two words and so many labels as the current version of `wide`."""
    weights = np.random.default_rng(0).standard_normal((len(TEXTS), n_labels)).astype(np.float32)
    vectorizer, learner = Tfidf(), OneVsRest()
    vectorizer.fit_transform(TEXTS)
    learner.weights = LabelWeights({"weights": weights, "bias": np.zeros(n_labels, np.float32)})
    labels = LabelIndex(tuple(f"label{column:06}" for column in range(n_labels)))
    decision = Decision(np.zeros(n_labels, np.float32), "zero")
    classifier = Classifier(labels, (Member(vectorizer, learner),), decision)
    golden = [one.model_dump(exclude_none=True) for one in compose_golden(classifier, 0)]
    counts = np.full(n_labels, 7, np.int64)
    info = Info("0" * 64, {"documents": 100, "labels": n_labels}, counts, golden=golden)
    store = Store(folder)
    store.promote("wide", store.write("wide", classifier.state(), info))
