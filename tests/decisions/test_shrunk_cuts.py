"""Cuts shrunk to the common cut of all labels."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.shrunk_cuts import common_cut, shrunk_cuts
from app.decisions.tuning.tune import tune
from app.errors import InvalidRequestError
from app.heldout import HeldOut


def held_out(seed: int = 0, documents: int = 60) -> HeldOut:
    """Three labels with many, two and no positives; scores rounded, so that some are equal."""
    random = np.random.default_rng(seed)
    truth = random.random((documents, 3)) < [0.4, 0, 0]
    truth[:2, 1] = True
    scores = np.round(random.normal(size=(documents, 3)) + 2 * truth, 1).astype(np.float32)
    return HeldOut.of(scores, csr_array(truth))


def f_beta(data: HeldOut, cut: float, beta: float) -> float:
    assigned, marks = data.scores > cut, data.truth.toarray()
    right = (assigned & marks).sum()
    return float((1 + beta**2) * right / (assigned.sum() + beta**2 * marks.sum()))


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_the_common_cut_is_the_best_of_all_that_labels_can_share(beta: float) -> None:
    for seed in range(5):
        data = held_out(seed)
        best = max(f_beta(data, cut, beta) for cut in [-9.0, *data.scores.ravel()])
        assert f_beta(data, common_cut(data, beta), beta) == pytest.approx(best)


def test_a_cut_is_shrunk_the_more_the_fewer_positives_its_label_has() -> None:
    data = held_out()
    one, cuts = common_cut(data), np.array([5.0, 5.0, np.inf], np.float32)
    shrunk = shrunk_cuts(data, cuts, shrinkage=2, beta=1.0)
    n = data.truth[:, [0]].sum()
    np.testing.assert_allclose(shrunk[0], (5 * n + 2 * one) / (n + 2), rtol=1e-6)
    np.testing.assert_allclose(shrunk[1:], [(5 + one) / 2, one], rtol=1e-6)


def test_micro_f_shrinks_cuts_when_told_and_refuses_less_than_nothing() -> None:
    data = held_out()
    hulls = Hulls.of(data)
    own, shrunk = (tune("micro-f", data, hulls, TuningOptions(shrinkage=s)) for s in (0, 1e9))
    assert own.cuts is not None
    assert np.isinf(own.cuts[2])
    np.testing.assert_allclose(shrunk.cuts, common_cut(data), rtol=1e-6)
    with pytest.raises(InvalidRequestError, match="shrinkage"):
        TuningOptions(shrinkage=-1)
