"""Quality with the default learner beside LIBLINEAR's own weights, corpus by corpus."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.contest import data_folder

CORPORA = (
    "reuters",
    "ohsumed",
    "go_emotions",
    "debtags",
    "arxiv-cs60k",
    "bibtex",
    "delicious",
    "scene",
    "yeast",
)


def quality_table(names: tuple[str, ...] = CORPORA) -> Iterator[str]:
    """P@K and micro-F1 at the cut 0 on the test documents, for both solvers."""
    yield ""
    yield (
        "Test documents, cut at 0; `default` is the block solver with pruned weights, `LIBLINEAR` "
        "is `-s 1 -c 1 -B 1 -e 0.0001` with all weights."
    )
    yield ""
    yield "| corpus | learner | weights stored | P@1 | P@3 | P@5 | micro-F1 | macro-F1 |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in names:
        data = matrices(name)
        yield row(name, "default", data)
        yield row(name, "LIBLINEAR", data)


def row(name: str, learner: str, data: tuple[Any, Any, Any, Any]) -> str:
    """One learner's figures on one corpus."""
    from app.learners.one_vs_rest import OneVsRest

    features, truth, test_features, test_truth = data
    options = {} if learner == "default" else {"solver": "liblinear", "prune": 0.0}
    fine = {} if learner == "default" else {"options": "-s 1 -c 1 -B 1 -e 0.0001"}
    fitted = OneVsRest(**options, **fine).fit(features, truth)  # type: ignore[arg-type]
    arrays = fitted.weights.arrays
    stored = np.count_nonzero(arrays["weights" if "weights" in arrays else "values"])
    figures = measured(fitted.scores(test_features), test_truth.toarray())
    return f"| {name} | {learner} | {stored:,} | " + " | ".join(f"{f:.4f}" for f in figures) + " |"


def measured(scores: Any, marks: Any) -> list[float]:
    """P@1, P@3, P@5, micro-F1 and macro-F1 over all labels."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    hits = np.take_along_axis(marks, best, axis=1)
    decided = scores > 0
    right = (decided & marks).sum(axis=0)
    total = decided.sum(axis=0) + marks.sum(axis=0)
    each = 2 * right / np.maximum(total, 1)
    micro = 2 * right.sum() / max(total.sum(), 1)
    return [*(float(hits[:, :k].mean()) for k in (1, 3, 5)), float(micro), float(each.mean())]


def matrices(name: str) -> tuple[Any, Any, Any, Any]:
    """Features and truth to train on, features and truth to test on."""
    from app.datasets.collection import load_collection
    from app.labels import LabelIndex
    from app.vectorizers.ready_made import ReadyMade
    from app.vectorizers.tfidf import Tfidf

    folder = data_folder() / name
    suffix = ".txt.gz" if (folder / "train.txt.gz").exists() else ".svm.gz"
    train, test = (load_collection(folder / f"{part}{suffix}") for part in ("train", "test"))
    labels = LabelIndex.of(train.label_sets)
    vectorizer = ReadyMade() if train.is_ready_made else Tfidf()
    features = vectorizer.fit_transform(train.documents)
    tested = vectorizer.transform(test.documents)
    return features, labels.truth(train.label_sets), tested, labels.truth(test.label_sets)


if __name__ == "__main__":
    for line in quality_table(tuple(sys.argv[1:]) or CORPORA):
        print(line, flush=True)
