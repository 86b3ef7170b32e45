"""A linear model that gives wanted scores, and the label sets that each way of asking it gives."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.artifacts.info import Info
from app.artifacts.store import Store
from app.classifier import Classifier, Member
from app.datasets.base import Record
from app.decisions.base import Basis
from app.decisions.decision import Decision
from app.decisions.operating_points import OperatingPoints
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.heldout import HeldOut
from app.labels import LabelIndex
from app.learners.linear.label_weights import LabelWeights
from app.learners.one_vs_rest import OneVsRest
from app.model import compose_golden
from app.prediction import Query, plan_of
from app.prediction.answers import Prediction
from app.vectorizers.tfidf import Tfidf

Rows = NDArray[np.float32]
LabelSets = list[list[int]]


def basis_of(n_labels: int) -> Basis:
    """Everything a rule may rest on: held-out scores that every operating point can be met on."""
    random = np.random.default_rng(n_labels)
    scores = random.standard_normal((60, n_labels)).astype(np.float32)
    held_out = HeldOut.of(scores, csr_array(scores + random.normal(0, 0.1, scores.shape) > 0.3))
    hulls = Hulls.of(held_out)
    options = TuningOptions(resamples=5)
    return Basis(n_labels, None, held_out, hulls, options, OperatingPoints(hulls))


def texts_of(scores: Rows) -> list[str]:
    """One text a row, each of one term that no other has."""
    return [f"term{row}" for row in range(len(scores))]


def classifier_of(scores: Rows, decision: Decision) -> Classifier:
    """A classifier that scores the i-th text as the i-th row says."""
    vectorizer, texts = Tfidf(), texts_of(scores)
    vectorizer.fit_transform(texts)
    order = [texts.index(term) for term in vectorizer.terms()]
    learner = OneVsRest()
    bias = np.zeros(scores.shape[1], np.float32)
    learner.weights = LabelWeights({"weights": scores[order], "bias": bias})
    labels = LabelIndex(tuple(f"label{column:03}" for column in range(scores.shape[1])))
    basis = basis_of(scores.shape[1])
    return Classifier(labels, (Member(vectorizer, learner),), decision, hulls=basis.hulls)


def in_order(classifier: Classifier, names: Iterable[str]) -> list[int]:
    return [classifier.labels.columns[name] for name in names]


def marked(scores: Rows, marks: NDArray[np.bool_]) -> LabelSets:
    """The marked labels of every document, best first, ties by rising number."""
    return [
        sorted(np.flatnonzero(chosen).tolist(), key=lambda label: (-row[label], label))
        for row, chosen in zip(scores, marks, strict=True)
    ]


def predicted(classifier: Classifier, predictions: Iterable[Prediction]) -> LabelSets:
    return [in_order(classifier, (one.label for one in found.labels)) for found in predictions]


def planned(classifier: Classifier, scores: Rows, query: Query) -> tuple[LabelSets, LabelSets]:
    """What /predict gives for each text alone, and for all in one request."""
    plan, texts = plan_of(query, classifier), texts_of(scores)
    alone = [plan.predictions([text])[0] for text in texts]
    return predicted(classifier, alone), predicted(classifier, plan.predictions(texts))


def records_of(classifier: Classifier, scores: Rows) -> list[Record]:
    """Labelled documents: every document truly has the first label."""
    first = (classifier.labels.names[0],)
    return [Record(text, first, str(row), row + 1) for row, text in enumerate(texts_of(scores))]


def evaluated(
    classifier: Classifier, scores: Rows, name: str, folder: Path
) -> tuple[LabelSets, dict[str, Any]]:
    """The label sets that an evaluation decided on, and its report."""
    file = folder / "predictions.jsonl"
    options = EvaluationOptions(decision=name, predictions=file)
    documents = records_of(classifier, scores)
    info = JudgedModel("made-up", "1", training_counts(scores), 100)
    report = evaluate(classifier, documents, options, info=info).as_dict()
    return label_sets(classifier, file.read_text()), report


def label_sets(classifier: Classifier, lines: str) -> LabelSets:
    """The labels of predictions written as JSON lines."""
    each = (json.loads(line)["labels"] for line in lines.splitlines())
    return [in_order(classifier, (label["label"] for label in labels)) for labels in each]


def training_counts(scores: Rows) -> NDArray[np.int64]:
    return np.arange(1, scores.shape[1] + 1) % 70


def store(classifier: Classifier, scores: Rows, folder: Path) -> None:
    """Write the classifier as the current version of the model `made`."""
    golden = [g.model_dump(exclude_none=True) for g in compose_golden(classifier, 0)]
    counts = {"documents": 100, "labels": scores.shape[1]}
    info = Info("0" * 64, counts, training_counts(scores), golden=golden)
    models = Store(folder)
    models.promote("made", models.write("made", classifier.state(), info))
