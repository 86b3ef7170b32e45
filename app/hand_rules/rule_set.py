"""HandRules: the rules of one model in their order, and what they say about a text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks
from app.errors import DamagedArtifactError
from app.hand_rules.document_words import DocumentWords
from app.hand_rules.pattern_syntax import parse_pattern
from app.hand_rules.patterns import Pattern
from app.kernels.text.analysis import Analysis
from app.labels.index import LabelIndex
from app.state import State, pack_strings, unpack_strings

ACTIONS = ("assign", "forbid")


@dataclass(frozen=True, slots=True)
class HandRule:
    """Where `pattern` holds, the label is assigned or forbidden."""

    label: str
    when: str
    """The pattern as it was written: how answers name the rule."""
    is_assigning: bool
    pattern: Pattern
    note: str = ""
    line: int = 0
    """Where it begins in its file; 0 once it is part of a model."""

    @property
    def then(self) -> str:
        """`assign` or `forbid`, as in the file."""
        return ACTIONS[0] if self.is_assigning else ACTIONS[1]


Verdict = Mapping[int, int]
"""Label column → number of the rule that decides it: of those that hold, the last."""


@dataclass(frozen=True, slots=True, eq=False)
class HandRules:
    """Rules in the order of their file, over the words that one model's tokenizer sees."""

    rules: tuple[HandRule, ...]
    labels: LabelIndex
    analysis: Analysis
    columns: tuple[int, ...] = field(init=False, repr=False)
    """The column of each rule's label."""
    _by_word: dict[str, tuple[int, ...]] = field(init=False, repr=False)
    """Word → rules that can only hold where it, or another of their words, is present."""
    _always: tuple[int, ...] = field(init=False, repr=False)
    """The rules that must be looked at for every text."""

    def __post_init__(self) -> None:
        columns = tuple(self.labels.columns[rule.label] for rule in self.rules)
        object.__setattr__(self, "columns", columns)
        by_word: dict[str, list[int]] = {}
        always: list[int] = []
        for number, rule in enumerate(self.rules):
            words = rule.pattern.triggers()
            for word in words or ():
                by_word.setdefault(word, []).append(number)
            if words is None:
                always.append(number)
        object.__setattr__(self, "_always", tuple(always))
        object.__setattr__(self, "_by_word", {word: tuple(n) for word, n in by_word.items()})

    def fired(self, text: str) -> list[int]:
        """The numbers of the rules that hold for a text, in their order."""
        words = DocumentWords.of(text, self.analysis)
        asked = set(self._always)
        for word in words.present.keys() & self._by_word.keys():
            asked.update(self._by_word[word])
        return [number for number in sorted(asked) if self.rules[number].pattern.holds(words)]

    def verdict(self, text: str) -> Verdict:
        """The last rule that holds of each label; labels without one are left out."""
        return {self.columns[number]: number for number in self.fired(text)}

    def correct(self, marks: Marks, verdicts: Iterable[Verdict]) -> None:
        """Set the marks of each document as its verdict says."""
        for row, verdict in enumerate(verdicts):
            for column, number in verdict.items():
                marks[row, column] = self.rules[number].is_assigning

    def corrected(self, marks: Marks, texts: Sequence[str]) -> Marks:
        """The marks of these texts as the rules leave them."""
        corrected = marks.copy()
        self.correct(corrected, map(self.verdict, texts))
        return corrected

    def state(self) -> State:
        """Labels, patterns and notes as they were written, and what each rule does."""
        is_assigning: NDArray[np.bool_] = np.array([rule.is_assigning for rule in self.rules])
        arrays = {
            **pack_strings([rule.label for rule in self.rules], "labels"),
            **pack_strings([rule.when for rule in self.rules], "patterns"),
            **pack_strings([rule.note for rule in self.rules], "notes"),
            "is_assigning": is_assigning,
        }
        return State("hand-rules", {"rules": len(self.rules)}, arrays)

    @classmethod
    def from_state(cls, state: State, labels: LabelIndex, analysis: Analysis | None) -> Self:
        """Build equal rules again, for the labels and the tokenizer of their model."""
        if analysis is None:
            raise DamagedArtifactError("it has hand-written rules, but reads no texts")
        texts = (unpack_strings(state.arrays, name) for name in ("labels", "patterns", "notes"))
        rows = zip(*texts, state.arrays["is_assigning"].tolist(), strict=True)
        rules = tuple(
            HandRule(label, when, is_assigning, parse_pattern(when, analysis), note)
            for label, when, note, is_assigning in rows
        )
        return cls(rules, labels, analysis)
