"""Prodigy's tasks, as `prodigy db-out` writes them."""

from typing import Any

from app.datasets.base import ReadOptions
from app.datasets.exports.base import BadTaskError, JsonObject, part

ANSWERS = ("accept", "reject", "ignore")
OF_A_CATEGORY = {"accept", "options", "label", "cats"}


class Prodigy:
    """Labels are the options accepted, or the one label asked about.

    A task that was rejected or ignored has none of them.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def matches(self, task: JsonObject) -> bool:
        """Whether it has an answer, and categories to answer for."""
        return task.get("answer") in ANSWERS and bool(OF_A_CATEGORY & {*task})

    def fields(self, task: JsonObject) -> JsonObject:
        """The text is among the keys, other columns may be in `meta`."""
        return {**part(task, "meta", dict), **task}

    def labels(self, task: JsonObject) -> Any:
        """The ids of the options accepted; where there are no options, `cats` or `label`."""
        if task.get("answer") != "accept":
            return None
        if "accept" in task or "options" in task:
            return [str(option) for option in part(task, "accept", list)]
        if "cats" in task:
            return marked(task["cats"])
        return [str(task["label"])] if task.get("label") else None


def marked(categories: Any) -> list[str]:
    """The names of `{"name": score}` with a score of at least 0.5, as spaCy reads them."""
    if not isinstance(categories, dict) or not all(
        isinstance(score, int | float) for score in categories.values()
    ):
        raise BadTaskError('a wrong value of "cats"', '{"name": 1.0, "other": 0.0}')
    return [name for name, score in categories.items() if score >= 0.5]
