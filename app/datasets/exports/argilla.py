"""Argilla's records, as `dataset.records.to_json` writes them."""

from typing import Any

from app.datasets.base import ReadOptions
from app.datasets.exports.base import JsonObject, chosen, part

SUBMITTED = "submitted"


class Argilla:
    """Labels are the first submitted response to a question; suggestions are passed over."""

    def __init__(self, options: ReadOptions) -> None:
        self._label_column = options.label_column

    def matches(self, task: JsonObject) -> bool:
        """Whether it has `fields`, and `responses` or `suggestions`."""
        return isinstance(task.get("fields"), dict) and bool({"responses", "suggestions"} & {*task})

    def fields(self, task: JsonObject) -> JsonObject:
        """The record's fields, and its metadata for an order."""
        return {**part(task, "metadata", dict), **part(task, "fields", dict)}

    def labels(self, task: JsonObject) -> Any:
        """The values of the one question, or of the one that the label column names."""
        answered = {}
        for question, responses in part(task, "responses", dict).items():
            values = [each["value"] for each in responses or () if _is_submitted(each)]
            if values:
                answered[question] = values[0] if isinstance(values[0], list) else [values[0]]
        if not answered:
            return None
        names = chosen(answered, self._label_column)
        return [label for name in names for label in answered[name]]


def _is_submitted(response: Any) -> bool:
    is_answer = isinstance(response, dict) and response.get("value") is not None
    return is_answer and response.get("status") in (None, SUBMITTED)
