"""Quality with the default learner beside LIBLINEAR's own weights, corpus by corpus."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.harness.environment import data_folder
from bench.harness.sections import keep_figures

CORPORA = (
    "reuters",
    "ohsumed",
    "go_emotions",
    "debtags",
    "arxiv-cs60k",
    "arxiv-msc-20k",
    "yso-en-mid",
    "bibtex",
    "delicious",
    "scene",
    "yeast",
)


MOST_LABELS, SAMPLED = 10_000, 300
"""Of corpora with more labels a sample is taken, from frequent to rare: LIBLINEAR needs hours."""
FIGURES = ("P@1", "P@3", "P@5", "NDCG@5", "micro-F1", "macro-F1")
RANKING = 4


def quality_table(names: tuple[str, ...] = CORPORA) -> Iterator[str]:
    """Ranking, and F1 at the cut 0, on the test documents, for both solvers."""
    yield ""
    yield (
        "Test documents, cut at 0; `default` is the block solver with pruned weights, `LIBLINEAR` "
        "is `-s 1 -c 1 -B 1 -e 0.0001` with all weights. Of corpora with more than "
        f"{MOST_LABELS:,} labels {SAMPLED} are trained and ranked, from frequent to rare."
    )
    yield ""
    yield f"| corpus | learner | weights stored | {' | '.join(FIGURES)} |"
    yield "|---|---|---|" + "---|" * len(FIGURES)
    worst = (0.0, "none")
    for name in names:
        data = matrices(name)
        ours: dict[str, float] = {}
        theirs: dict[str, float] = {}
        for learner, found in (("default", ours), ("LIBLINEAR", theirs)):
            stored, figures = trained(learner, data)
            found.update(zip(FIGURES, figures, strict=True))
            values = " | ".join(f"{figure:.4f}" for figure in figures)
            yield f"| {name} | {learner} | {stored:,} | {values} |"
        falls = [(theirs[key] - ours[key], f"{key} on {name}") for key in FIGURES[:RANKING]]
        worst = max([worst, *falls])
    yield ""
    keep_figures("training-quality", {"fall": worst[0]})
    yield f"The largest fall of a ranking figure below LIBLINEAR's: {worst[0]:.4f} ({worst[1]})."


def trained(which: str, data: tuple[Any, Any, Any, Any]) -> tuple[int, list[float]]:
    """How many weights one learner keeps, and its figures."""
    from app.learners.base import Fitting
    from app.learners.one_vs_rest import OneVsRest

    features, truth, test_features, test_truth = data
    options = {} if which == "default" else {"solver": "liblinear", "prune": 0.0}
    fine = {} if which == "default" else {"options": "-s 1 -c 1 -B 1 -e 0.0001"}
    learner = OneVsRest(**options, **fine)  # type: ignore[arg-type]
    fitted = learner.fit(features, truth, Fitting(jobs=os.cpu_count() or 1))
    stored = np.count_nonzero(fitted.weights.matrix().data)
    return int(stored), measured(fitted.scores(test_features), test_truth)


def measured(scores: Any, truth: Any) -> list[float]:
    """The figures of FIGURES; macro-F1 over all labels."""
    from app.metrics.counting.true_ranks import TrueRanks
    from app.metrics.ndcg import ndcg_at
    from app.metrics.precision_at_k import precision_at

    ranked, marks, decided = TrueRanks.of(scores, truth), truth.toarray(), scores > 0
    right = (decided & marks).sum(axis=0)
    total = decided.sum(axis=0) + marks.sum(axis=0)
    each = 2 * right / np.maximum(total, 1)
    micro = 2 * right.sum() / max(total.sum(), 1)
    precisions = [float(precision_at(ranked, k).mean()) for k in (1, 3, 5)]
    return [*precisions, float(ndcg_at(ranked, 5).mean()), float(micro), float(each.mean())]


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
    truths = labels.truth(train.label_sets), labels.truth(test.label_sets)
    chosen = some_labels(truths[0])
    return features, csr_array(truths[0][:, chosen]), tested, csr_array(truths[1][:, chosen])


def some_labels(truth: Any) -> Any:
    """All labels, or SAMPLED of them at equal steps of their order by frequency."""
    order = np.argsort(-truth.sum(axis=0), kind="stable")
    n_labels = len(order) if len(order) <= MOST_LABELS else SAMPLED
    steps = np.linspace(0, len(order) - 1, n_labels)
    return np.sort(order[steps.astype(int)])


if __name__ == "__main__":
    for line in quality_table(tuple(sys.argv[1:]) or CORPORA):
        print(line, flush=True)
