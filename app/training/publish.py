"""After training: the version written, measured, and promoted or not, with a reason."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.artifacts.info import Info
from app.artifacts.store import Store
from app.artifacts.versions import is_name
from app.datasets.base import Record, Summary
from app.datasets.collection import Collection
from app.errors import AppError, InvalidRequestError
from app.evaluation.compare.promotion import not_worse
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.report.report import Report
from app.evaluation.run import evaluate
from app.model import Model, load_model
from app.progress import Progress, silent
from app.training.train import Trained

PROMOTIONS = ("always", "never", "not-worse")
TestSet = Callable[[], Iterable[Record]]
"""Opens the test set anew each time it is called."""


@dataclass(frozen=True, slots=True)
class Published:
    """The version as it is on disk now, what it reached, and whether it answers from now on."""

    version: str
    is_promoted: bool
    reason: str
    report: Report | None


def publish(  # noqa: PLR0913
    trained: Trained,
    store: Store,
    name: str,
    *,
    test: TestSet | None = None,
    promote: str = "always",
    options: EvaluationOptions | None = None,
    progress: Progress = silent,
) -> Published:
    """Write the version first, so that nothing after it can lose it; then measure and promote."""
    check_target(name, promote, has_test=test is not None)
    version = store.write(name, trained.classifier.state(), trained.info)
    model = load_model(store, f"{name}@{version}")
    report = measure(model, test, options, progress) if test else None
    is_better, reason = _verdict(store, name, report, test, (promote, options, progress))
    if is_better:
        store.promote(name, version)
    return Published(version, is_better, reason, report)


def check_target(name: str, promote: str, *, has_test: bool) -> None:
    """Refuse, before training, a name or a promotion that would fail after it."""
    if not is_name(name):
        raise InvalidRequestError(
            "a model's name is 1 to 64 of a-z 0-9 . _ - and starts with a letter or digit"
        )
    if promote not in PROMOTIONS:
        raise InvalidRequestError(f"--promote: accepted: {', '.join(PROMOTIONS)}")
    if promote == "not-worse" and not has_test:
        raise InvalidRequestError("--promote not-worse compares on a test set: give --test")


def measure(
    model: Model,
    test: TestSet,
    options: EvaluationOptions | None = None,
    progress: Progress = silent,
) -> Report:
    """The report of a model on a test set."""
    return evaluate(
        model.classifier,
        test(),
        options or EvaluationOptions(),
        info=JudgedModel.of(model),
        progress=progress,
    )


def documents_of(collection: Collection) -> Iterator[Record]:
    """The documents of a collection in memory, as a reader gives them."""
    for row, labels in enumerate(collection.label_sets):
        document = collection.documents[[row]] if collection.is_ready_made else None
        features = (document.indices, document.data) if document is not None else None
        text = "" if collection.is_ready_made else collection.documents[row]
        line = row + 1 if collection.lines is None else int(collection.lines[row])
        yield Record(text, labels, collection.ids[row], line, features)


def _verdict(
    store: Store,
    name: str,
    report: Report | None,
    test: TestSet | None,
    how: tuple[str, EvaluationOptions | None, Progress],
) -> tuple[bool, str]:
    promote, options, progress = how
    if promote == "never":
        return False, "not promoted, as asked"
    if promote == "always" or report is None or test is None:
        return True, "promoted"
    try:
        current = load_model(store, name)
    except AppError as error:
        return True, f"promoted: no current version to compare with ({error})"
    return not_worse(report, measure(current, test, options, progress))


def read_counts(read: Summary) -> dict[str, Any]:
    """What reading the data counted, as JSON."""
    counted = asdict(read)
    lines = [{"line": fault.line, "problem": fault.problem} for fault in read.skipped_lines]
    return {**counted, "skipped_lines": lines}


def training_warnings(info: Info) -> list[str]:
    """What a training warned of, as its manifest keeps it."""
    drift = info.figures.get("drift", {}).get("warning")
    unlabelled = _of_unlabelled(info.counts)
    return [warning for warning in (unlabelled, drift, *_of_labels_file(info.counts)) if warning]


def _of_unlabelled(counts: Mapping[str, int]) -> str:
    """Documents that nobody labelled look like documents that no label fits."""
    n = counts.get("unlabelled", 0)
    if not n:
        return ""
    return (
        f"{n:,} documents have no label and count as if none fitted them; where nobody labelled "
        "them, --unlabelled drop leaves them out"
    )


def _of_labels_file(counts: Mapping[str, int]) -> list[str]:
    missing, equal = (
        counts.get(name, 0) for name in ("labels_not_in_labels_file", "labels_of_equal_name")
    )
    return [
        f"{missing:,} labels of the data are not in the labels file: they have no name and no "
        "parent"
        if missing
        else "",
        f"{equal:,} labels of the labels file share a name with another label" if equal else "",
    ]


def summary(trained: Trained, published: Published, read: Summary) -> dict[str, Any]:
    """What `--json` writes."""
    info = trained.info
    return {
        "read": read_counts(read),
        "version": published.version,
        "promoted": published.is_promoted,
        "reason": published.reason,
        "counts": info.counts,
        "figures": info.figures,
        "suspects": len(trained.suspects),
        "warnings": [*read.warnings, *training_warnings(info)],
        "timings": info.timings,
        "recipe": info.recipe,
        "report": published.report.as_dict() if published.report else None,
    }
