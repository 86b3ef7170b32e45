"""How the cost of training grows with documents and with labels."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from app.learners.base import learner_class
from app.learners.linear.block_rows import BlockRows

SHARES = (0.25, 0.5, 1.0)


def growth_table() -> Iterator[str]:
    """CPU for a quarter, a half and all of the documents, then of the labels."""
    yield ""
    yield (
        "CPU s on one thread, without vectorizing. A visit to a document costs by its numbers, "
        "those of words that other documents have too. With more documents more words are such, "
        "and the weights of sixteen labels, 64 bytes a word, fit the caches less well."
    )
    yield ""
    yield "| | 1/4 | 1/2 | 1 |"
    yield "|---|---|---|---|"
    features, truth = corpus("arxiv-cs60k")
    rows = [int(share * truth.shape[0]) for share in SHARES]
    parts = [(features[:n], truth[:n]) for n in rows]
    yield row(
        "one-vs-rest, documents of arxiv-cs60k", [cpu("one-vs-rest", *part) for part in parts]
    )
    shared = [BlockRows.of(features[:n], 1.0) for n in rows]
    numbers = [len(documents.rows.columns) for documents in shared]
    yield row("… numbers a document", [n / count for n, count in zip(numbers, rows, strict=True)])
    yield row("… MB of sixteen labels' weights", [64e-6 * len(part.kept) for part in shared])
    features, truth = corpus("yso-en-mid")
    labels = np.random.default_rng(0).permutation(truth.shape[1])
    counts = [int(share * truth.shape[1]) for share in SHARES]
    parts = [(features, csr_array(truth[:, np.sort(labels[:n])])) for n in counts]
    yield row("tree, labels of yso-en-mid", [cpu("tree", *part) for part in parts])
    fewer = features.shape[0] // 4
    found = [cpu("one-vs-rest", x[:fewer], y[:fewer]) for x, y in parts]
    yield row("one-vs-rest, labels of yso-en-mid, a quarter of its documents", found)


def row(title: str, figures: list[float]) -> str:
    """A row of the table."""
    return f"| {title} | {' | '.join(f'{figure:.1f}' for figure in figures)} |"


def cpu(kind: str, features: Any, truth: Any) -> float:
    """The CPU of one training."""
    start = time.process_time()
    learner_class(kind)().fit(features, truth)
    return time.process_time() - start


def corpus(name: str) -> tuple[Any, Any]:
    """Features and truth of a corpus's training documents."""
    from bench.harness.environment import data_folder

    from app.datasets.collection import load_collection
    from app.labels import LabelIndex
    from app.vectorizers.tfidf import Tfidf

    data = load_collection(data_folder() / name / "train.txt.gz")
    truth = LabelIndex.of(data.label_sets).truth(data.label_sets)
    return Tfidf().fit_transform(data.documents), truth
