"""Objects with a text and its labels as keys: of doccano, Hugging Face data sets, or one's own."""

from typing import Any

from app.datasets.base import ReadOptions
from app.datasets.exports.base import BadTaskError, JsonObject
from app.datasets.exports.prodigy import marked

KEYS = ("labels", "label", "cats")
NAMES = "a list of names, or a string; ids with --label-names"


class TextAndLabels:
    """Labels are those of the label column, else of `labels`, `label` (doccano) or `cats`."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._keys = (options.label_column, *KEYS)

    def matches(self, task: JsonObject) -> bool:
        """Whether it has every text column; without labels it is an unlabelled document."""
        return {*task} >= {*self._options.text_columns}

    def is_plain(self, task: JsonObject) -> bool:
        """Whether it has no labels, or a list of names in the label column itself."""
        value = task.get(self._options.label_column)
        if value is None:
            return self._key(task) in (None, self._options.label_column)
        return isinstance(value, list) and all(isinstance(each, str) for each in value)

    def fields(self, task: JsonObject) -> JsonObject:
        """The object itself."""
        return task

    def labels(self, task: JsonObject) -> Any:
        """The labels as written."""
        value = task.get(self._key(task) or "")
        if isinstance(value, dict):
            return marked(value)
        for each in value if isinstance(value, list) else (value,):
            self._check(each)
        return value

    def _key(self, task: JsonObject) -> str | None:
        return next((key for key in self._keys if key in task), None)

    def _check(self, value: Any) -> None:
        if value is None or isinstance(value, str):
            return
        if isinstance(value, list):
            raise BadTaskError("spans, which are no labels of a document", NAMES)
        if not isinstance(value, int | float):
            raise BadTaskError("a wrong value of the labels", NAMES)
        if not self._options.label_names:
            raise BadTaskError("label ids without their names", "--label-names FILE")
