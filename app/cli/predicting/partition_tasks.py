"""PartitionTasks: predictions file by file on a cluster, each file a task.

Workers read the data and write the predictions themselves, under the paths that the command uses;
what goes back is how many rows there were, and what is to be said about them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from app.artifacts.store import Store
from app.cli.predicting.written_partition import PredictionJob, WrittenPartition, write_partition
from app.datasets.input.part_files import PartFile, absolute, part_at, weights_of
from app.engine import Extent, Task, TaskArrays
from app.model import Model, load_model
from app.prediction.tables.partitions import Partition
from app.state import State


@dataclass(frozen=True, slots=True)
class PartitionTasks:
    """The files to predict, and the model where it is loaded: on a worker."""

    kind: ClassVar[str] = "predicted-files"
    job: PredictionJob
    partitions: list[Partition]
    model: Model | None = None

    def shared(self) -> State:
        """The job and the files, by paths that are the same everywhere."""
        job: dict[str, Any] = msgspec.to_builtins(self.job, enc_hook=str, order="deterministic")
        job["models_dir"] = str(self.job.models_dir.resolve())
        files = [
            [each.file.name, each.file.inner, absolute(each.file.name), str(each.output.resolve())]
            for each in self.partitions
        ]
        return State(self.kind, {"job": job, "files": files}, {})

    def weights(self, tasks: Sequence[Task]) -> list[float]:
        """The bytes of each file."""
        return weights_of(self.partitions[number].file for (number,) in tasks)

    @classmethod
    def from_shared(cls, state: State) -> "PartitionTasks":
        """The same with its model."""
        job = msgspec.convert(state.settings["job"], PredictionJob, dec_hook=_of_text)
        files = [
            Partition(_file(name, inner, place, job), Path(output))
            for name, inner, place, output in state.settings["files"]
        ]
        return cls(job, files, load_model(Store(job.models_dir), job.model))

    def run(self, task: Task) -> TaskArrays:
        """Write the predictions of one file; what came of it, as JSON in bytes."""
        if self.model is None:
            raise ValueError("built by from_shared, which loads the model")
        written = write_partition(self.job, self.model, self.partitions[task[0]])
        return (np.frombuffer(msgspec.json.encode(written[1:]), np.uint8),)

    def extent(self, task: Task, arrays: TaskArrays) -> Extent:
        """The rows of the file, and its bytes as they are stored, where they are known."""
        return Extent(self.written(task, arrays).rows, self.partitions[task[0]].file.size or 0)

    def written(self, task: Task, arrays: TaskArrays) -> WrittenPartition:
        """What a task gave."""
        rows, skipped, notes, error = msgspec.json.decode(arrays[0].tobytes())
        output = self.partitions[task[0]].output
        return WrittenPartition(output, rows, skipped, tuple(notes), error)


def _file(name: str, inner: str, place: str, job: PredictionJob) -> PartFile:
    return part_at(place, job.reading.format, name=name, inner=inner)


def _of_text(kind: type[Any], text: Any) -> Any:
    """A path again, which is all that JSON has as text alone."""
    return kind(text)
