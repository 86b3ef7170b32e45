"""What training tells about a model beside its state, and what a verified model holds."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.artifacts.manifest import Manifest
from app.state import State


@dataclass(frozen=True, slots=True)
class Info:
    """Everything for the manifest that the state does not say. No training text belongs in it."""

    data_sha256: str
    counts: dict[str, int]
    """Of the training data: documents, labels, pairs, …"""
    training_counts: NDArray[np.int64]
    """(labels,): training documents a label."""
    seed: int = 0
    recipe: dict[str, Any] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    """Versions by distribution name; `labelserve` is the one to use if a reader is too old."""
    timings: dict[str, float] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    """Validation (and test) figures, nested as one likes; values that are not finite become null"""
    golden: list[dict[str, Any]] = field(default_factory=list)
    """{"text": str} or {"features": [[index, value], …]}, with "top": [[label, score], …]"""
    document_histograms: dict[str, dict[str, Any]] | None = None
    """By measure {"edges": […], "counts": […]} of held-out documents; None: too few, or none."""
    documents: NDArray[np.uint64] | None = None
    """64-bit hashes of the training texts, so that reports can tell a test document was seen."""

    def with_other_labels(self) -> "Info":
        """The same of a model that answers with other labels: how many is not known any more."""
        kept = self.document_histograms
        rest = {name: bins for name, bins in (kept or {}).items() if name != "labels"}
        return replace(self, document_histograms=rest or None)


@dataclass(frozen=True, slots=True)
class Artifact:
    """One version, verified, its arrays memory-mapped and read-only."""

    name: str
    version: str
    manifest: Manifest
    state: State
    training_counts: NDArray[np.int64]
    documents: NDArray[np.uint64] | None
