"""The rules of one label: conjunctions of terms, grown by FOIL gain and pruned (RIPPER's IREP*)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.learners.presence.bitsets import Bits, Candidates, sizes


@dataclass(frozen=True, slots=True)
class Literal:
    """A candidate term that must be in the text, or must not."""

    term: int
    is_present: bool


@dataclass(frozen=True, slots=True)
class GrownRule:
    """Literals that must all hold, and how many documents of all they cover rightly and wrongly."""

    literals: tuple[Literal, ...]
    right: int
    wrong: int


@dataclass(frozen=True, slots=True)
class RuleLimits:
    """When a rule, and the set of rules, is long enough."""

    max_rules: int
    max_literals: int
    min_precision: float
    """Of a pruned rule on the documents kept for pruning."""
    max_failures: int
    """Rules found too bad, after which no more are looked for."""


@dataclass(frozen=True, slots=True)
class RuleSearch:
    """Grows rules for one label on some documents and prunes them on others."""

    candidates: Candidates
    everything: Bits
    positive: Bits
    pruning_parts: Callable[[], Bits]
    """A new random part of the documents to prune the next rule on; the others grow it."""
    limits: RuleLimits

    def rules(self) -> list[GrownRule]:
        """Rules one after the other, each for documents that none before it covers."""
        found: list[GrownRule] = []
        uncovered, failures = self.everything, 0
        while len(found) < self.limits.max_rules and failures < self.limits.max_failures:
            if not sizes(uncovered & self.positive):
                break
            pruning = self.pruning_parts()
            literals = self._pruned(self._grown(uncovered & ~pruning), uncovered & pruning)
            if literals is None:
                failures += 1
                continue
            found.append(self._counted(literals))
            uncovered = uncovered & ~self._covered(literals)
        return found

    def uncovered(self, rules: list[GrownRule]) -> tuple[int, int]:
        """How many documents that no rule covers have the label, and how many have not."""
        left = self.everything
        for rule in rules:
            left = left & ~self._covered(rule.literals)
        right = int(sizes(left & self.positive))
        return right, int(sizes(left)) - right

    def _grown(self, members: Bits) -> tuple[Literal, ...]:
        """Literals added by falling FOIL gain until no wrong document is covered."""
        literals: list[Literal] = []
        while len(literals) < self.limits.max_literals:
            n, p = int(sizes(members)), int(sizes(members & self.positive))
            if p == n:
                break
            literal = self._best_literal(members, n, p, only_present=not literals)
            if literal is None:
                break
            literals.append(literal)
            members = members & self._documents(literal)
        return tuple(literals)

    def _best_literal(self, members: Bits, n: int, p: int, *, only_present: bool) -> Literal | None:
        here = self.candidates.documents & members
        n_present, p_present = sizes(here), sizes(here & self.positive)
        gain = _foil_gain(p_present, n_present, p, n)
        absent = np.full(len(gain), -1.0)
        if not only_present:
            absent = _foil_gain(p - p_present, n - n_present, p, n)
        both = np.concatenate([gain, absent])
        best = int(np.argmax(both)) if len(both) else 0
        if not len(both) or both[best] <= 0:
            return None
        return Literal(best % len(gain), best < len(gain))

    def _pruned(self, literals: tuple[Literal, ...], members: Bits) -> tuple[Literal, ...] | None:
        """The first literals that do best on the pruning documents; None where none is good."""
        best, best_value = None, -2.0
        for length in range(1, len(literals) + 1):
            covered = members & self._covered(literals[:length])
            n, p = int(sizes(covered)), int(sizes(covered & self.positive))
            value = (2 * p - n) / n if n else -1.0
            if value > best_value and p >= self.limits.min_precision * max(n, 1):
                best, best_value = literals[:length], value
        return best

    def _counted(self, literals: tuple[Literal, ...]) -> GrownRule:
        covered = self._covered(literals) & self.everything
        right = int(sizes(covered & self.positive))
        return GrownRule(literals, right, int(sizes(covered)) - right)

    def _covered(self, literals: tuple[Literal, ...]) -> Bits:
        covered: Bits = np.full_like(self.positive, ~np.uint64(0))
        for literal in literals:
            covered = covered & self._documents(literal)
        return covered

    def _documents(self, literal: Literal) -> Bits:
        held: Bits = self.candidates.documents[literal.term]
        return held if literal.is_present else ~held


def _foil_gain(
    p: NDArray[np.int64], n: NDArray[np.int64], p_before: int, n_before: int
) -> NDArray[np.float64]:
    """p · (log₂ of the precision afterwards − log₂ of the precision before); -1 where p is 0."""
    precision = np.maximum(p, 1) / np.maximum(n, 1)
    gain = p * (np.log2(precision) - np.log2(max(p_before, 1) / max(n_before, 1)))
    return np.where(p > 0, gain, -1.0)
