"""PlannedRules: a model's hand-written rules as one query has them applied to its answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.arrays import Marks
from app.decisions.decision import Columns, Row, by_score
from app.hand_rules.rule_set import HandRules, Verdict
from app.labels import Relabelling
from app.prediction.answers import LabelReason, Prediction
from app.prediction.plan import Decided, Picked


@dataclass(frozen=True, slots=True)
class PlannedRules:
    """Rules after the decision and its bound, before the `top_k` of the query.

    Where `top_k` is asked for alone nothing is decided: labels are ranked, so that a rule cannot
    assign one, but those that a rule forbids do not come.
    """

    rules: HandRules
    most_labels: int | None
    """The decision's own bound."""
    top_k: int | None
    """The query's bound."""
    is_ranking: bool
    only: frozenset[str] | None = None
    """The labels that the query asks about; None: all."""
    relabelling: Relabelling | None = None
    """What trained labels became: rules name the labels that are answered."""

    def verdict(self, text: str) -> Verdict:
        """The rule that decides each label that one does."""
        return self.rules.verdict(text)

    def corrected(self, scores: Row, verdict: Verdict, decided: Decided) -> Picked:
        """What is picked where these rules hold; a label without a score comes last."""
        forbidden = self._forbidden(verdict)
        if self.is_ranking:
            allowed = scores.copy()
            allowed[forbidden] = -np.inf
            return decided(allowed, self.top_k)
        kept = np.setdiff1d(decided(scores, self.most_labels)[0], forbidden)
        columns, values = by_score(scores, np.union1d(kept, self._added(scores, verdict, kept)))
        return columns[: self.top_k], values[: self.top_k]

    def correct(self, marks: Marks, verdicts: Sequence[Verdict]) -> None:
        """Set the marks of documents that were decided on together."""
        self.rules.correct(marks, verdicts)

    def settle(self, prediction: Prediction, verdict: Verdict) -> None:
        """Say what a rule decided: no cut, no doubt, and the rule before the score's reasons."""
        names, rules = self.rules.labels.names, self.rules.rules
        assigned = {names[column]: rules[verdict[column]] for column in self._assigned(verdict)}
        for label in prediction.labels:
            if label.label not in assigned:
                continue
            label.threshold = label.threshold_probability = None
            if label.score == -np.inf:
                label.score = label.probability = None
            if label.because is not None:  # a weight of 0: because, bias and rest sum to the score
                reason = LabelReason(rule=assigned[label.label].when, weight=0.0)
                label.because = [reason, *label.because]
        decided = {names[column] for column in verdict}
        if prediction.abstained:
            prediction.abstained = [name for name in prediction.abstained if name not in decided]
        if prediction.below_cut:
            below = prediction.below_cut
            prediction.below_cut = [label for label in below if label.label not in decided]

    def _assigned(self, verdict: Verdict) -> list[int]:
        """The answered labels that rules assign; none where labels are ranked."""
        names, only = self.rules.labels.names, self.only
        return [
            column
            for column, number in sorted(verdict.items())
            if self.rules.rules[number].is_assigning
            and not self.is_ranking
            and (only is None or names[column] in only)
        ]

    def _added(self, scores: Row, verdict: Verdict, kept: Columns) -> Columns:
        """The columns of labels that rules assign; of merged ones the best, where none has come."""
        labels = np.array(self._assigned(verdict), np.intp)
        if self.relabelling is None:
            return labels
        missing = np.setdiff1d(labels, self.relabelling.targets[kept])
        return self.relabelling.best_sources(scores, missing)

    def _forbidden(self, verdict: Verdict) -> Columns:
        rules = self.rules.rules
        labels = np.array([c for c, n in verdict.items() if not rules[n].is_assigning], np.intp)
        return labels if self.relabelling is None else self.relabelling.behind(labels)
