"""FileReading: the files of a data set, each read by a worker, as tasks of an engine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, ClassVar

import msgspec

from app.datasets.base import ReadOptions
from app.datasets.by_file.file_documents import NAMES, error_arrays, file_arrays, read_extent
from app.datasets.input.part_files import FilePlace, may_pass, part_files, weights_of
from app.datasets.reading import open_one_of_parts, options_of_parts
from app.engine import Extent, Task, TaskArrays
from app.errors import AppError
from app.state import State


@dataclass(frozen=True, slots=True)
class FileReading:
    """The files, and how the first and the others are read: as what the first one told."""

    kind: ClassVar[str] = "read-files"
    stored: ClassVar[slice] = slice(len(NAMES), None)
    files: Sequence[FilePlace]
    first: ReadOptions
    others: ReadOptions

    @classmethod
    def of(cls, data: str | Path | BinaryIO, options: ReadOptions) -> "FileReading | None":
        """The reading of several files of texts; None for all other data."""
        files = part_files(data, options.format) if isinstance(data, str) else None
        if files is None or len(files) < 2:
            return None
        first, others = options_of_parts(files, options)
        if first.format == "svmlight":
            return None
        return cls([FilePlace.of(file) for file in files], first, others)

    def shared(self) -> State:
        """The options and the files, by paths that are the same everywhere."""
        options = [
            msgspec.to_builtins(own, enc_hook=str, order="deterministic")
            for own in (self.first, self.others)
        ]
        return State(self.kind, {"options": options, "files": self.files})

    def weights(self, tasks: Sequence[Task]) -> list[float]:
        """The bytes of each file."""
        return weights_of(self.files[number] for (number,) in tasks)

    @classmethod
    def from_shared(cls, state: State) -> "FileReading":
        """The same again."""
        first, others = (msgspec.convert(own, ReadOptions) for own in state.settings["options"])
        return cls([FilePlace(*file) for file in state.settings["files"]], first, others)

    def separated_by(self, separator: str) -> "FileReading":
        """The same where a file has told how labels are separated in those behind it."""
        return replace(self, others=replace(self.others, label_separator=separator))

    def run(self, task: Task) -> TaskArrays:
        """Read one file; what is wrong with its data is told, not raised: it will not pass."""
        options = self.others if task[0] else self.first
        try:
            keeps_all = replace(options, unlabelled="keep")
            reading = open_one_of_parts(self.files[task[0]].found(options.format), keeps_all)
            return file_arrays(reading, options)
        except AppError as error:
            if may_pass(error):
                raise
            return error_arrays(str(error))

    def extent(self, task: Task, arrays: TaskArrays) -> Extent:
        """The documents that are kept, and all bytes of the file, decompressed."""
        return read_extent(arrays)
