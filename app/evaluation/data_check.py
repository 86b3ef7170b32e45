"""check: what a test set holds and what models make of it, before anything is evaluated."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.datasets.base import Summary
from app.datasets.fingerprint import fingerprints
from app.datasets.reading import Reading
from app.evaluation.answered_labels import answered_labels, old_names
from app.evaluation.chunks import TestDocument, chunks
from app.evaluation.measure.leakage import seen_in_training
from app.evaluation.options import JudgedModel
from app.evaluation.scorer import Scorer

FIRST_IDS, FIRST_LABELS = 5, 20
LONGEST = 100
"""Characters of an id or a label that are shown."""

Hashes = NDArray[np.uint64]


@dataclass
class CheckedModel:
    """A model that the data are to be evaluated with, and what was counted for it."""

    scorer: Scorer
    info: JudgedModel
    seen: int = 0
    known: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.known = frozenset(answered_labels(self.scorer).names).union(old_names(self.scorer))


def check(documents: Reading, models: Mapping[str, CheckedModel]) -> dict[str, Any]:
    """What was read, JSON-safe; memory grows by the label names and a hash for each text.

    A label is unknown where one of the models does not know it. A document is a duplicate where a
    text before it differs in white space at most.
    """
    ids, labels, hashes = list[str](), set[str](), list[Hashes]()
    for _, chunk in chunks(documents, n_labels=0):
        ids += [one.id[:LONGEST] for one in chunk if one.id is not None][: FIRST_IDS - len(ids)]
        labels.update(*(one.labels for one in chunk))
        hashes.append(_hashes(chunk))
        for model in models.values():
            model.seen += seen_in_training(chunk, model.info.fingerprints)
    unknown = sorted(set[str]().union(*(labels - model.known for model in models.values())))
    duplicates = _repeated(hashes)
    found = documents.summary
    return {
        "format": documents.format,
        "documents": found.documents,
        "labelled": found.documents - found.unlabelled,
        "unlabelled": found.unlabelled,
        "labels": found.labels,
        "unknown_labels": [label[:LONGEST] for label in unknown[:FIRST_LABELS]],
        "n_unknown_labels": len(unknown),
        "duplicates": duplicates,
        "seen_in_training": {name: model.seen for name, model in models.items()},
        "ids": ids,
        "data": found.sha256,
        "skipped": found.skipped,
        "warnings": [*_sentences(found, len(unknown), duplicates), *found.warnings],
    }


def _hashes(chunk: Iterable[TestDocument]) -> Hashes:
    return fingerprints(document.text for document in chunk if document.features is None)


def _repeated(hashes: list[Hashes]) -> int:
    every = np.concatenate(hashes) if hashes else np.zeros(0, np.uint64)
    return len(every) - len(np.unique(every))


def _sentences(found: Summary, unknown: int, duplicates: int) -> list[str]:
    """What deserves a look; without a character of the data."""
    counted = {
        "there are no documents": not found.documents,
        f"{unknown} of {found.labels} labels are not known to every model": unknown,
        f"{duplicates} documents repeat the text of one before": duplicates,
        f"{found.duplicate_ids} documents have the id of one before": found.duplicate_ids,
        f"{found.empty_texts} documents have no text": found.empty_texts,
        f"{found.skipped} records could not be read and would be skipped": found.skipped,
    }
    return [sentence for sentence, count in counted.items() if count]
