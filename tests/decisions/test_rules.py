"""Rules against their definitions, written out label by label; names that no rule reads."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.decisions.base import Basis, Batch, BatchRule, Use
from app.decisions.decision import Decision
from app.decisions.names import accepted, decision_of, read_rule
from app.errors import DamagedArtifactError, InvalidRequestError
from app.state import State
from tests.decisions.cases import TIED, given_patiently

Scores = list[list[float]]
TABLES = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float32, shape, elements=TIED)
)


def better(row: list[float], label: int) -> int:
    """How many labels come before this one: a higher score, or as high and a lower number."""
    ahead = [other for other, score in enumerate(row) if score > row[label]]
    return len(ahead) + sum(row[other] == row[label] for other in range(label))


DEFINITIONS: dict[str, Callable[[list[float], int], bool]] = {
    "zero": lambda row, label: row[label] > 0,
    "rank:1": lambda row, label: better(row, label) < 1 and row[label] != -np.inf,
    "rank:2": lambda row, label: better(row, label) < 2 and row[label] != -np.inf,
    "rank:9": lambda row, label: row[label] != -np.inf,
    "rank:2,0.5": lambda row, label: better(row, label) < 2 and row[label] > 0.5,
    "rank:1,-1": lambda row, label: better(row, label) < 1 and row[label] > -1,
    "rank:9,0": lambda row, label: row[label] > 0,
}


@pytest.mark.parametrize("name", DEFINITIONS)
@given_patiently(TABLES)
def test_a_rule_without_tuning_decides_by_its_definition(name: str, table: np.ndarray) -> None:
    is_assigned, scores = DEFINITIONS[name], table.tolist()
    marks = decision_of(name, Use.EVALUATION, Basis(table.shape[1])).decide(table)
    expected = [[is_assigned(row, label) for label in range(len(row))] for row in scores]
    assert marks.tolist() == expected


@pytest.mark.parametrize("x", [0.3, 1.0, 2.5])
@given_patiently(TABLES)
def test_a_proportion_gives_each_label_to_its_best_documents(x: float, table: np.ndarray) -> None:
    n, shares = len(table), np.linspace(0.1, 0.9, table.shape[1])
    rule = read_rule(f"proportion:{x:g}", Use.EVALUATION)
    assert isinstance(rule, BatchRule)
    marks = rule.batch_decision(Batch(n, table.T, shares)).decide(table)
    for column, share, chosen in zip(table.T.tolist(), shares, marks.T, strict=True):
        wanted = min(int(np.floor(x * n * share + 0.5)), n)
        is_best = [better(column, row) < wanted and column[row] != -np.inf for row in range(n)]
        assert chosen.tolist() == is_best


@pytest.mark.parametrize(
    "name",
    [
        *("rank:2,", "rank:,1", "rank:0,1", "rank:-1,0", "rank:²,1"),
        *("rank:2,x", "rank:2,nan", "rank:2,inf", "rank:2,1e39", "rank:2,1,1"),
    ],
)
def test_a_rank_above_a_cut_that_is_none_says_what_it_needs(name: str) -> None:
    for use in (Use.TRAINING, Use.EVALUATION):
        with pytest.raises(InvalidRequestError, match=r"rank:K,CUT needs .* as in rank:3,0\.5"):
            read_rule(name, use)


@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize("name", ["best", "zero ", "Zero", "rank", "micro-f,1", "f3", "proportion"])
def test_other_names_are_refused_with_the_catalogues_list_and_no_echo(name: str, use: Use) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        read_rule(name, use)
    assert str(refused.value) == f"{use.value}; accepted: {accepted(use)}"


def test_a_rule_that_lacks_its_basis_says_so() -> None:
    with pytest.raises(InvalidRequestError, match="held-out scores"):
        decision_of("micro-f", Use.TRAINING, Basis(3))
    with pytest.raises(InvalidRequestError, match="no operating points; accepted: tuned"):
        decision_of("f1", Use.PREDICTION, Basis(3))
    with pytest.raises(InvalidRequestError, match="learner tree"):
        decision_of("zero", Use.EVALUATION, Basis(3, uncentred_learner="tree"))
    with pytest.raises(InvalidRequestError, match="on a whole file"):
        decision_of("proportion:1", Use.EVALUATION, Basis(3))


def test_decisions_of_earlier_artifacts_are_read_and_unknown_kinds_refused() -> None:
    cuts = np.array([0.5, np.inf], np.float32)
    old = Decision.from_state(State("score-cut", {"name": "micro-f"}, {"cuts": cuts}))
    assert (old.name, old.most_labels, old.cuts.tolist()) == ("micro-f", None, cuts.tolist())
    ranked = Decision.from_state(State("rank-cut", {"k": 2}))
    assert (ranked.name, ranked.most_labels, ranked.cuts) == ("rank:2", 2, None)
    with pytest.raises(DamagedArtifactError, match="kind"):
        Decision.from_state(State("cost-cut", {"name": "cost", "most_labels": None}))
