"""Ensembles add up their members' scores, with weights chosen on held-out documents."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from app.artifacts.store import Store
from app.classifier import Member, added_up
from app.datasets.collection import Collection
from app.errors import InvalidRequestError
from app.explanation import explain
from app.heldout import HeldOut
from app.learners.one_vs_rest import OneVsRest
from app.model import load_model
from app.training.ensemble import combine, weighted_sum
from app.training.members import FittedMember
from app.training.publish import publish
from app.training.recipe import Recipe
from app.training.train import TrainingJob, train
from app.vectorizers.ready_made import ReadyMade

PARTS = (ReadyMade(), OneVsRest())  # unfitted: these tests bring scores of their own


def drawn(quality: float, seed: int, scale: float = 1.0) -> Any:
    """Scores of 300 documents that know the truth of 5 labels as well as `quality` says."""
    noise = np.random.default_rng(seed).standard_normal((300, 5))
    return (scale * (quality * truth() + noise)).astype(np.float32)


def truth() -> Any:
    return np.random.default_rng(0).random((300, 5)) < 0.3


def fitted(scores: Any, rows: Any = slice(None)) -> FittedMember:
    held_out = HeldOut.of(scores[rows], csr_array(truth()[rows]))
    return FittedMember(Member(*PARTS), held_out, np.arange(300)[rows])


def test_members_of_other_units_are_brought_to_one_scale_and_bad_ones_down() -> None:
    good, loud, useless = drawn(2, 1), drawn(2, 2, scale=50), drawn(0, 3)
    members, held_out = combine([fitted(good), fitted(loud), fitted(useless)])
    shares = [abs(m.weight) * s.std() for m, s in zip(members, (good, loud, useless), strict=True)]
    assert 0.3 < shares[0] / shares[1] < 3
    assert shares[2] < 0.5 * min(shares[:2])
    expected = sum(m.weight * s for m, s in zip(members, (good, loud, useless), strict=True))
    np.testing.assert_allclose(held_out.scores, expected, rtol=1e-4, atol=1e-4)


def test_only_documents_that_all_were_kept_from_count() -> None:
    members, held_out = combine([fitted(drawn(2, 1)), fitted(drawn(1, 2), slice(0, 200, 2))])
    assert held_out.n_documents == 100
    np.testing.assert_array_equal(held_out.truth.toarray(), truth()[:200:2])
    assert len(members) == 2
    halves = [fitted(drawn(1, 1), slice(0, 150)), fitted(drawn(1, 1), slice(150, 300))]
    with pytest.raises(InvalidRequestError, match="in common"):
        combine(halves)


def test_what_one_member_does_not_score_counts_as_its_floor() -> None:
    members = [Member(*PARTS, 2.0, -3.0), Member(*PARTS, 1.0, -5.0)]
    first = np.array([[1.0, -np.inf, -np.inf]], np.float32)
    second = np.array([[0.5, 2.0, -np.inf]], np.float32)
    total = added_up(members, [first, second])
    assert total.tolist() == [[2.5, -4.0, -np.inf]]
    stored = [csc_array((s[s > -9], np.nonzero(s > -9)), s.shape) for s in (first, second)]
    held_out = [HeldOut.of(s, csr_array((1, 3), dtype=np.bool_)) for s in stored]
    summed = weighted_sum(members, held_out).scores
    np.testing.assert_allclose(summed.toarray(), [[2.5, -4.0, 0.0]])


def test_members_may_have_all_scores_or_the_best_of_them() -> None:
    members = [Member(*PARTS, 2.0, -3.0), Member(*PARTS, 1.0, -5.0)]
    whole = np.array([[0.0, -np.inf, 1.0]], np.float32)
    best = csc_array(([0.5, 2.0], ([0, 0], [0, 1])), (1, 3), dtype=np.float32)
    held_out = [HeldOut.of(s, csr_array((1, 3), dtype=np.bool_)) for s in (whole, best)]
    summed = weighted_sum(members, held_out).scores
    np.testing.assert_allclose(summed.toarray(), [[0.5, -4.0, -3.0]])


def test_a_trained_ensemble_scores_as_the_weighted_sum_and_comes_back_equal(
    corpus: Collection, tmp_path: Path
) -> None:
    words = {"learner": "one-vs-rest"}
    characters = {
        "learner": "one-vs-rest",
        "settings": {"options": "-s 1 -c 4"},
        "features": {"analyzer": "char_wb", "ngram_range": [3, 4]},
    }
    trained = train(TrainingJob(corpus, Recipe.from_tables({"members": [words, characters]})))
    store = Store(tmp_path)
    publish(trained, store, "both")
    model = load_model(store, "both").classifier
    texts = corpus.documents[:20]
    parts = [member.weight * member.scores(texts) for member in model.members]
    np.testing.assert_allclose(model.scores(texts), parts[0] + parts[1], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(model.decide(texts), trained.classifier.decide(texts))
    (found,) = explain(model, texts[0], [2], 4)
    assert {len(reason.name) > 4 for reason in found.because} == {True, False}
    total = sum(reason.weight for reason in found.because) + found.bias + found.rest
    assert total == pytest.approx(model.scores(texts)[0, 2], abs=1e-4)


def test_what_a_member_does_not_score_counts_for_less_than_its_lowest_score() -> None:
    scores = [drawn(2, 1, scale=10), drawn(2, 2) + 100]
    members, _ = combine([fitted(own) for own in scores])
    for member, own in zip(members, scores, strict=True):
        assert own.min() - 2 <= member.floor < own.min() or member.floor < 0 <= own.min()


def test_a_members_weight_makes_its_scores_log_odds() -> None:
    quiet, loud = (fitted(drawn(2, 1, scale=scale)) for scale in (1.0, 1000.0))
    members, _ = combine([quiet, loud])
    assert members[0].weight / members[1].weight == pytest.approx(1000, rel=0.01)
