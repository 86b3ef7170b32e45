"""The protocol of an export: which objects are its own, and where text and labels are in them."""

from collections.abc import Mapping
from typing import Any, Protocol

JsonObject = Mapping[str, Any]
ALL = "*"
"""As label column: the labels of every question or control together."""


class BadTaskError(ValueError):
    """An object that its tool would not have written, or that leaves open what is meant."""

    def __init__(self, problem: str, accepted: str = "", hint: str = "") -> None:
        self.problem, self.accepted, self.hint = problem, accepted, hint
        super().__init__(problem)


class Export(Protocol):
    """How one tool writes its tasks; made with the options of the reading."""

    def matches(self, task: JsonObject) -> bool:
        """Whether an object is of this shape; asked for the first one only."""
        ...

    def fields(self, task: JsonObject) -> JsonObject:
        """Where the text columns are looked up."""
        ...

    def labels(self, task: JsonObject) -> Any:
        """A list of names or ids, one of them, a string that holds several, or None: unlabelled."""
        ...


def chosen(answers: Mapping[str, Any], label_column: str) -> list[str]:
    """The names of the questions whose answers are labels: the one named, or the only one."""
    if label_column == ALL:
        return list(answers)
    if label_column in answers:
        return [label_column]
    if len(answers) > 1:
        raise BadTaskError(
            "labels of several questions",
            "--label-column with the name of one of them, or '*' for all",
            f"there are: {', '.join(answers)}",
        )
    return list(answers)


def part(task: JsonObject, key: str, kind: type) -> Any:
    """The value of a key, which must be of this kind; an empty one where it is null or missing."""
    value = task.get(key)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise BadTaskError(f'a wrong value of "{key}"', f"{key} as the tool writes it")
    return value
