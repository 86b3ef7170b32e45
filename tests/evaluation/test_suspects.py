"""Labels that are probably missing or wrong: by definition, by hand, and where planted."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.datasets.collection import Collection
from app.datasets.corrections.file import load_corrections
from app.decisions.calibration.calibration import Calibration
from app.errors import InvalidRequestError
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.report.page import page
from app.evaluation.suspects.co_occurrence import CoOccurrence
from app.evaluation.suspects.evaluated import PairFinder
from app.evaluation.suspects.evidence import evidence, frequencies
from app.evaluation.suspects.file import check_suspects_file, write_suspects
from app.evaluation.suspects.held_out import held_out_pairs, held_out_suspects
from app.evaluation.suspects.label_pairs import LabelPairs
from app.evaluation.suspects.suspect_list import Places, Suspect, SuspectList
from app.heldout import HeldOut
from app.metrics.counting.score_rows import DenseRows, ScoredPairs
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train
from tests.decisions.cases import given_patiently
from tests.evaluation.systems import Table, documents_of

SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 4))
SCORES = st.sampled_from([-np.inf, -3.0, -1.0, 0.0, 0.5, 2.0])


@st.composite
def scored(draw: st.DrawFn) -> tuple[NDArray[np.float32], NDArray[np.bool_], Calibration]:
    shape = draw(SHAPES)
    scores, given = draw(arrays(np.float32, shape, elements=SCORES)), draw(arrays(np.bool_, shape))
    n_labels, nothing = shape[1], np.zeros(0)
    slopes = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=4, max_size=4)))
    intercepts = np.array([-1.0, 0.0, 0.3, -4.0])
    none = np.zeros(n_labels + 1, np.int64)
    return (
        scores,
        given,
        Calibration(slopes[:n_labels], intercepts[:n_labels], none, nothing, nothing),
    )


def logit(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def literal_evidence(
    p: NDArray[np.float32], scores: NDArray[np.float32], given: NDArray[np.bool_]
) -> dict[tuple[int, int], float]:
    """The definition in docs/label-quality.md, pair by pair."""
    n, m = given.shape
    mean_labels = max(sum((sum(given[:, label]) + 0.5) / (n + 1) for label in range(m)), 1)
    bare, single = sum(given.sum(axis=1) == 0), sum(given.sum(axis=1) == 1)
    missing = min(0.05 * single / max(bare, 1), 0.8)
    found = {}
    for d in range(n):
        own = [label for label in range(m) if given[d, label] and scores[d, label] > -np.inf]
        others = [label for label in range(m) if not given[d, label] and p[d, label] >= 0.05]
        for label in own + others:
            weight = total = 0.0
            for other in own:
                if other == label:
                    continue
                both = sum(given[:, label] & given[:, other]) - (label in own)
                expected = sum(given[:, label]) * sum(given[:, other]) / n
                weight += p[d, other]
                total += p[d, other] * math.log((both + 5) / (expected + 5))
            lift = total / max(weight, 1)
            if label in own:
                share = (sum(given[:, label]) + 0.5) / (n + 1)
                competing = max((float(p[d, other]) for other in others), default=0.0)
                value = logit(share) - logit(p[d, label]) - 2 * lift
                value += 6 / mean_labels * competing
            else:
                value = logit(p[d, label]) + 2 * lift
                value += 4 / mean_labels * max(1 - sum(p[d, one] for one in own), 0)
                if not given[d].any():
                    value += max(logit(missing) - logit(0.05), 0)
            found[d, label] = value
    return found


@given_patiently(scored())
def test_evidence_is_as_defined_for_held_out_scores(
    case: tuple[NDArray[np.float32], NDArray[np.bool_], Calibration],
) -> None:
    scores, given, calibration = case
    p = calibration.probabilities(scores)
    assume((np.abs(p - 0.05) > 1e-5).all())
    wanted = literal_evidence(p, scores, given)
    for held_out in (HeldOut.of(scores, csr_array(given)), sparse(scores, given)):
        pairs = held_out_pairs(held_out, calibration)
        together = CoOccurrence.of(held_out.truth)
        found = evidence(pairs, frequencies(given.sum(axis=0), len(given)), together)
        places = list(zip(pairs.document.tolist(), pairs.label.tolist(), strict=True))
        assert places == sorted(wanted)
        np.testing.assert_allclose(found, [wanted[place] for place in places], atol=1e-4)
        chosen = [value for value in sorted(wanted.values(), reverse=True) if value > 1e-4]
        names, where = "abcd", Places([None] * len(given), np.arange(len(given)))
        listed = held_out_suspects(held_out, calibration, where, names, most=1000)
        values = [wanted[one.line, names.index(one.label)] for one in listed]
        np.testing.assert_allclose(values[: len(chosen)], chosen, atol=1e-4)


def sparse(scores: NDArray[np.float32], given: NDArray[np.bool_]) -> HeldOut:
    stored = ScoredPairs.of(scores)
    shape = scores.shape
    return HeldOut.of(csr_array((stored.score, stored.column, stored.starts), shape), given)


@given_patiently(scored())
def test_chunks_have_the_same_pairs_in_both_forms_of_scores(
    case: tuple[NDArray[np.float32], NDArray[np.bool_], Calibration],
) -> None:
    scores, given, calibration = case
    truth = csr_array(np.hstack([given, np.ones((len(given), 1), np.bool_)]))  # one zero-shot label
    whole = held_out_pairs(HeldOut.of(scores, csr_array(given)), calibration)
    for rows in (DenseRows(scores), ScoredPairs.of(scores)):
        for one, other in zip(PairFinder(calibration).pairs(rows, truth), whole, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_case_by_hand() -> None:
    """Four documents; the second misses `b` and has `a`, which three of four documents have."""
    pairs = LabelPairs(
        np.int32([0, 1, 1, 2]),
        np.int32([0, 0, 1, 0]),
        np.float32([0.9, 0.1, 0.8, 0.75]),
        np.array([True, True, False, True]),
        4,
    )
    found = evidence(pairs, np.array([0.75, 0.5]))
    wrong = math.log(3) - math.log(0.1 / 0.9) + 6 / 1.25 * 0.8
    missing = math.log(4) + 4 / 1.25 * (1 - 0.1)
    certain = math.log(3) - math.log(9)
    assert found == pytest.approx([certain, wrong, missing, 0], abs=1e-6)


@pytest.mark.parametrize(("bare", "added"), [(1, math.log(4 * 19)), (50, 0.0)])
def test_a_document_without_labels_is_suspect_where_few_are(bare: int, added: float) -> None:
    truth = np.zeros((50 + bare, 2), np.bool_)
    truth[:50, 0] = True
    pairs = LabelPairs(
        np.int32([50]), np.int32([0]), np.float32([0.5]), np.array([False]), len(truth)
    )
    together = CoOccurrence.of(csr_array(truth))
    found = evidence(pairs, np.array([0.5, 0.5]), together)
    assert found == pytest.approx([4 + added], abs=1e-6)


def test_a_rare_label_is_not_suspect_for_being_as_unlikely_as_it_is_everywhere() -> None:
    pairs = LabelPairs(
        np.int32([0, 1]), np.int32([0, 1]), np.float32([0.01, 0.01]), np.array([True, True]), 2
    )
    rare, frequent = evidence(pairs, np.array([0.01, 0.5]))
    assert rare == pytest.approx(0, abs=1e-6)
    assert frequent == pytest.approx(math.log(99), abs=1e-6)


def test_ties_go_to_the_earlier_document_then_to_the_earlier_label() -> None:
    n = 3
    pairs = LabelPairs(
        np.repeat(np.arange(n, dtype=np.int32), 2),
        np.tile(np.int32([0, 1]), n),
        np.full(2 * n, 0.9, np.float32),
        np.zeros(2 * n, np.bool_),
        n,
    )
    places = Places(["x", "y", "z"], np.array([4, 5, 6]))
    everything = SuspectList(100)
    everything.add(pairs, np.ones(2 * n), places, "ab")
    assert [(one.id, one.line, one.label) for one in everything.listed()] == [
        *(("x", 4, "a"), ("x", 4, "b"), ("y", 5, "a")),
        *(("y", 5, "b"), ("z", 6, "a"), ("z", 6, "b")),
    ]
    first = SuspectList(3)
    for _ in range(2):  # later chunks that are no better change nothing
        first.add(pairs, np.ones(2 * n), places, "ab")
    assert first.listed() == everything.listed()[:3]


@pytest.mark.parametrize("given", [np.ones((4, 1), np.bool_), np.zeros((4, 1), np.bool_)])
def test_one_label_that_all_documents_or_none_have_is_no_trouble(given: NDArray[np.bool_]) -> None:
    held_out = HeldOut.of(np.zeros((4, 1), np.float32), csr_array(given))
    calibration = Calibration.fit(held_out)
    places = Places([None] * 4, np.arange(4))
    assert held_out_suspects(held_out, calibration, places, ["a"], most=10) == []


@given_patiently(st.integers(0, 10_000))
def test_least_scores_are_where_the_curves_reach_the_probability(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.normal(size=(300, 3)).astype(np.float32)
    truth = random.random((300, 3)) < 1 / (1 + np.exp(3 - 2 * scores - np.arange(3)))
    calibration = Calibration.fit(HeldOut.of(scores, csr_array(truth)))
    least = calibration.least_scores(0.1)
    grid = np.linspace(-5, 5, 501, dtype=np.float32)
    likely = calibration.probabilities(np.repeat(grid[:, None], 3, axis=1))
    for label in range(3):
        assert (likely[grid >= least[label] + 1e-4, label] >= 0.1 - 1e-6).all()
        assert (likely[grid < least[label] - 1e-4, label] < 0.1 + 1e-6).all()


def faulty(corpus: Collection, row: int, labels: tuple[str, ...]) -> Collection:
    sets = list(corpus.label_sets)
    sets[row] = labels
    return replace(corpus, label_sets=sets)


@pytest.mark.parametrize("kind", ["dropped", "added", "swapped"])
def test_a_planted_fault_of_each_kind_stands_first(corpus: Collection, kind: str) -> None:
    row = next(i for i, labels in enumerate(corpus.label_sets) if len(labels) == 1)
    (label,) = corpus.label_sets[row]
    other = "login" if label != "login" else "crash"
    planted = {"dropped": (), "added": (label, other), "swapped": (other,)}[kind]
    wanted = {
        "dropped": {("missing", label)},
        "added": {("wrong", other)},
        "swapped": {("missing", label), ("wrong", other)},
    }[kind]
    job = TrainingJob(faulty(corpus, row, planted), read_recipe(None), most_suspects=20)
    found = train(job).suspects[: len(wanted)]
    assert {(one.kind, one.label) for one in found} == wanted
    assert {one.id for one in found} == {corpus.ids[row]}
    assert all((one.probability > 0.5) == (one.kind == "missing") for one in found)


def test_training_without_out_of_fold_scores_refuses_to_list_suspects(corpus: Collection) -> None:
    recipe = read_recipe(None).with_decision(name="zero", folds=0)
    with pytest.raises(InvalidRequestError, match="out-of-fold"):
        train(TrainingJob(corpus, recipe, most_suspects=5))
    with pytest.raises(InvalidRequestError, match="out-of-fold"):
        train(TrainingJob(corpus, read_recipe(None), valid=corpus, most_suspects=5))


def system() -> tuple[Table, list[tuple[str, ...]], JudgedModel]:
    """Twelve documents with one of two labels; document 3 has the other one's."""
    rows = np.float32([[2, -2], [-2, 2]] * 6)
    none = np.zeros(3, np.int64)
    curves = Calibration(np.full(2, 2.0), np.zeros(2), none, np.zeros(0), np.zeros(0))
    sets = [("wheat",), ("corn",)] * 6
    sets[3] = ("wheat",)
    info = JudgedModel("m", "1", np.array([60, 40]), 100)
    return Table(rows, ("wheat", "corn"), calibration=curves), sets, info


