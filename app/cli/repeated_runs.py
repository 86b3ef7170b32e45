"""`labelserve train --runs`: the whole way repeated on random splits, and what it gives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli.terminal import progress_bars, show_warnings, table, write_json
from app.errors import InvalidRequestError
from app.evaluation.report.tables import figure
from app.progress import Progress
from app.training.run_results import RunResult, runs_summary

SHARE = 0.8
COLUMNS = ("mean", "sd", "min", "max")


@dataclass(frozen=True, slots=True)
class Repetition:
    """`--runs` and `--share` as they were given."""

    runs: int | None = None
    given_share: float | None = None

    @property
    def share(self) -> float:
        """The share to train on."""
        return SHARE if self.given_share is None else self.given_share

    def as_dict(self) -> dict[str, Any]:
        """What `--json` says of it."""
        return {"share": self.share, "planned": self.runs}


def checked_name(model: str | None, repetition: Repetition, others: dict[str, bool]) -> str:
    """The model's name; a combination that means nothing is refused, before any data is read."""
    if repetition.runs is None:
        if repetition.given_share is not None:
            raise InvalidRequestError("--share is the training share of repeated runs: give --runs")
        if model is None:
            raise InvalidRequestError("give --model NAME to write a version of, or --runs N")
        return model
    if not 0 < repetition.share < 1:
        raise InvalidRequestError("--share is the share to train on, above 0 and below 1")
    given = [option for option, is_given in others.items() if is_given]
    if given:
        raise InvalidRequestError(
            f"--runs splits the data itself and publishes nothing: leave {', '.join(given)} out"
        )
    return model or "runs"


def run_repeatedly(
    start: Callable[[Progress], Iterator[RunResult]], json: Path | None, about: dict[str, Any]
) -> None:
    """Show and write the spread of all figures; after an interrupt, of the runs done so far.

    A file is written anew after every run, so that it is there even if the process is killed.
    """
    done: list[RunResult] = []
    try:
        with progress_bars() as progress:
            for run in start(progress):
                done.append(run)
                write_json(None if str(json) == "-" else json, {**about, **runs_summary(done)})
    finally:
        if done:
            _tell({**about, **runs_summary(done)}, json)


def _tell(found: dict[str, Any], json: Path | None) -> None:
    if str(json) != "-":
        _show(found, len(found["runs"]))
    write_json(json, found)  # again: the interrupt may have come while it was written


def _show(found: dict[str, Any], n_done: int) -> None:
    planned, first = found["planned"], found["runs"][0]
    sizes = f"{first['training_documents']:,} documents to train on, {first['test_documents']:,}"
    runs = f"{n_done} runs" if n_done == planned else f"{n_done} of {planned} runs"
    rows = [
        [name, *(figure(spread[column]) for column in COLUMNS)]
        for name, spread in found["figures"].items()
    ]
    table(f"{runs}: {sizes} to test", ["figure", *COLUMNS], rows)
    show_warnings(found["warnings"])
