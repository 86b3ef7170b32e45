"""Label Studio's JSON: a task with its data, and the annotations of one or several people."""

from typing import Any

from app.datasets.base import ReadOptions
from app.datasets.exports.base import JsonObject, chosen, part


class LabelStudio:
    """Labels are the choices of the last annotation, or of the one marked as ground truth.

    Cancelled (skipped) annotations and predictions are passed over.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._label_column = options.label_column

    def matches(self, task: JsonObject) -> bool:
        """Whether it has `data`, and `annotations` (`completions` before version 1.0)."""
        return isinstance(task.get("data"), dict) and bool({"annotations", "completions"} & {*task})

    def fields(self, task: JsonObject) -> JsonObject:
        """The task's data."""
        fields: JsonObject = part(task, "data", dict)
        return fields

    def labels(self, task: JsonObject) -> Any:
        """The choices; those of the control that the label column names, if there are several."""
        key = "annotations" if "annotations" in task else "completions"
        given = [each for each in part(task, key, list) if _counts(each)]
        if not given:
            return None
        choices: dict[str, list[str]] = {}
        for result in part(max(given, key=_rank), "result", list):
            if isinstance(result, dict) and "choices" in part(result, "value", dict):
                control = choices.setdefault(str(result.get("from_name")), [])
                control += part(result["value"], "choices", list)
        names = chosen(choices, self._label_column)
        return [choice for name in names for choice in choices[name]]


def _counts(annotation: Any) -> bool:
    is_left_out = not isinstance(annotation, dict) or annotation.get("was_cancelled")
    return not (is_left_out or annotation.get("skipped"))


def _rank(annotation: JsonObject) -> tuple[bool, str]:
    made = annotation.get("updated_at") or annotation.get("created_at")
    return bool(annotation.get("ground_truth")), str(made or "")
