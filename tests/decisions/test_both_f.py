"""both-f gives up next to no micro-F1 for more macro-F1."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.decisions.decision import Decision
from app.decisions.tuning.both_f import MOST_LOSS, both_f, both_f_vertices
from app.decisions.tuning.held_out_figures import held_out_figures
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.shrunk_cuts import shrunk_in_ranks
from app.decisions.tuning.tune import tune
from app.heldout import HeldOut


def drawn(seed: int, *, n_documents: int = 400, n_labels: int = 12) -> HeldOut:
    """Scores of labels that grow rarer, and harder to tell."""
    random = np.random.default_rng(seed)
    truth = random.random((n_documents, n_labels)) < 0.5 / np.arange(1, n_labels + 1)
    known = 2.5 * truth / np.sqrt(np.arange(1, n_labels + 1))
    return HeldOut.of(random.standard_normal(truth.shape) + known, csr_array(truth))


def figures(name: str, held_out: HeldOut, **settings: Any) -> dict[str, float]:
    decision = tune(name, held_out, Hulls.of(held_out), TuningOptions(**settings))
    return held_out_figures(decision, held_out)


def test_macro_f1_rises_and_micro_f1_falls_by_next_to_nothing() -> None:
    gains = []
    for seed in range(5):
        micro, both = (figures(name, drawn(seed), resamples=0) for name in ("micro-f", "both-f"))
        assert both["micro_f1"] >= micro["micro_f1"] - MOST_LOSS
        gains.append(both["macro_f1"] - micro["macro_f1"])
    assert min(gains) >= 0
    assert max(gains) > 0.005


@pytest.mark.parametrize("seed", range(5))
def test_no_other_vertices_of_two_labels_have_a_higher_sum_at_that_micro_f1(seed: int) -> None:
    """By trying all of them."""
    hulls = Hulls.of(drawn(seed, n_documents=60, n_labels=2))
    vertices, worth = both_f_vertices(hulls)
    least = micro_f(hulls, micro_f_vertices(hulls)) - MOST_LOSS
    if worth.weight < 1:
        assert micro_f(hulls, vertices) >= least
        return
    sums = [
        both_f(hulls, np.array(places))
        for places in product(*(range(*hulls.offsets[i : i + 2]) for i in range(2)))
    ]
    assert both_f(hulls, vertices) == pytest.approx(max(sums), abs=2e-3)


def test_cuts_averaged_over_resamples_are_the_same_with_the_same_seed() -> None:
    held_out = drawn(0)
    one, two = (tune("both-f", held_out, Hulls.of(held_out)) for _ in range(2))
    assert one.cuts is not None
    assert two.cuts is not None
    np.testing.assert_array_equal(one.cuts, two.cuts)
    other = tune("both-f", held_out, Hulls.of(held_out), TuningOptions(seed=1))
    assert not np.array_equal(one.cuts, other.cuts)  # type: ignore[arg-type]


def test_a_rare_label_that_ranks_low_is_not_handed_to_thousands() -> None:
    scores = np.linspace(1, 0, 2000)[:, None].astype(np.float32)
    truth = np.zeros((2000, 1), np.bool_)
    truth[1500] = True
    held_out = HeldOut.of(scores, csr_array(truth))
    cuts = np.array([scores[1501, 0]], np.float32)
    shrunk = shrunk_in_ranks(held_out, cuts, 10.0)
    # The mean log rank of 1501, once, and of one positive, ten times.
    assert np.count_nonzero(Decision(shrunk, "").decide(scores)) == round(1501 ** (1 / 11))
    np.testing.assert_array_equal(shrunk_in_ranks(held_out, cuts, 0.0), cuts)


def test_frequent_labels_keep_their_cuts() -> None:
    held_out = drawn(0, n_documents=2000, n_labels=1)
    cuts = np.array([0.8], np.float32)
    n_before, n_after = (
        np.count_nonzero(held_out.scores > own)
        for own in (cuts, shrunk_in_ranks(held_out, cuts, 10.0))
    )
    assert n_before * 0.98 <= n_after <= n_before
