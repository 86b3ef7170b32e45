"""The keyword arguments of predictions, evaluations, readings and trainings, each named once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict

BOUNDS = {
    "top_k": (1, 100_000),
    "explain": (1, 100),
    "below_cut": (1, 100),
    "min_probability": (0, 1),
}
"""As POST /predict has them."""

FilePath: TypeAlias = str | PathLike[str]


class PredictArguments(TypedDict, total=False):
    """What is asked about texts: the fields of POST /predict, which docs/api.md explains.

    None is the same as not given.
    """

    top_k: int | None
    operating_point: str | None
    nearest: bool
    threshold: float | None
    min_probability: float | None
    labels: Iterable[str] | None
    explain: int | None
    below_cut: int | None
    ancestors: bool


class CountingArguments(TypedDict, total=False):
    """How an evaluation counts, here or at a service: docs/metrics.md explains it."""

    k: Sequence[int]
    decision: str
    beta: float
    zero_division: Literal[0, 1, "0", "1", "skip"]
    include_test_labels: bool
    unlabelled: Literal["keep", "drop"]
    bootstrap: int
    suspects: int


class EvaluateArguments(CountingArguments, total=False):
    """How a model at hand is evaluated; `jobs` 0 takes all processors, `costs` is a file."""

    seed: int
    jobs: int
    check_seen: bool
    costs: FilePath


class UploadArguments(CountingArguments, total=False):
    """How a service evaluates one of its models on a file that is sent to it."""

    model: str
    format: str
    text_columns: Sequence[str]
    label_column: str
    label_separator: str
    on_error: Literal["fail", "skip"]


class ReadArguments(TypedDict, total=False):
    """How a file is read: docs/data-formats.md explains it. `label_map` is old → new names."""

    format: str
    text_columns: Sequence[str]
    label_column: str
    label_separator: str
    label_columns: Sequence[str]
    label_names: Sequence[str]
    id_column: str
    order_column: str
    sheet: str
    label_map: Mapping[str, str]
    on_error: Literal["fail", "skip"]
    unlabelled: Literal["keep", "drop"]
    min_label_documents: int


class TrainArguments(TypedDict, total=False):
    """What is trained, and how: the options of the command, with its defaults but for `quality`.

    `recipe` is a TOML file or its tables as a dict; the other arguments are stronger. `progress` is
    called with (stage, done, total).
    """

    learner: str
    recipe: FilePath | Mapping[str, Any]
    liblinear: str
    solver: str
    decision: str
    folds: int
    folds_by: str
    fbr: float
    abstain: float
    costs: FilePath
    labels_file: FilePath
    valid: Any
    seed: int
    jobs: int
    device: str
    fingerprints: bool
    min_label_documents: int
    quality: str
    objective: str
    progress: Callable[[str, int, int], None]


def given(arguments: Mapping[str, Any], accepted: type[Any]) -> dict[str, Any]:
    """The arguments without those that are None; a name that `accepted` has not is a TypeError."""
    known = accepted.__optional_keys__
    for name in arguments:
        if name not in known:
            raise TypeError(f"no such argument: {name!r}; accepted: {', '.join(sorted(known))}")
    return {name: value for name, value in arguments.items() if value is not None}


def asked_of_texts(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked about texts; numbers that POST /predict refuses are a ValueError here."""
    asked = given(arguments, PredictArguments)
    for name, (least, most) in BOUNDS.items():
        if name in asked and not least <= asked[name] <= most:
            raise ValueError(f"{name} is a number from {least} to {most}")
    if "labels" in asked:
        asked["labels"] = names_of(asked["labels"], "labels")
    return asked


def counting(arguments: Mapping[str, Any], accepted: type[Any]) -> dict[str, Any]:
    """How to count, with `k` and `zero_division` as the product has them."""
    asked = given(arguments, accepted)
    if "k" in asked:
        asked["k"] = tuple(asked["k"])
    if "zero_division" in asked:
        asked["zero_division"] = str(asked["zero_division"])
    return asked


def names_of(names: str | Iterable[str], what: str) -> tuple[str, ...]:
    """Several names; a lone str is a TypeError, because its characters would be taken for them."""
    if isinstance(names, str):
        meant = [name.strip() for name in names.split(",")]
        raise TypeError(f"{what} is a list of names: write {meant!r}")
    return tuple(names)
