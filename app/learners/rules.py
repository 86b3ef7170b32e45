"""Induced rules: for each label conjunctions of terms, found by RIPPER's way (Cohen 1995).

The model can be read: each rule is a few words that must, or must not, be in the text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Scores, Truth
from app.learners.base import LTC_FEATURES, Evidence, Fitting, Learner
from app.learners.ordered_map import results_of
from app.learners.presence.bitsets import TermPresence, bits_of
from app.learners.presence.rule_growth import RuleLimits, RuleSearch
from app.state import State

FORBIDDEN = -1024
"""What a term that must not be there takes from the number of literals that hold."""
PRUNING_SHARE = 1 / 3


class LabelRules(NamedTuple):
    """One label's rules: columns and signs of each rule's literals, and the rule's log-odds."""

    literals: list[list[tuple[int, bool]]]
    values: list[float]
    otherwise: float
    """The log-odds of the label where no rule holds."""


class Rules(Learner):
    """The score is the log-odds of the best rule that holds, and of no rule where none does.

    Each rule is made of at most `max_literals` of the label's `terms` best terms. It is kept where
    `min_precision` of the documents that it was pruned on are right, up to `max_rules` a label.
    """

    kind: ClassVar[str] = "rules"
    zero_is_neutral: ClassVar[bool] = True
    feature_settings: ClassVar[Mapping[str, Any]] = LTC_FEATURES

    def __init__(
        self,
        terms: int = 200,
        max_rules: int = 50,
        max_literals: int = 6,
        min_precision: float = 0.3,
        max_failures: int = 8,
        smoothing: float = 1.0,
    ) -> None:
        self.terms, self.smoothing = terms, smoothing
        self._limits = RuleLimits(max_rules, max_literals, min_precision, max_failures)
        self._arrays: dict[str, NDArray[Any]] = {}

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Find each label's rules."""
        fitting = fitting or Fitting()
        presence = TermPresence.of(features, truth)

        def found(label: int) -> LabelRules:
            return self._label_rules(presence, label, fitting.seed)

        by_label = results_of(found, range(truth.shape[1]), fitting.jobs, fitting.progress)
        self._arrays = _joined(by_label, features.shape[1])
        return self

    def _label_rules(self, presence: TermPresence, label: int, seed: int) -> LabelRules:
        candidates = presence.candidates(label, self.terms)
        marks = presence.marks(label)
        positive = bits_of(marks)
        pick = np.random.default_rng(seed)
        everything = bits_of(np.ones(len(marks), np.bool_))
        search = RuleSearch(
            candidates,
            everything,
            positive,
            lambda: bits_of(_pruning_part(marks, pick)),
            self._limits,
        )
        rules = search.rules()
        columns = candidates.columns
        literals = [
            [(int(columns[literal.term]), literal.is_present) for literal in rule.literals]
            for rule in rules
        ]
        share = (marks.sum() + 0.5) / (len(marks) + 1.0)
        values = [self._log_odds(rule.right, rule.wrong, share) for rule in rules]
        left = search.uncovered(rules)
        return LabelRules(literals, values, self._log_odds(*left, share))

    def _log_odds(self, right: int, wrong: int, share: float) -> float:
        odds = (right + self.smoothing * share) / (wrong + self.smoothing * (1 - share))
        return float(np.log(odds))

    def for_labels(self, labels: NDArray[np.int64]) -> "Rules":
        """The same settings; each label has rules of its own."""
        return Rules(**self._settings())

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """The log-odds of the best rule that holds, or of none."""
        otherwise = self._arrays["otherwise"]
        scores = np.tile(otherwise, (features.shape[0], 1))
        rows, rules = self.holding(features)
        values, labels = self._arrays["values"][rules], self._arrays["labels"][rules]
        np.maximum.at(scores, (rows, labels), values)
        return scores

    def holding(self, features: Features) -> tuple[NDArray[Any], NDArray[Any]]:
        """Pairs of a document and a rule that holds for it."""
        present = csr_array(
            (np.ones(len(features.indices), np.int32), features.indices, features.indptr),
            shape=features.shape,
        )
        n_rules = len(self._arrays["values"])
        shape = (self.n_features, n_rules)
        by_term = (self._arrays["signs"], self._arrays["rules"], self._arrays["starts"])
        counts = csr_array(present @ csr_array(by_term, shape=shape)).tocoo()
        holds = counts.data == self._arrays["needed"][counts.col]
        return counts.row[holds], counts.col[holds]

    @property
    def n_features(self) -> int:
        """How many features the rules were found among."""
        return len(self._arrays["starts"]) - 1

    def evidence(
        self,
        columns: NDArray[Any],
        values: NDArray[np.float32],
        labels: Sequence[int],
        terms: Sequence[str],
    ) -> list[Evidence]:
        """The best rule that holds for each label, written out."""
        row = csr_array((values, columns, [0, len(columns)]), shape=(1, self.n_features))
        _, holding = self.holding(row)
        return [self._evidence(label, holding, terms) for label in labels]

    def _evidence(self, label: int, holding: NDArray[Any], terms: Sequence[str]) -> Evidence:
        otherwise = float(self._arrays["otherwise"][label])
        own = np.sort(holding[self._arrays["labels"][holding] == label])
        values = self._arrays["values"][own]
        if not len(own) or values.max() <= otherwise:
            return Evidence("rule", [], np.zeros(0), otherwise)
        best = int(own[np.argmax(values)])
        weight = float(self._arrays["values"][best])
        return Evidence("rule", [self.written(best, terms)], np.array([weight]), 0.0)

    def label_rules(self, label: int, terms: Sequence[str]) -> list[tuple[str, float]]:
        """The label's rules with their log-odds."""
        own = np.flatnonzero(self._arrays["labels"] == label).tolist()
        return [(self.written(rule, terms), float(self._arrays["values"][rule])) for rule in own]

    def written(self, rule: int, terms: Sequence[str]) -> str:
        """A rule in words: `wheat & farm & !export`."""
        literals = np.flatnonzero(self._arrays["rules"] == rule)
        columns = np.searchsorted(self._arrays["starts"], literals, side="right") - 1
        signs = self._arrays["signs"][literals]
        order = np.argsort(signs < 0, kind="stable")
        return " & ".join(
            ("!" if signs[i] < 0 else "") + terms[int(columns[i])] for i in order.tolist()
        )

    def _settings(self) -> dict[str, Any]:
        return {"terms": self.terms, **asdict(self._limits), "smoothing": self.smoothing}

    def state(self) -> State:
        """Settings and rules."""
        return State(self.kind, self._settings(), self._arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls(**state.settings)
        learner._arrays = state.arrays
        return learner


def _pruning_part(marks: NDArray[np.bool_], pick: np.random.Generator) -> NDArray[np.bool_]:
    """A third of the documents, of those with the label as of the others."""
    part = np.zeros(len(marks), np.bool_)
    for own in (marks, ~marks):
        documents = pick.permutation(np.flatnonzero(own))
        part[documents[: round(len(documents) * PRUNING_SHARE)]] = True
    return part


def _joined(by_label: Sequence[LabelRules], n_features: int) -> dict[str, NDArray[Any]]:
    """All rules as a matrix by term: 1 for one that must be there, FORBIDDEN for the opposite."""
    literals = [rule for rules in by_label for rule in rules.literals]
    pairs = [(c, r, s) for r, rule in enumerate(literals) for c, s in rule]
    columns = np.array([c for c, _, _ in pairs], np.int64)
    order = np.argsort(columns, kind="stable")
    rules = np.array([r for _, r, _ in pairs], np.int32)[order]
    signs = np.array([1 if s else FORBIDDEN for _, _, s in pairs], np.int32)[order]
    return {
        "starts": np.searchsorted(columns[order], np.arange(n_features + 1)).astype(np.int64),
        "rules": rules,
        "signs": signs,
        "needed": np.array([sum(s for _, s in rule) for rule in literals], np.int32),
        "labels": np.repeat(
            np.arange(len(by_label), dtype=np.int32), [len(r.literals) for r in by_label]
        ),
        "values": np.array([v for rules in by_label for v in rules.values], np.float32),
        "otherwise": np.array([rules.otherwise for rules in by_label], np.float32),
    }
