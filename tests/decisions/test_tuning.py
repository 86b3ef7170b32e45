"""Every name a user may write gives its decision, and other names say what is accepted."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.decisions.abstention import Abstention
from app.decisions.base import Batch, Use
from app.decisions.decision import Decision
from app.decisions.parser import rules
from app.decisions.rules.proportion_cut import ProportionCut
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.micro_f import micro_f_vertices
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.tune import tune
from app.errors import InvalidRequestError
from app.heldout import HeldOut
from tests.decisions.cases import given_patiently, held_outs

TRAINED = [rule for rule in rules() if Use.TRAINING in rule.uses]
NAMES = [name for rule in TRAINED for name in rule.examples]
TUNED = [rule.syntax for rule in TRAINED if rule.is_tuned]


def held_out(scores: list[list[float]], truth: list[list[int]]) -> HeldOut:
    return HeldOut.of(np.array(scores, np.float32), csr_array(np.array(truth, np.bool_)))


def tuned(name: str, data: HeldOut, **options: float) -> Decision:
    return tune(name, data, Hulls.of(data), TuningOptions(**options))


@pytest.mark.parametrize("name", NAMES)
@given_patiently(held_outs())
def test_every_decision_comes_back_equal_and_never_gives_what_has_no_score(
    name: str, data: HeldOut
) -> None:
    decision = tuned(name, data)
    assert decision.name == name
    again = Decision.from_state(decision.state())
    marks = decision.decide(data.scores)
    np.testing.assert_array_equal(again.decide(data.scores), marks)
    assert again.name == name
    assert not marks[data.scores == -np.inf].any()
    assert decision.decide(data.scores[:0]).shape == (0, data.n_labels)


@pytest.mark.parametrize("name", TUNED)
def test_a_label_without_positives_is_never_assigned(name: str) -> None:
    data = held_out([[1, 9], [2, 8], [3, 7], [0, 9]], [[0, 0], [1, 0], [1, 0], [0, 0]])
    cuts = tuned(name, data).cuts
    assert cuts is not None
    assert cuts[1] == np.inf
    assert tuned(name, data).decide(data.scores)[:, 0].any()


@pytest.mark.parametrize(
    "name", ["", "micro", "rank", "rank:0", "rank:x", "rank:²", "proportion:1"]
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"accepted: zero, rank:K, micro-f|rank:K needs"):
        tuned(name, held_out([[1]], [[1]]))


@given_patiently(held_outs())
def test_without_resamples_micro_f_is_the_best_there_is(data: HeldOut) -> None:
    hulls = Hulls.of(data)
    exact = tuned("micro-f", data, resamples=0)
    np.testing.assert_array_equal(exact.cuts, hulls.cuts[micro_f_vertices(hulls)])


def test_bagged_cuts_lie_where_the_trade_changes_not_in_a_chance_gap() -> None:
    # Far more right than wrong above 0, and one stray positive far below.
    random = np.random.default_rng(0)
    scores = np.concatenate([random.uniform(0, 1, 60), random.uniform(-1, 0, 60), [-3.0]])
    truth = np.concatenate([random.random(60) < 0.9, random.random(60) < 0.1, [True]])
    data = held_out(scores[:, None].tolist(), truth[:, None].tolist())
    bagged = tuned("macro-f", data)
    assert bagged.cuts is not None
    assert -0.3 < bagged.cuts[0] < 0.3
    np.testing.assert_array_equal(tuned("macro-f", data).cuts, bagged.cuts)


@pytest.mark.parametrize("name", ["micro-f", "macro-f"])
def test_bagged_cuts_part_the_same_documents_on_any_scale_of_the_scores(name: str) -> None:
    random = np.random.default_rng(4)
    scores = random.standard_normal((300, 4)).astype(np.float32)
    truth = csr_array(scores + random.standard_normal(scores.shape) > 1.5)
    plain = tuned(name, HeldOut.of(scores, truth))
    stretched = np.exp(2 * scores)
    bent = tuned(name, HeldOut.of(stretched, truth))
    differing = plain.decide(scores) != bent.decide(stretched)
    assert differing.sum() <= 2  # a cut between two scores may fall on either side of a document


@pytest.mark.parametrize("wrong", [{"beta": 0}, {"fbr": 2}, {"fbr_kind": 3}, {"resamples": -1}])
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidRequestError, match=next(iter(wrong))):
        TuningOptions(**wrong)


def test_fbr_drops_weak_labels_or_leaves_them_one_document() -> None:
    data = held_out([[3], [2], [1], [0]], [[0], [0], [0], [1]])
    assert tuned("micro-f", data, resamples=0).decide(data.scores).sum() == 4
    assert tuned("micro-f", data, fbr=0.9, fbr_kind=0).decide(data.scores).sum() == 0
    assert tuned("micro-f", data, fbr=0.9, fbr_kind=1).decide(data.scores).ravel().tolist() == [
        True,
        False,
        False,
        False,
    ]


def test_fbr_1_gives_a_weak_label_to_no_more_tied_documents_than_carry_it() -> None:
    tied = held_out([[3], [3], [1], [0]], [[0], [0], [0], [1]])
    assert tuned("micro-f", tied, fbr=0.9, fbr_kind=1).decide(tied.scores).sum() == 0
    enough = held_out([[3], [3], [1], [0], [0], [0]], [[0], [0], [0], [1], [1], [0]])
    assert tuned("macro-f", enough, fbr=0.9, fbr_kind=1).decide(enough.scores).sum() == 2


def test_micromacro_pooled_prefers_the_cut_of_the_best_sum() -> None:
    # Label 0 (2 positives): cutting below 3 gives F1 1. Label 1 then adds a half of its own F1:
    # taking the positive at 1 costs two wrong ones. Micro 6/8 + ½·½ is above 4/5 + 0.
    data = held_out([[4, 3], [3, 2], [1, 1]], [[1, 0], [1, 0], [0, 1]])
    marks = tuned("micromacro-pooled", data).decide(data.scores)
    assert marks.astype(int).tolist() == [[1, 1], [1, 1], [0, 1]]


def test_micromacro_averages_the_cuts_of_three_parts() -> None:
    random = np.random.default_rng(0)
    scores = random.standard_normal((90, 1))
    data = HeldOut.of(scores.astype(np.float32), csr_array(scores > 0.5))
    cuts = tuned("micromacro", data).cuts
    assert cuts is not None
    assert abs(cuts[0] - 0.5) < 0.2
    assert tuned("micromacro", data, seed=1).cuts != cuts
    assert tuned("micromacro", data, seed=0).cuts == cuts


def test_a_proportional_cut_gives_each_label_its_share_of_the_batch() -> None:
    cut = ProportionCut.read("proportion:1")
    assert cut is not None
    scores = np.array([[1, 5, -np.inf], [1, 5, 1], [0, 9, 2]], np.float32)
    # ¼·3 = .75 → 1, ½·3 = 1.5 → 2, 1·3 = 3 of which two have a score; ties go to the earlier one.
    decision = cut.batch_decision(Batch(3, scores.T, np.array([0.25, 0.5, 1])))
    assert decision.decide(scores).astype(int).tolist() == [[1, 1, 0], [0, 0, 1], [0, 1, 1]]
    assert decision.name == cut.name == "proportion:1"
    assert ProportionCut.read("rank:1") is None
    for wrong in ("proportion:", "proportion:0", "proportion:nan"):
        with pytest.raises(InvalidRequestError, match="accepted: proportion:X"):
            ProportionCut.read(wrong)


@pytest.mark.parametrize("target", [0.5, 0.8, 1.0])
@given_patiently(held_outs())
def test_abstaining_leaves_every_label_its_target_precision(target: float, data: HeldOut) -> None:
    decision = tuned("micro-f", data)
    bands = Abstention.fit(data, decision, target)
    marks = decision.decide(data.scores)
    abstained = bands.abstained(data.scores)
    assert not (abstained & ~marks).any()
    kept, truth = marks & ~abstained, data.truth.toarray()
    assert ((kept & truth).sum(axis=0) >= target * kept.sum(axis=0)).all()
    again = Abstention.from_state(bands.state())
    np.testing.assert_array_equal(again.abstained(data.scores), abstained)


def test_sure_labels_have_no_band_and_bad_targets_are_refused() -> None:
    data = held_out([[2], [1], [0]], [[1], [1], [0]])
    cut = Decision(np.array([0.5], np.float32), "tuned")
    ranks = Decision(None, "rank:1", 1), replace(cut, most_labels=1)
    assert not Abstention.fit(data, cut, 0.9).abstained(data.scores).any()
    for decision, target in ((cut, 1.5), (cut, 0.0), *((rank, 0.9) for rank in ranks)):
        with pytest.raises(InvalidRequestError, match="abstain"):
            Abstention.fit(data, decision, target)


@pytest.mark.parametrize("resamples", [0, 100])
def test_a_label_that_folds_know_nothing_about_is_assigned_to_nobody(resamples: int) -> None:
    """Two fold models give every document a constant of their own, as rules do where none holds."""
    scores = np.zeros((400, 2), np.float32)
    scores[:, 0] = np.where(np.arange(400) % 2, -6.5, -6.6)
    scores[:, 1] = np.random.default_rng(0).normal(size=400)
    marks = np.stack([np.arange(400) < 4, scores[:, 1] > 1], axis=1)
    held_out = HeldOut.of(scores, csr_array(marks))
    options = TuningOptions(resamples=resamples)
    cuts = tune("micro-f", held_out, Hulls.of(held_out), options).cuts
    assert cuts is not None
    slightly_higher = np.float32([-6.4, 0.0])
    assert not (slightly_higher > cuts).any()
    assert cuts[0] == np.inf
    assert 0.9 < cuts[1] < 1.1
