"""PartitionTasks: predictions file by file on a cluster, each file a task.

Workers read the data and write the predictions themselves, under the paths that the command uses;
what goes back is how many rows there were, and what is to be said about them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from app.artifacts.store import Store
from app.cli.predicting.written_partition import PredictionJob, WrittenPartition, write_partition
from app.datasets.input.part_files import FilePlace, weights_of
from app.engine import Extent, Task, TaskArrays
from app.model import Model, load_model
from app.prediction.tables.partitions import Partition
from app.state import State


@dataclass(frozen=True, slots=True)
class PartitionTasks:
    """The files to predict, and the model where it is loaded: on a worker."""

    kind: ClassVar[str] = "predicted-files"
    job: PredictionJob
    files: list[FilePlace]
    outputs: list[Path]
    model: Model | None = None

    @classmethod
    def of(cls, job: PredictionJob, partitions: list[Partition]) -> "PartitionTasks":
        """The files of a command."""
        files = [FilePlace.of(each.file) for each in partitions]
        return cls(job, files, [each.output for each in partitions])

    def shared(self) -> State:
        """The job and the files, by paths that are the same everywhere."""
        job: dict[str, Any] = msgspec.to_builtins(self.job, enc_hook=str, order="deterministic")
        job["models_dir"] = str(self.job.models_dir.resolve())
        outputs = [str(output.resolve()) for output in self.outputs]
        return State(self.kind, {"job": job, "files": self.files, "outputs": outputs}, {})

    def weights(self, tasks: Sequence[Task]) -> list[float]:
        """The bytes of each file."""
        return weights_of(self.files[number] for (number,) in tasks)

    @classmethod
    def from_shared(cls, state: State) -> "PartitionTasks":
        """The same with its model."""
        job = msgspec.convert(state.settings["job"], PredictionJob, dec_hook=_of_text)
        files = [FilePlace(*file) for file in state.settings["files"]]
        outputs = [Path(output) for output in state.settings["outputs"]]
        return cls(job, files, outputs, load_model(Store(job.models_dir), job.model))

    def run(self, task: Task) -> TaskArrays:
        """Write the predictions of one file; what came of it, as JSON in bytes."""
        if self.model is None:
            raise ValueError("built by from_shared, which loads the model")
        file = self.files[task[0]].found(self.job.reading.format)
        written = write_partition(self.job, self.model, Partition(file, self.outputs[task[0]]))
        return (np.frombuffer(json.dumps(written[1:]).encode(), np.uint8),)

    def extent(self, task: Task, arrays: TaskArrays) -> Extent:
        """The rows of the file, and its bytes as they are stored, where they are known."""
        return Extent(self.written(task, arrays).rows, self.files[task[0]].size or 0)

    def written(self, task: Task, arrays: TaskArrays) -> WrittenPartition:
        """What a task gave."""
        rows, skipped, notes, error = json.loads(arrays[0].tobytes())
        return WrittenPartition(self.outputs[task[0]], rows, skipped, tuple(notes), error)


def _of_text(kind: type[Any], text: Any) -> Any:
    """A path again, which is all that JSON has as text alone."""
    return kind(text)
