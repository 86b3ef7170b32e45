"""The options of an evaluation, and what it should know about the model."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from app.document_drift.reference import DriftReference
from app.errors import InvalidRequestError
from app.labels import Relabelling, Taxonomy
from app.metrics.costs import CostTable
from app.metrics.counting.cells import Averaging, ZeroDivision

MAX_SCORES = 1_000_000_000
LARGEST_K = 1000
MOST_SUSPECTS = 10_000


@dataclass(frozen=True)
class EvaluationOptions:
    """How to count; the command line and the API offer the same options."""

    k: tuple[int, ...] = (1, 3, 5)
    decision: str = "tuned"
    beta: float = 1.0
    zero_division: ZeroDivision = "0"
    include_test_labels: bool = False
    unlabelled: Literal["keep", "drop"] = "keep"
    bootstrap: int = 0
    seed: int = 0
    jobs: int = 1
    max_scores: int = MAX_SCORES
    """Up to this many scores all are kept on disk, and every figure is exact."""
    predictions: Path | None = None
    """Where to write each document's labels as JSON lines; None: nowhere."""
    keep: Path | None = None
    """A folder for what comparisons need of every document (app/evaluation/kept); None: nowhere."""
    check_seen: bool = True
    """Whether to look for test documents that were trained on."""
    suspects: int = 0
    """How many labels to list at most that are probably missing or wrong; 0: no list."""
    costs: CostTable | None = None
    """What errors cost; None: what the model was tuned for, or else no figures of it."""

    def __post_init__(self) -> None:
        if not self.k or any(not 1 <= k <= LARGEST_K for k in self.k):
            raise InvalidRequestError(f"k is a list of whole numbers from 1 to {LARGEST_K}")
        object.__setattr__(self, "k", tuple(sorted(set(self.k))))
        if not (math.isfinite(self.beta) and 0 < self.beta <= 1000):
            raise InvalidRequestError("beta is a number above 0 and at most 1000")
        if self.zero_division not in ("0", "1", "skip"):
            raise InvalidRequestError("zero_division is 0, 1 or skip")
        if self.unlabelled not in ("keep", "drop"):
            raise InvalidRequestError("unlabelled is keep or drop")
        if not 0 <= self.bootstrap <= 100_000:
            raise InvalidRequestError("bootstrap is a whole number from 0 to 100000")
        if not 0 <= self.suspects <= MOST_SUSPECTS:
            raise InvalidRequestError(f"suspects is a whole number from 0 to {MOST_SUSPECTS}")

    @property
    def averaging(self) -> Averaging:
        """The part that the averages need."""
        return Averaging(self.zero_division, self.beta)


def parse_k(text: str) -> tuple[int, ...]:
    """`1,3,5` as numbers; repeated and unsorted ones are put in order later.

    >>> parse_k("1, 5")
    (1, 5)
    """
    if not re.fullmatch(r"\s*[0-9]{1,4}\s*(,\s*[0-9]{1,4}\s*)*", text):
        raise InvalidRequestError("k is a list of whole numbers, as in 1,3,5")
    return tuple(int(part) for part in text.split(","))


class TrainedModel(Protocol):
    """What an evaluation asks of a model (app/model.py) beside its scores."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def version(self) -> str:
        """Which version of it."""
        ...

    @property
    def training_counts(self) -> NDArray[np.int64]:
        """Training documents of each trained label."""
        ...

    @property
    def relabelling(self) -> Relabelling | None:
        """What the trained labels became; None where they are what they were."""
        ...

    @property
    def n_training_documents(self) -> int | None:
        """All training documents; None: not known."""
        ...

    @property
    def fingerprints(self) -> NDArray[np.uint64] | None:
        """Sorted hashes of the training texts; None: not kept."""
        ...

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The labels' names and parents; None: not known."""
        ...

    @property
    def costs(self) -> CostTable | None:
        """What errors cost, where its decision was tuned for that."""
        ...

    @property
    def drift_reference(self) -> DriftReference | None:
        """What its held-out documents were like; None: not known."""
        ...


@dataclass(frozen=True)
class JudgedModel:
    """What a report says about the model, and what some figures need of its training data."""

    name: str = ""
    version: str = ""
    training_counts: NDArray[np.int64] | None = None
    """Training documents of each label; None: not known, no propensity-scored figures."""
    n_training_documents: int | None = None
    fingerprints: NDArray[np.uint64] | None = None
    """Sorted hashes of the training texts; None: not kept."""
    labels: str = "trained"
    """Which labels count as known, as `conventions` says it."""
    cautions: tuple[str, ...] = ()
    """Warnings that the report should carry."""
    taxonomy: Taxonomy | None = None
    """The labels' names and parents; None: not known, no hierarchical figures."""
    costs: CostTable | None = None
    """What errors cost, where the model's decision was tuned for that."""
    drift: DriftReference | None = None
    """What its held-out documents were like; None: not known, nothing of drift is said."""

    @classmethod
    def of(cls, model: TrainedModel) -> Self:
        """What is known of a model of the store."""
        return cls(
            model.name,
            model.version,
            answered_counts(model.training_counts, model.relabelling),
            model.n_training_documents,
            model.fingerprints,
            cautions=relabelling_cautions(model.relabelling),
            taxonomy=model.taxonomy,
            costs=model.costs,
            drift=model.drift_reference,
        )


def answered_counts(
    counts: NDArray[np.int64], relabelling: Relabelling | None
) -> NDArray[np.int64] | None:
    """Training documents of each label; None where labels were merged: documents may have both."""
    if relabelling is None:
        return counts
    return None if relabelling.has_merged else counts[relabelling.sources]


def relabelling_cautions(relabelling: Relabelling | None) -> tuple[str, ...]:
    """What a report on merged labels does not know."""
    if relabelling is None or not relabelling.has_merged:
        return ()
    return (
        "labels were merged: their training documents and probabilities are not known, so there "
        "are no propensity-scored figures, no calibration, and no figures by training frequency",
    )
