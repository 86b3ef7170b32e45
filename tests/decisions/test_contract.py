"""Every rule of the catalogue gives the same labels however it is asked for.

A rule is found here by its catalogue line alone; its `examples` are the names that are tried.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import app.decisions.decision
from app.decisions.base import Basis, Batch, BatchRule, Use
from app.decisions.decision import Decision
from app.decisions.parser import AnyRule, accepted, read_rule, rules
from app.decisions.tuning.held_out_figures import held_out_counts
from app.errors import InvalidRequestError
from app.evaluation import chunks
from app.heldout import HeldOut
from app.prediction import Query
from app.prediction.offline import FileQuery, file_predictions
from tests.decisions.scored_model import (
    LabelSets,
    Rows,
    basis_of,
    classifier_of,
    evaluated,
    marked,
    planned,
    predicted,
    records_of,
    training_counts,
)

RULES = list(rules())
EXAMPLES = [(rule, name) for rule in RULES for name in rule.examples]
BY_DOCUMENT = [name for rule, name in EXAMPLES if not hasattr(rule, "batch_decision")]
BY_BATCH = [name for rule, name in EXAMPLES if hasattr(rule, "batch_decision")]


def with_ties(n_documents: int, n_labels: int) -> Rows:
    """Scores in steps of a half, a fifth of them missing."""
    random = np.random.default_rng(n_labels)
    scores = np.round(random.standard_normal((n_documents, n_labels)) * 2) / 2
    scores[random.random(scores.shape) < 0.2] = -np.inf
    return scores.astype(np.float32)


CASES = {
    "ties and missing scores": with_ties(25, 6),
    "one label": with_ties(9, 1),
    "one document": with_ties(1, 5),
    "more labels than are sorted at once": with_ties(4, 300),
    "no score": np.full((3, 4), -np.inf, np.float32),
    "no label passes": np.full((3, 4), -99, np.float32),
    "all equal": np.full((3, 7), 1.5, np.float32),
}


@pytest.fixture(params=["auto", "plain"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Compiled kernels, then plain ones."""
    monkeypatch.setenv("LABELSERVE_KERNELS", request.param)
    app.decisions.decision._picking.cache_clear()
    yield request.param
    app.decisions.decision._picking.cache_clear()


def rule_of(name: str) -> AnyRule:
    (found,) = [rule for kind in RULES if (rule := kind.read(name)) is not None]
    return found


def decision_of(name: str, basis: Basis) -> Decision:
    rule: Any = rule_of(name)
    decision: Decision = rule.decision(basis)
    return decision


def literally(decision: Decision, scores: Rows) -> LabelSets:
    """The labels of every document, by the words of docs/decisions.md."""
    found = []
    for row in scores.tolist():
        passing = [
            label
            for label, score in enumerate(row)
            if score > -np.inf and (decision.cuts is None or score > decision.cuts[label])
        ]
        passing.sort(key=lambda label: (-row[label], label))
        found.append(passing if decision.most_labels is None else passing[: decision.most_labels])
    return found


@pytest.mark.parametrize(("rule", "name"), EXAMPLES)
def test_every_name_is_one_rules_own_spelling_and_accepted_where_the_rule_says(
    rule: type[AnyRule], name: str
) -> None:
    assert type(rule_of(name)) is rule
    assert rule_of(name).name == name
    for use in Use:
        if use in rule.uses:
            assert isinstance(read_rule(name, use), rule)
            assert rule.syntax in accepted(use)
        else:
            with pytest.raises(InvalidRequestError, match=use.value):
                read_rule(name, use)


def test_rules_are_told_apart_by_their_syntax_and_may_be_used_somewhere() -> None:
    assert len({rule.syntax for rule in RULES}) == len(RULES)
    assert all(rule.uses and rule.examples for rule in RULES)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", BY_DOCUMENT)
@pytest.mark.usefixtures("kernels")
def test_a_stored_rule_gives_the_same_labels_by_every_way(
    name: str, case: str, tmp_path: Path
) -> None:
    scores = CASES[case]
    decision = decision_of(name, basis_of(scores.shape[1]))
    classifier = classifier_of(scores, decision)
    texts = [record.text for record in records_of(classifier, scores)]
    np.testing.assert_array_equal(classifier.scores(texts), scores)
    expected = literally(decision, scores)
    assert marked(scores, decision.decide(scores)) == expected
    assert marked(scores, classifier.decide(texts)) == expected
    assert planned(classifier, scores, Query()) == (expected, expected)
    written, report = evaluated(classifier, scores, "tuned", tmp_path)
    assert written == expected
    assert report["conventions"]["decision"] == name
    assert counted(report) == assigned(expected, scores.shape[1])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", BY_DOCUMENT)
@pytest.mark.usefixtures("kernels")
def test_a_rule_asked_for_by_name_gives_the_same_labels(
    name: str, case: str, tmp_path: Path
) -> None:
    scores, uses = CASES[case], rule_of(name).uses
    decision = decision_of(name, basis_of(scores.shape[1]))
    classifier = classifier_of(scores, Decision(None, "rank:1", 1))
    expected = literally(decision, scores)
    if Use.EVALUATION in uses:
        assert evaluated(classifier, scores, name, tmp_path)[0] == expected
    if Use.PREDICTION in uses:
        query = Query(operating_point=name)
        assert planned(classifier, scores, query) == (expected, expected)
    if Use.FILE_PREDICTION in uses:
        asked = FileQuery(Query(operating_point=name), training_counts(scores) / 100)
        found = file_predictions(asked, classifier, records_of(classifier, scores))
        assert predicted(classifier, found) == expected


