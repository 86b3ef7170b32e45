"""Report: everything an evaluation found, ready to be written as JSON."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Report:
    """The figures, under the names that docs/metrics.md explains."""

    content: dict[str, Any]
    decision: str = ""
    document_counts: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    """(documents, 3): TP, FP, FN of each; labels unknown to the model count as missed here."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-safe: whole numbers, finite numbers, strings; what is not finite is None."""
        safe: dict[str, Any] = json_safe(self.content)
        return safe


def json_safe(value: Any) -> Any:
    """The same content in Python's own types, with None for NaN and infinities."""
    if type(value) in (int, str, bool, type(None)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    if hasattr(value, "tolist"):
        return json_safe(value.tolist())
    return value
