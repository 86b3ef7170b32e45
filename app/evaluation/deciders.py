"""Decisions by the names that evaluations accept."""

import numpy as np

from app.arrays import Marks, Scores
from app.decisions.base import BatchDecision, BatchRule, Use
from app.decisions.decision import Decision
from app.decisions.parser import TUNED, read_rule
from app.decisions.relabelled import RelabelledDecision
from app.errors import InvalidRequestError
from app.evaluation.scorer import Decider, Scorer


def decider(name: str, scorer: Scorer) -> Decider | BatchRule:
    """The decision of that name, or a rule that waits for all scores of the file.

    Nothing is tuned on the file that is evaluated.
    """
    if name in (TUNED, ""):
        return _tuned(scorer)
    rule = read_rule(name, Use.EVALUATION)
    if not isinstance(rule, BatchRule):
        return _answered(rule.decision(scorer.basis), scorer)
    if scorer.relabelling is not None:
        raise InvalidRequestError(
            f"{rule.syntax} needs the labels' training frequencies: ask the version that this one "
            "was relabelled from"
        )
    return rule


def _tuned(scorer: Scorer) -> Decider:
    """The stored decision; where the model abstains it assigns nothing."""
    decision, effective = scorer.decision, scorer.effective_decision
    if effective is decision:
        return _answered(decision, scorer)
    return Abstaining(_answered(decision, scorer), _answered(effective, scorer))


def _answered(decision: Decider, scorer: Scorer) -> Decider:
    """The decision, given as the labels that the scorer answers with."""
    if scorer.relabelling is None or not isinstance(decision, Decision):
        return decision
    return RelabelledDecision(decision, scorer.relabelling)


class Abstaining:
    """A decision that gives no label where the model abstains, and counts what it held back."""

    def __init__(self, decision: Decider, effective: Decider) -> None:
        self.name, self.cuts = decision.name, effective.cuts
        self.assigned = self.held_back = 0
        self._decision, self._effective = decision, effective

    def decide(self, scores: Scores) -> Marks:
        """Mark what is assigned without doubt."""
        marks = self._effective.decide(scores)
        assigned = int(np.count_nonzero(self._decision.decide(scores)))
        self.assigned += assigned
        self.held_back += assigned - int(np.count_nonzero(marks))
        return marks


class WholeFile:
    """A decision over a batch, applied to its documents in their order, chunk after chunk."""

    cuts: None = None
    """None: the documents' order decides between equal scores."""

    def __init__(self, decision: BatchDecision) -> None:
        self.name = decision.name
        self._decision, self._n_decided = decision, 0

    def decide(self, scores: Scores) -> Marks:
        """Mark the next documents' labels."""
        first = self._n_decided
        self._n_decided += len(scores)
        return self._decision.decide(scores, first)
