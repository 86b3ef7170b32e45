"""Label files of the same documents side by side: how far annotators agree."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Truth
from app.errors import InvalidDataError
from app.evaluation.chunks import TestDocument
from app.evaluation.compare.annotations import LISTED, Annotations, match
from app.evaluation.report.report import json_safe
from app.metrics.agreement.fleiss_kappa import fleiss_kappa
from app.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from app.metrics.agreement.overlap import agreement
from app.metrics.agreement.ratings import Ratings


def annotator_agreement(
    *files: Iterable[TestDocument], names: Sequence[str] = (), unlabelled: str = "keep"
) -> dict[str, Any]:
    """How far two annotators or more agree: overlaps, and coefficients that allow for chance.

    Two: the overlap of the one pair. More: that of every pair, and of each with the majority of the
    others. docs/metrics.md has the names; `match` has what `unlabelled` means.
    """
    names = names or [str(number) for number in range(1, len(files) + 1)]
    matched = match(files, names, unlabelled=unlabelled)
    ratings = matched.ratings()
    if not (ratings.judges > 1).any():
        what = "id occurs in both files" if len(files) == 2 else "document is in two of the files"
        raise InvalidDataError(f"no {what}")
    if len(files) == 2:
        figures = {**_pair(matched, 0, 1), "matched_by": matched.matched_by}
    else:
        figures = _several(matched, ratings)
    return json_safe({**figures, **_coefficients(matched, ratings)})  # type: ignore[no-any-return]


def _pair(matched: Annotations, one: int, other: int) -> dict[str, Any]:
    """Two annotators, over the documents that both judged; without any, figures are None."""
    both = matched.judged[one] & matched.judged[other]
    first, second = matched.label_sets[one][both], matched.label_sets[other][both]
    return {
        "documents": int(both.sum()),
        "only_first": int((matched.judged[one] & ~both).sum()),
        "only_second": int((matched.judged[other] & ~both).sum()),
        "labels": len(np.union1d(first.indices, second.indices)),
        "pairs_first": int(first.nnz),
        "pairs_second": int(second.nnz),
        **_overlaps(first, second),
    }


def _several(matched: Annotations, ratings: Ratings) -> dict[str, Any]:
    names = matched.names
    numbers = range(len(names))
    return {
        "annotators": [_annotator(matched, number) for number in numbers],
        "matched_by": matched.matched_by,
        "documents": len(matched.documents),
        "documents_of_all": int((ratings.judges == len(names)).sum()),
        "labels": len(matched.labels),
        "pairs": [
            {"first": names[one], "second": names[other], **_pair(matched, one, other)}
            for one, other in combinations(numbers, 2)
        ],
        "majority": [_with_majority(matched, ratings, number) for number in numbers],
    }


def _annotator(matched: Annotations, number: int) -> dict[str, Any]:
    missing = matched.missing(number)
    return {
        "annotator": matched.names[number],
        "documents": len(matched.documents) - len(missing),
        "pairs": int(matched.label_sets[number].nnz),
        "missing": len(missing),
        "missing_documents": missing[:LISTED],
    }


def _with_majority(matched: Annotations, ratings: Ratings, number: int) -> dict[str, Any]:
    """An annotator against the labels that more than half of the others gave.

    A label that exactly half of them gave has no majority either way: that pair of document and
    label is not counted. Documents that no other judged are left out.
    """
    own, others = matched.label_sets[number], ratings.given - matched.label_sets[number]
    judges = ratings.judges - matched.judged[number]
    rows = matched.judged[number] & (judges > 0)
    own, others, judges = own[rows], others[rows], judges[rows]
    majority, is_tied = _majority(others, judges)
    counted = own.astype(np.int64) - own.multiply(is_tied).astype(np.int64) > 0
    return {
        "annotator": matched.names[number],
        "documents": int(rows.sum()),
        "ties": int(is_tied.sum()),
        **_overlaps(counted, majority),
    }


def _majority(given: Any, judges: NDArray[np.int64]) -> tuple[Truth, Truth]:
    """Where more than half of the judges gave the label, and where exactly half did."""
    doubled, of = 2 * given.data, np.repeat(judges, np.diff(given.indptr))
    most, tied = given.astype(np.bool_), given.astype(np.bool_)
    most.data, tied.data = doubled > of, (doubled == of) & (of > 0)
    most.eliminate_zeros()
    tied.eliminate_zeros()
    return most, tied


def _overlaps(first: Truth, second: Truth) -> dict[str, float | None]:
    found = agreement(first, second)
    return found if first.shape[0] else dict.fromkeys(found)


def _coefficients(matched: Annotations, ratings: Ratings) -> dict[str, Any]:
    """Fleiss' κ and Krippendorff's α over all labels, and by label."""
    kappa, alpha = fleiss_kappa(ratings), krippendorff_alpha(ratings)
    given = np.stack([np.asarray(one.sum(axis=0)).ravel() for one in matched.label_sets], axis=1)
    table = zip(
        matched.labels.names,
        given.tolist(),
        kappa.labels.tolist(),
        alpha.labels.tolist(),
        strict=True,
    )
    return {
        "fleiss_kappa": kappa.overall,
        "krippendorff_alpha": alpha.overall,
        "by_label": [
            {"label": label, "given": counts, "fleiss_kappa": k, "krippendorff_alpha": a}
            for label, counts, k, a in table
        ],
    }
