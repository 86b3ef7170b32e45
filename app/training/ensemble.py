"""Ensembles: a weighted sum of the members' scores, with weights chosen on held-out scores.

Every member's scores are first brought to one scale (log-odds, by the slope that calibrates them
over all labels); then the members' weights are moved while that raises held-out micro-F1.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

from app.classifier import Member, added_up
from app.decisions.calibration.score_groups import ScoreGroups
from app.decisions.calibration.sigmoids import pooled_slope
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.errors import InvalidRequestError
from app.heldout import FewerDocuments, HeldOut
from app.training.members import FittedMember

FACTORS = (0.5, 0.7, 1.4, 2.0)
"""What a member's weight is multiplied with in turn."""
SWEEPS = 3
MIN_GAIN = 1e-4
"""The rise of micro-F1 that a change of weights must bring: less is chance."""


def combine(fitted: Sequence[FittedMember]) -> tuple[tuple[Member, ...], HeldOut]:
    """The members with their weights, and the held-out scores of their weighted sum.

    The sum runs over the documents that every member was kept from.
    """
    if len(fitted) == 1 and fitted[0].held_out is not None:
        return (fitted[0].member,), fitted[0].held_out
    rows = common_rows(fitted)
    if not len(rows):
        raise InvalidRequestError("the members have no held-out document in common")
    held_out = [_at(member, rows) for member in fitted]
    members = [
        replace(own.member, weight=_scale(scores) / len(fitted), floor=_floor(scores))
        for own, scores in zip(fitted, held_out, strict=True)
    ]
    return _with_best_weights(members, held_out)


def common_rows(fitted: Sequence[FittedMember]) -> NDArray[np.int64]:
    """The documents that every member was kept from, rising."""
    return np.asarray(reduce(np.intersect1d, [member.rows for member in fitted]))


def weighted_sum(members: Sequence[Member], held_out: Sequence[HeldOut]) -> HeldOut:
    """The held-out scores of the weighted sum; sparse ones stay sparse."""
    scores: list[Any] = [own.scores for own in held_out]
    is_sparse = any(issparse(own) for own in scores)
    total = HeldOut.of(
        _sparse_sum(members, scores) if is_sparse else added_up(members, scores),
        held_out[0].truth,
        is_exact=all(own.is_exact for own in held_out),
        parts=held_out[0].parts,
    )
    return replace(total, fewer=_fewer(members, [own.fewer for own in held_out]))


def _fewer(members: Sequence[Member], fewer: list[FewerDocuments | None]) -> FewerDocuments | None:
    """The weighted sum of scores of the same documents and labels; None where they differ."""
    known = [own for own in fewer if own is not None]
    if len(known) < len(fewer) or any(
        not np.array_equal(own.rows, known[0].rows)
        or not np.array_equal(own.labels, known[0].labels)
        for own in known
    ):
        return None
    return known[0]._replace(scores=added_up(members, [own.scores for own in known]))


def _with_best_weights(
    members: list[Member], held_out: list[HeldOut]
) -> tuple[tuple[Member, ...], HeldOut]:
    best = weighted_sum(members, held_out)
    best_value = _micro_f1(best)
    for _ in range(SWEEPS):
        before = best_value
        for i in range(len(members)):
            for factor in FACTORS:
                tried = members.copy()
                tried[i] = replace(members[i], weight=members[i].weight * factor)
                scores = weighted_sum(tried, held_out)
                value = _micro_f1(scores)
                if value > best_value + MIN_GAIN:
                    members, best, best_value = tried, scores, value
        if best_value == before:
            break
    return tuple(members), best


def _micro_f1(held_out: HeldOut) -> float:
    hulls = Hulls.of(held_out)
    return micro_f(hulls, micro_f_vertices(hulls))


def _at(fitted: FittedMember, rows: Any) -> HeldOut:
    """A member's held-out scores of the given documents only."""
    if fitted.held_out is None:
        raise InvalidRequestError("an ensemble is weighted on held-out scores: use --folds")
    return fitted.held_out.at(np.searchsorted(fitted.rows, rows))


def _scale(held_out: HeldOut) -> float:
    return float(pooled_slope(ScoreGroups.of(held_out)))


def _floor(held_out: HeldOut) -> float:
    """Just below every score, so that a sparse sum stores no zero."""
    scores = held_out.scores.data if issparse(held_out.scores) else held_out.scores
    finite = scores[scores > -np.inf]
    return float(np.floor(finite.min(initial=0)) - 1)


def _sparse_sum(members: Sequence[Member], scores: Sequence[Any]) -> Any:
    """Stored scores added up as distances from the floors, then moved back."""
    total: Any = None
    for member, own in zip(members, scores, strict=True):
        above = own.copy() if issparse(own) else _stored(own)
        above.data = (above.data - np.float32(member.floor)) * np.float32(member.weight)
        total = above if total is None else total + above
    total.data += np.float32(sum(member.weight * member.floor for member in members))
    return total


def _stored(scores: Any) -> Any:
    """The scores that exist of a member that has them all: zeros are kept, -inf is not."""
    documents, labels = np.nonzero(scores > -np.inf)
    pairs = (scores[documents, labels], (documents, labels))
    return csc_array(pairs, shape=scores.shape)