@pytest.mark.parametrize("name", BY_DOCUMENT)
@pytest.mark.usefixtures("kernels")
def test_the_querys_own_bound_and_labels_narrow_a_stored_rule(name: str) -> None:
    scores = CASES["ties and missing scores"]
    decision = decision_of(name, basis_of(scores.shape[1]))
    classifier = classifier_of(scores, decision)
    for k in (1, 2, 100):
        query = Query(top_k=k, operating_point="tuned")
        expected = [labels[:k] for labels in literally(decision, scores)]
        assert planned(classifier, scores, query) == (expected, expected)
    only = classifier.labels.names[1::2]
    narrowed = np.where(np.arange(6) % 2 == 1, scores, -np.inf).astype(np.float32)
    expected = literally(decision, narrowed)
    assert planned(classifier, scores, Query(labels=only)) == (expected, expected)


@pytest.mark.parametrize("name", BY_DOCUMENT)
def test_thresholds_are_told_exactly_where_a_cut_was_applied(name: str, tmp_path: Path) -> None:
    scores = np.abs(CASES["one document"]) + 9
    scores[scores == np.inf] = 9
    decision = decision_of(name, basis_of(scores.shape[1]))
    classifier = classifier_of(scores, decision)
    prediction = app.prediction.plan_of(Query(), classifier).predictions(["term0"])[0]
    assert prediction.labels
    told = [label.threshold for label in prediction.labels]
    if decision.cuts is None:
        assert set(told) == {None}
    else:
        columns = [classifier.labels.columns[label.label] for label in prediction.labels]
        assert told == pytest.approx(decision.cuts[columns].tolist(), rel=1e-4, abs=1e-4)
    _, report = evaluated(classifier, scores, "tuned", tmp_path)
    assert all((one["threshold"] is None) == (decision.cuts is None) for one in report["labels"])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", BY_DOCUMENT)
def test_the_figures_on_held_out_scores_are_those_of_the_labels_given(name: str, case: str) -> None:
    scores = CASES[case]
    truth = np.random.default_rng(0).random(scores.shape) < 0.4
    decision = decision_of(name, basis_of(scores.shape[1]))
    marks = decision.decide(scores)
    expected = [marks & truth, marks & ~truth, ~marks & truth]
    counts = held_out_counts(decision, HeldOut.of(scores, csr_array(truth)))
    np.testing.assert_array_equal(counts.T, [cells.sum(axis=0) for cells in expected])


@pytest.mark.parametrize("name", BY_DOCUMENT)
def test_a_stored_rule_comes_back_equal(name: str) -> None:
    basis = basis_of(6)
    decision = decision_of(name, basis)
    again = Decision.from_state(decision.state())
    assert (again.name, again.most_labels) == (decision.name, decision.most_labels)
    np.testing.assert_array_equal(again.cuts, decision.cuts)
    scores = CASES["ties and missing scores"]
    np.testing.assert_array_equal(again.decide(scores), decision.decide(scores))
    assert again.decide(scores[:0]).shape == (0, 6)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", BY_BATCH)
def test_a_rule_over_a_batch_gives_the_same_labels_by_every_way(
    name: str, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "DOCUMENTS", 4)
    monkeypatch.setattr("app.prediction.offline.CHUNK", 3)
    scores, rule = CASES[case], rule_of(name)
    assert isinstance(rule, BatchRule)
    frequencies = training_counts(scores) / 100
    decision = rule.batch_decision(Batch(len(scores), scores.T, frequencies))
    expected = marked(scores, decision.decide(scores))
    assert not decision.decide(scores)[scores == -np.inf].any()
    parts = [decision.decide(scores[row : row + 1], row) for row in range(len(scores))]
    np.testing.assert_array_equal(np.concatenate(parts), decision.decide(scores))
    classifier = classifier_of(scores, Decision(None, "rank:1", 1))
    assert evaluated(classifier, scores, name, tmp_path)[0] == expected
    if Use.FILE_PREDICTION in rule.uses:
        asked = FileQuery(Query(operating_point=name), frequencies)
        found = file_predictions(asked, classifier, records_of(classifier, scores))
        assert predicted(classifier, found) == expected


def test_a_rule_over_a_batch_and_another_cut_are_refused_together() -> None:
    scores = CASES["one label"]
    classifier = classifier_of(scores, Decision(None, "rank:1", 1))
    asked = FileQuery(Query(operating_point=BY_BATCH[0], threshold=0.5), np.ones(1))
    with pytest.raises(InvalidRequestError, match="at most one of operating_point"):
        list(file_predictions(asked, classifier, records_of(classifier, scores)))


def counted(report: dict[str, Any]) -> list[int]:
    """How many documents an evaluation gave each label to."""
    return [label["tp"] + label["fp"] for label in report["labels"]]


def assigned(found: LabelSets, n_labels: int) -> list[int]:
    return [sum(label in labels for labels in found) for label in range(n_labels)]
