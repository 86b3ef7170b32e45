"""The documents that two systems decide on differently."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.evaluation.compare.common_columns import in_common_columns
from app.evaluation.kept.evaluation import OpenedEvaluation
from app.metrics.counting.pairs import FN, FP, Integers, Pairs

LISTED = 100


def differing_documents(a: OpenedEvaluation, b: OpenedEvaluation) -> dict[str, Any]:
    """`n_documents` that differ, and the first of these `documents`, with all their labels.

    `a` and `b` have what each system assigned, `true` all true labels, zero-shot ones too.
    """
    sides = in_common_columns((a, b), with_zero_shot=True)
    names, numbers = sides[0].all_names, list[int]()
    count, labels = 0, list[dict[str, list[str]]]()
    for one, other in zip(*(side.blocks() for side in sides), strict=True):
        differing = _differing(one, other, len(names))
        count += len(differing)
        for document in differing[: LISTED - len(numbers)].tolist():
            numbers.append(document)
            labels.append(_labels(document, one, other, names))
    places = a.documents.places(numbers)
    documents = [
        {"id": place.id, "line": place.line, **sets}
        for place, sets in zip(places, labels, strict=True)
    ]
    return {"n_documents": count, "documents": documents}


def _differing(one: Pairs, other: Pairs, width: int) -> Integers:
    """The numbers of the documents that were not assigned the same labels."""
    mine, theirs = (
        pairs.document * width + pairs.column for pairs in (_decided(one), _decided(other))
    )
    return np.unique(np.setxor1d(mine, theirs, assume_unique=True) // max(width, 1))


def _labels(document: int, a: Pairs, b: Pairs, names: Sequence[str]) -> dict[str, list[str]]:
    own_a, own_b = (_of(document, pairs) for pairs in (a, b))
    columns = {
        "a": _decided(own_a).column,
        "b": _decided(own_b).column,
        "true": own_a.column[own_a.kind != FP],
    }
    return {key: sorted(names[c] for c in own.tolist()) for key, own in columns.items()}


def _decided(pairs: Pairs) -> Pairs:
    return pairs.take(pairs.kind != FN)


def _of(document: int, pairs: Pairs) -> Pairs:
    """The pairs of one document; they are in document order."""
    start, end = np.searchsorted(pairs.document, [document, document + 1])
    own = slice(start, end)
    return Pairs(pairs.document[own], pairs.column[own], pairs.kind[own])
