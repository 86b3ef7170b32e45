"""Two label files of the same documents side by side: how far two annotators agree."""

from collections.abc import Iterable
from typing import Any

from app.errors import InvalidDataError
from app.evaluation.chunks import TestDocument
from app.labels import LabelIndex
from app.metrics.significance.agreement import agreement


def annotator_agreement(
    first: Iterable[TestDocument], second: Iterable[TestDocument]
) -> dict[str, Any]:
    """Overlap of the two, over the documents that both have.

    Documents are matched by id where every document of both files has one, else by their order.
    """
    a, b = list(map(_entry, first)), list(map(_entry, second))
    if not a or not b:
        raise InvalidDataError("there are no documents to compare")
    by_id = all(identity is not None for identity, _ in (*a, *b))
    if by_id:
        known = dict(b)
        pairs = [(labels, known[identity]) for identity, labels in a if identity in known]
    elif len(a) == len(b):
        pairs = [(ours, theirs) for (_, ours), (_, theirs) in zip(a, b, strict=True)]
    else:
        raise InvalidDataError(
            f"the files have {len(a)} and {len(b)} documents",
            accepted="ids in both files, or equally many documents in the same order",
        )
    if not pairs:
        raise InvalidDataError("no id occurs in both files")
    ours, theirs = zip(*pairs, strict=True)
    labels = LabelIndex.of((*ours, *theirs))
    figures = agreement(labels.truth(ours), labels.truth(theirs))
    counts = {"documents": len(pairs), "only_first": len(a) - len(pairs)}
    return {
        **counts,
        "only_second": len(b) - len(pairs),
        "matched_by": "id" if by_id else "order",
        "labels": len(labels),
        "pairs_first": sum(map(len, ours)),
        "pairs_second": sum(map(len, theirs)),
        **figures,
    }


def _entry(document: TestDocument) -> tuple[str | None, tuple[str, ...]]:
    return document.id, tuple(set(document.labels))