def test_an_evaluation_lists_suspects_where_it_is_asked_to() -> None:
    table, sets, info = system()
    report = evaluate(table, documents_of(sets), EvaluationOptions(suspects=1), info=info)
    content = report.as_dict()
    (one,) = content["suspects"]
    assert one == {
        **{"id": "doc-3", "line": 4, "label": "wheat", "kind": "wrong"},
        "probability": pytest.approx(0.018, abs=1e-3),
    }
    both = evaluate(table, documents_of(sets), EvaluationOptions(suspects=9), info=info).as_dict()
    assert [(s["label"], s["kind"]) for s in both["suspects"]] == [
        *(("wheat", "wrong"), ("corn", "missing"))
    ]
    assert "doc-3</td><td>4</td>" in page(report)
    plain = evaluate(table, documents_of(sets), info=info)
    assert "suspects" not in plain.as_dict()
    assert "probably missing" not in page(plain)
    assert json.dumps(content)


def test_a_model_without_probabilities_says_that_it_knows_no_suspects() -> None:
    table, sets, info = system()
    table.calibration = None
    report = evaluate(table, documents_of(sets), EvaluationOptions(suspects=3), info=info).as_dict()
    assert report["suspects"] == []
    assert any("no label can be called suspect" in warning for warning in report["warnings"])


