"""FileTasks: an evaluation file by file, each of them a task that gives what was measured of it."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from app.artifacts.store import Store
from app.datasets.base import ReadOptions
from app.datasets.by_file.in_order import in_order
from app.datasets.input.part_files import FilePlace, may_pass, weights_of
from app.datasets.reading import open_one_of_parts
from app.engine import Engine, Extent, Task, TaskArrays
from app.errors import AppError, InvalidDataError
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.partitions.measured_file import MeasuredFile
from app.model import Model, load_model
from app.state import State

COUNTING = (
    *("k", "decision", "beta", "zero_division", "include_test_labels", "unlabelled"),
    *("bootstrap", "check_seen", "suspects"),
)


@dataclass(frozen=True, slots=True)
class FileEvaluation:
    """What every worker must know."""

    models_dir: Path
    model: str
    first: ReadOptions
    """How the first file is read."""
    others: ReadOptions
    """How those behind it are: what it told of the format and of labels holds for them."""
    counting: dict[str, Any]
    """The options of the evaluation that say what is counted of each document."""

    @classmethod
    def of(
        cls,
        models_dir: Path,
        model: str,
        reading: tuple[ReadOptions, ReadOptions],
        options: EvaluationOptions,
    ) -> "FileEvaluation":
        """The job of these options; costs count only where the report is put together."""
        counting = {name: getattr(options, name) for name in COUNTING}
        counting["predictions"] = None if options.predictions is None else "lines"
        return cls(models_dir, model, *reading, counting)

    @property
    def options(self) -> EvaluationOptions:
        """The options again, on a worker."""
        lines = self.counting["predictions"]
        return EvaluationOptions(**{**self.counting, "predictions": Path(lines) if lines else None})


@dataclass(frozen=True, slots=True)
class FileTasks:
    """The files of a test set, and the model where it is loaded: on a worker."""

    kind: ClassVar[str] = "evaluated-files"
    job: FileEvaluation
    files: list[FilePlace]
    model: Model | None = None

    def shared(self) -> State:
        """The job and the files, by paths that are the same everywhere."""
        job: dict[str, Any] = msgspec.to_builtins(self.job, enc_hook=str, order="deterministic")
        job["models_dir"] = str(self.job.models_dir.resolve())
        return State(self.kind, {"job": job, "files": self.files}, {})

    def weights(self, tasks: Sequence[Task]) -> list[float]:
        """The bytes of each file."""
        return weights_of(self.files[number] for (number,) in tasks)

    @classmethod
    def from_shared(cls, state: State) -> "FileTasks":
        """The same with its model."""
        job = msgspec.convert(state.settings["job"], FileEvaluation, dec_hook=_of_text)
        files = [FilePlace(*file) for file in state.settings["files"]]
        return cls(job, files, load_model(Store(job.models_dir), job.model))

    def run(self, task: Task) -> TaskArrays:
        """Measure one file; what is wrong with its data is told, not raised: it is no accident."""
        if self.model is None:
            raise ValueError("built by from_shared, which loads the model")
        reading = self.job.others if task[0] else self.job.first
        try:
            file = self.files[task[0]].found(reading.format)
            documents = open_one_of_parts(file, reading)
            with tempfile.TemporaryDirectory(prefix="evaluation-") as folder:
                asked = self.job.options, JudgedModel.of(self.model)
                measured = MeasuredFile.of(self.model.classifier, documents, asked, Path(folder))
        except AppError as error:
            if may_pass(error):
                raise
            return MeasuredFile({"error": str(error)}, {}).arrays()
        return measured.arrays()

    def extent(self, task: Task, arrays: TaskArrays) -> Extent:
        """The documents and bytes of the file."""
        summary = MeasuredFile.from_arrays(arrays).about.get("summary", {})
        return Extent(summary.get("documents", 0), summary.get("bytes", 0))

    def measured(self, engine: Engine) -> Iterator[MeasuredFile]:
        """What was measured of every file, in their order."""
        return in_order(engine, self, _measured, _separator)

    @property
    def others(self) -> ReadOptions:
        """How the files behind the first are read."""
        return self.job.others

    def separated_by(self, separator: str) -> "FileTasks":
        """The same, where a file has told how labels are separated in those behind it."""
        others = replace(self.job.others, label_separator=separator)
        return replace(self, job=replace(self.job, others=others))


def _measured(arrays: TaskArrays) -> MeasuredFile:
    file = MeasuredFile.from_arrays(arrays)
    if "error" in file.about:
        raise InvalidDataError(file.about["error"])
    return file


def _separator(file: MeasuredFile) -> str:
    separator: str = file.about["summary"]["label_separator"]
    return separator


def _of_text(kind: type[Any], text: Any) -> Any:
    """A path again, which is all that JSON has as text alone."""
    return kind(text)
