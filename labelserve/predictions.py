"""What comes back for a text, by a model at hand and by a service alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class TermWeight:
    """A term that raised or lowered a label; `at` are its places in the text, in code points.

    It may be a neighbour (the id of a training document) or a rule instead; `term` is None then.
    """

    term: str | None
    weight: float
    at: tuple[tuple[int, int], ...] = ()
    neighbour: str | None = None
    rule: str | None = None

    @classmethod
    def of(cls, reason: Mapping[str, Any]) -> Self:
        """From a reason of an answer."""
        others = {name: reason[name] for name in ("neighbour", "rule") if name in reason}
        return cls(reason.get("term"), reason["weight"], _spans(reason.get("at") or ()), **others)


@dataclass(frozen=True, slots=True)
class LabelAncestor:
    """A label above another in the labels file, with its name where it has one."""

    label: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label of one text, under the names of POST /predict.

    `probability` is None without calibration, `threshold` without a cut, `name` without one in the
    labels file. With `explain`, the terms of `because`, `bias` and `rest` sum to the score; with
    `ancestors`, those are the labels above, the parent first; with `below_cut`, the cut has its
    probability, too.
    """

    label: str
    score: float | None = None
    """None where a hand-written rule assigned a label that the model gives no score."""
    probability: float | None = None
    threshold: float | None = None
    because: tuple[TermWeight, ...] = ()
    bias: float | None = None
    rest: float | None = None
    approximate: bool = False
    name: str | None = None
    ancestors: tuple[LabelAncestor, ...] = ()
    threshold_probability: float | None = None

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """From a label of an answer; fields that are not known here are left out."""
        known = {name: answer[name] for name in cls.__slots__ if answer.get(name) is not None}
        because = tuple(map(TermWeight.of, known.pop("because", ())))
        above = (LabelAncestor(**ancestor) for ancestor in known.pop("ancestors", ()))
        return cls(**known, because=because, ancestors=tuple(above))

    def __str__(self) -> str:
        """The label with its probability, or its score where there is none."""
        if self.score is None:
            return f"{self.label} (by rule)"
        if self.probability is None:
            return f"{self.label} (score {self.score:.3g})"
        return f"{self.label} {self.probability:.2f}"


@dataclass(frozen=True, slots=True, repr=False)
class TextPrediction:
    """The labels of one text, best first; of `abstained` the model would not decide.

    `below_cut` has the best labels that did not pass their cut, where they were asked for.
    """

    scores: tuple[LabelScore, ...]
    abstained: tuple[str, ...] = ()
    below_cut: tuple[LabelScore, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels' names."""
        return tuple(score.label for score in self.scores)

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """From a prediction of an answer."""
        scores = tuple(map(LabelScore.of, answer["labels"]))
        below = tuple(map(LabelScore.of, answer.get("below_cut") or ()))
        return cls(scores, tuple(answer.get("abstained") or ()), below)

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.scores)) or "no label"
        abstained = f"; abstained from {', '.join(self.abstained)}" if self.abstained else ""
        return f"<{shown}{abstained}>"


@dataclass(frozen=True, slots=True)
class ExpectedFigures:
    """What to expect of new documents at an operating point, with 90 % intervals where known.

    `met` is there where the nearest point was asked for; labels that cannot reach an `each:` bound
    are `not_assigned`, the first hundred by name.
    """

    name: str
    precision: float | None = None
    recall: float | None = None
    precision_interval: Interval | None = None
    recall_interval: Interval | None = None
    met: bool | None = None
    not_assigned: tuple[str, ...] = ()
    n_not_assigned: int = 0

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """From the operating point of an answer."""
        known = {name: answer[name] for name in cls.__slots__ if name in answer}
        lists = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        return cls(**{**known, **lists})


def _spans(places: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((begin, end) for begin, end in places)
