"""How an upload is read and counted, as JSON of a job's row and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.datasets.base import ReadOptions
from app.datasets.input.limits import Limits
from app.evaluation.options import EvaluationOptions

MAX_RATIO = 200.0
MAX_LINE_BYTES = 16 << 20
MAX_LABELS = 1_000_000
MAX_WINDOW = 8 << 20
"""Memory that Zstandard data may ask for: what its specification wants every decoder to offer."""
READING = ("format", "text_columns", "label_column", "label_separator", "on_error")
COUNTING = (
    "k",
    "decision",
    "beta",
    "zero_division",
    "include_test_labels",
    "unlabelled",
    "bootstrap",
    "suspects",
)


def upload_limits(max_bytes: int) -> Limits:
    """Every bound that holds for data of a client, of which so many bytes are read."""
    return Limits(
        max_line_bytes=MAX_LINE_BYTES,
        max_bytes=max_bytes,
        max_ratio=MAX_RATIO,
        max_labels=MAX_LABELS,
        max_window=MAX_WINDOW,
    )


def reading_json(reading: ReadOptions) -> dict[str, Any]:
    """What a job's row keeps of how its upload is read."""
    return {name: getattr(reading, name) for name in READING}


def reading_of(content: Mapping[str, Any], max_bytes: int) -> ReadOptions:
    """How to read the upload of a job, within the limits that hold now."""
    columns = tuple(content["text_columns"])
    return ReadOptions(**{**content, "text_columns": columns, "limits": upload_limits(max_bytes)})


def options_json(options: EvaluationOptions) -> dict[str, Any]:
    """What a job's row keeps of how it is counted."""
    every = asdict(options)
    return {name: every[name] for name in COUNTING}


def options_of(content: Mapping[str, Any]) -> EvaluationOptions:
    """How to count, as it was asked for."""
    return EvaluationOptions(**{**content, "k": tuple(content["k"])})
