"""How the cost of training grows with documents and with labels."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

SHARES = (0.25, 0.5, 1.0)


def growth_table() -> Iterator[str]:
    """CPU for a quarter, a half and all of the documents, then of the labels."""
    yield ""
    yield "CPU s on one thread, without vectorizing."
    yield ""
    yield "| | 1/4 | 1/2 | 1 |"
    yield "|---|---|---|---|"
    features, truth = corpus("arxiv-cs60k")
    rows = [int(share * truth.shape[0]) for share in SHARES]
    parts = [(features[:n], truth[:n]) for n in rows]
    yield row("one-vs-rest, documents of arxiv-cs60k", parts, "one-vs-rest")
    features, truth = corpus("yso-en-mid")
    labels = np.random.default_rng(0).permutation(truth.shape[1])
    counts = [int(share * truth.shape[1]) for share in SHARES]
    parts = [(features, csr_array(truth[:, np.sort(labels[:n])])) for n in counts]
    yield row("one-vs-rest, labels of yso-en-mid", parts, "one-vs-rest")
    yield row("tree, labels of yso-en-mid", parts, "tree")


def row(title: str, parts: list[tuple[Any, Any]], kind: str) -> str:
    """The CPU of a training on every part."""
    from app.learners import learner_class

    found = []
    for features, truth in parts:
        start = time.process_time()
        learner_class(kind)().fit(features, truth)
        found.append(f"{time.process_time() - start:.1f}")
    return f"| {title} | {' | '.join(found)} |"


def corpus(name: str) -> tuple[Any, Any]:
    """Features and truth of a corpus's training documents."""
    from bench.contest import data_folder

    from app.datasets.collection import load_collection
    from app.labels import LabelIndex
    from app.vectorizers.tfidf import Tfidf

    data = load_collection(data_folder() / name / "train.txt.gz")
    truth = LabelIndex.of(data.label_sets).truth(data.label_sets)
    return Tfidf().fit_transform(data.documents), truth