def test_no_more_suspects_than_the_bound_can_be_asked_for() -> None:
    with pytest.raises(InvalidRequestError, match="10000"):
        EvaluationOptions(suspects=10_001)


def test_both_files_name_what_a_review_needs_and_are_read_back_as_corrections(
    tmp_path: Path,
) -> None:
    listed = [
        Suspect("=1", 7, "a, b", "wrong", 0.01234567),
        Suspect(None, 9, "ü", "missing", 0.9),
    ]
    for name in ("suspects.csv", "suspects.json"):
        write_suspects(tmp_path / name, listed, "12" * 32)
        read = load_corrections(tmp_path / name).corrections
        assert [(one.id, one.line, one.label) for one in read] == [
            ("=1", 7, "a, b"),
            (None, 9, "ü"),
        ]
        assert all(("12" * 32).startswith(one.data) and one.data for one in read)
        assert {one.decision for one in read} == {""}
    assert (tmp_path / "suspects.csv").read_text().splitlines()[1] == (
        '=1,7,"a, b",wrong,0.0123,sha256:121212121212,'
    )


def test_a_suspects_file_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="folder"):
        check_suspects_file(tmp_path / "nowhere" / "suspects.csv")


def test_a_suspect_holds_no_text() -> None:
    assert set(Suspect.__slots__) == {"id", "line", "label", "kind", "probability"}
