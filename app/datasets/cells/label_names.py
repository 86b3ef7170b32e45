"""Names of label ids: from a file, and for the ids or 0/1 marks of a document."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from app.datasets.label_sets import BadLabelError
from app.errors import InvalidDataError

ACCEPTED = (
    "a name a line, a JSON list of names, or the JSON of a Hugging Face data set "
    "(dataset_info.json: features with a ClassLabel) or model (config.json: id2label)"
)
LARGEST = 64 << 20
MARKS = {"0": False, "1": True, "0.0": False, "1.0": True, "False": False, "True": True}


def load_label_names(path: str | Path, label_column: str = "labels") -> tuple[str, ...]:
    """The names in the order of their ids, from 0.

    Of several ClassLabel features that of the label column counts, or the only one.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST)
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        problem = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "cannot be opened"
        raise InvalidDataError(problem, file=path, accepted=ACCEPTED) from error
    names = _names(text, label_column)
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise InvalidDataError("no label names", file=path, line=1, accepted=ACCEPTED)
    return tuple(name.strip() for name in names)


def names_of(values: Sequence[Any], names: Sequence[str]) -> list[str]:
    """The names of ids, or of marks: as many 0 and 1 as there are names, the k-th for name k.

    >>> names_of([2, 0], ["a", "b", "c"]), names_of([0.0, 1.0, 1.0], ["a", "b", "c"])
    (['c', 'a'], ['b', 'c'])
    """
    written = [str(value).strip() for value in values if value is not None]
    if len(written) == len(names) > 1 and all(value in MARKS for value in written):
        return [name for name, value in zip(names, written, strict=True) if MARKS[value]]
    return [_name(value, position, names) for position, value in enumerate(written) if value]


def class_labels(content: Any, label_column: str) -> Sequence[str]:
    """The names of the ClassLabel feature that Hugging Face's JSON describes; () if unclear."""
    features = dict(_features(content))
    if label_column in features:
        return features[label_column]
    return next(iter(features.values())) if len(features) == 1 else ()


def _name(value: str, position: int, names: Sequence[str]) -> str:
    number = value.removesuffix(".0")
    if number.isdecimal() and int(number) < len(names):
        return names[int(number)]
    if value in names:
        return value
    accepted = f"ids from 0 to {len(names) - 1}, or {len(names)} marks 0 and 1"
    raise BadLabelError("a label id that has no name", value, position, accepted)


def _names(text: str, label_column: str) -> Sequence[Any]:
    if not text.lstrip().startswith(("[", "{")):
        return text.rstrip().splitlines()
    try:
        content = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return ()
    if isinstance(content, list):
        return content
    if isinstance(named := content.get("id2label"), dict):
        return [named.get(str(number)) for number in range(len(named))]
    return class_labels(content, label_column)


def _features(content: Any, column: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every ClassLabel with the name of its column, however deep it is nested."""
    if not isinstance(content, dict):
        return
    if content.get("_type") == "ClassLabel" and isinstance(content.get("names"), list):
        yield column, content["names"]
        return
    for key, inner in content.items():
        yield from _features(inner, column if key == "feature" else key)
