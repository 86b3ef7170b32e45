"""ComparisonJob: two evaluations compared in a process of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.catalogue import find
from app.serving.evaluating import ProcessJob

RUN = {"compare": "app.evaluation.compare.kept_comparison:compare_kept"}
"""Loaded in the process alone: the service itself never compares."""


@dataclass(frozen=True)
class ComparisonJob(ProcessJob):
    """What is kept of both, and what the answer says of each."""

    folder: Path
    a: Path
    b: Path
    described: Mapping[str, Any]
    """By `a` and `b`, JSON-safe."""

    def content(self) -> dict[str, Any]:
        """The comparison, JSON-safe."""
        compare_kept = find(RUN, "compare", "task")
        return {**self.described, **compare_kept(self.a, self.b)}
