"""Label Studio's JSON-MIN: one flat object for each annotation of a task."""

from typing import Any

from app.datasets.base import ReadOptions
from app.datasets.exports.base import BadTaskError, JsonObject, chosen

AFTER_CONTROLS = "annotator"
ALWAYS = {AFTER_CONTROLS, "annotation_id", "lead_time"}


class LabelStudioMin:
    """Labels are what stands between the task's own keys with its id, and `annotator`."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def matches(self, task: JsonObject) -> bool:
        """Whether it has the keys that every line ends with."""
        return {*task} >= ALWAYS

    def fields(self, task: JsonObject) -> JsonObject:
        """The task's data are keys among the others."""
        return task

    def labels(self, task: JsonObject) -> Any:
        """The choices of the one control, or of the one that the label column names."""
        keys = list(task)
        start = keys.index("id") + 1 if "id" in task else 0
        between = keys[start : keys.index(AFTER_CONTROLS)] if AFTER_CONTROLS in task else []
        texts = {*self._options.text_columns, self._options.order_column}
        controls = {key: task[key] for key in between if key not in texts}
        names = chosen(controls, self._options.label_column)
        return [choice for name in names for choice in _choices(controls[name])]


def _choices(value: Any) -> list[str]:
    """One choice is a string, several are an object with a list; spans and ratings are neither."""
    if isinstance(value, dict):
        value = value.get("choices")
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    if isinstance(value, str):
        return [value]
    raise BadTaskError("labels that are no choices", "a control of the kind Choices")
