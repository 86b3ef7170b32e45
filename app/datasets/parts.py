"""Several files read as one data set."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from msgspec.structs import replace as with_fields

from app.datasets.base import Reader, ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.input.part_files import PartFile
from app.datasets.input.source import Source


def opened_part(file: PartFile, options: ReadOptions) -> Source:
    """The bytes of one file, which are closed with the source."""
    return Source(file.open(), options.limits, name=file.name, is_owned=True)


@dataclass(frozen=True, slots=True)
class Parts:
    """Reads parts as one data set, so that the same documents come as from one file.

    What the first part tells holds for all: the format, and how labels are separated. Lines count
    on from part to part, because a document without an id is known by its line.
    """

    files: list[PartFile]
    reader: Reader

    def __call__(self, source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
        """The documents of all parts; every fault names its own file and line."""
        last, faults.names_files = 0, True
        for number, file in enumerate(self.files):
            faults.file, faults.part, before = file.name, number, last
            with closing(opened_part(file, options)) as part:
                for record in self.reader(part, options, faults):
                    if last == before:
                        _take_layout(source, part, options, faults, is_first=not number)
                    last = before + record.line
                    yield with_fields(record, line=last) if before else record
                source.absorb("", part)
            if faults.label_separator:
                options = replace(options, label_separator=faults.label_separator)


def _take_layout(
    source: Source, part: Source, options: ReadOptions, faults: Faults, *, is_first: bool
) -> None:
    """The first part's columns are those of the whole; others are refused where cells are kept."""
    if is_first:
        source.layout = part.layout
    own, whole = part.layout, source.layout
    if options.keeps_cells and (own.columns, own.types) != (whole.columns, whole.types):
        raise faults.fatal(
            "other columns than in the first part",
            line=1,
            accepted="parts with the same columns in the same order, or a folder as --output",
        )
