"""The protocol of decision rules: the names that a rule reads, and the Decision they mean."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.decisions.decision import Decision
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.errors import InvalidRequestError
from app.heldout import HeldOut


class Use(Enum):
    """Where a rule's name may be given; the value is how the error for an unknown name begins."""

    TRAINING = "no such decision to train with"
    EVALUATION = "no such decision"
    PREDICTION = "no such operating point"
    FILE_PREDICTION = "no such operating point for a file"


class HeldOutPoints(Protocol):
    """The operating points of a model, by held-out scores."""

    def find(self, name: str, *, nearest: bool = False) -> Decision:
        """The cuts of that point; `UnattainableError` with the best there is, or that best."""
        ...


@dataclass(frozen=True, slots=True)
class Basis:
    """What a decision may rest on; each rule takes what it needs."""

    n_labels: int
    uncentred_learner: str | None = None
    """A learner of the model whose score 0 is not neutral; None: `score > 0` is sensible."""
    held_out: HeldOut | None = None
    """Scores to tune on, with their hulls."""
    hulls: Hulls | None = None
    options: TuningOptions = field(default_factory=TuningOptions)
    operating_points: HeldOutPoints | None = None
    takes_nearest: bool = False
    """Whether the nearest operating point does where the one asked for is unattainable."""

    def tuned_on(self) -> tuple[HeldOut, Hulls, TuningOptions]:
        """What a tuned rule needs; an InvalidRequestError where nothing was held out."""
        if self.held_out is None or self.hulls is None:
            raise InvalidRequestError("this decision is tuned on held-out scores; there are none")
        return self.held_out, self.hulls, self.options


@dataclass(frozen=True, slots=True)
class Batch:
    """All scores of a batch of documents, label by label."""

    n_documents: int
    columns: Iterable[NDArray[np.float32]]
    """Each label's scores in the documents' order, by rising label number."""
    frequencies: NDArray[np.float64]
    """The share of training documents that carry each label."""


@dataclass(frozen=True, slots=True)
class BatchDecision:
    """Per-label cuts over a batch, inclusive for documents up to `last_documents`."""

    cuts: NDArray[np.float32]
    last_documents: NDArray[np.int64]
    """The number of the last document that gets the label at a score equal to the cut."""
    name: str

    def decide(self, scores: Scores, first: int = 0) -> Marks:
        """Mark the labels of documents of the batch; `first` is the first row's number."""
        numbers = np.arange(first, first + len(scores))[:, None]
        ties = (scores == self.cuts) & (numbers <= self.last_documents)
        return np.asarray((scores > self.cuts) | ties)


class NamedRule(Protocol):
    """What all rules have: a syntax, and names to try it with.

    A rule is a class that inherits from `Rule` or `BatchRule` below. The defaults here are those of
    a rule without arguments, whose one name is its syntax.
    """

    syntax: ClassVar[str]
    """The names it reads, as error messages and help texts list them: `rank:K`."""
    examples: ClassVar[tuple[str, ...]]
    """Names as `name` spells them; the contract suite tries each."""
    uses: ClassVar[frozenset[Use]] = frozenset({Use.TRAINING, Use.EVALUATION})

    @classmethod
    def read(cls, name: str) -> Self | None:
        """The rule of that name; None where the name is another rule's.

        A name of this syntax with a wrong argument is an InvalidRequestError, without an echo.
        """
        return cls() if name == cls.syntax else None

    @property
    def name(self) -> str:
        """The one spelling of it."""
        return self.syntax


class Rule(NamedRule, Protocol):
    """A rule that decides document by document."""

    is_tuned: ClassVar[bool] = False
    """Whether its cuts come from held-out scores, which training must then make."""

    @abstractmethod
    def decision(self, basis: Basis) -> Decision:
        """The rule as data; an InvalidRequestError says what the basis lacks."""


@runtime_checkable
class BatchRule(NamedRule, Protocol):
    """A rule that must know all documents of a batch before it decides on one."""

    @abstractmethod
    def batch_decision(self, batch: Batch) -> BatchDecision:
        """The rule over this batch."""
