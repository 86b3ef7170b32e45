"""Folders: a folder for each label, or pairs of `.txt` and `.labels` files."""

from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.input.compression import SUFFIXES as COMPRESSIONS
from app.datasets.input.lines import lines
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets
from app.errors import InvalidDataError

LAYOUTS = (
    "a folder for each label with its files inside, or pairs of .txt and .labels files; "
    "or --format for parts of one data set, such as --format parquet"
)


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a file, by name; hidden files are passed over.

    With any `.labels` file in it the folder holds pairs; otherwise the path of a file's folder is
    its label, and files of the same name and text in several folders are one document.
    """
    if not source.is_folder or source.path is None:
        raise faults.fatal("not a folder", line=1, accepted=LAYOUTS)
    files = [_File(path, source.path) for path in sorted(source.path.rglob("*"))]
    files = [file for file in files if file.path.is_file() and not file.is_hidden]
    reader = _pairs if any(file.kind == ".labels" for file in files) else _by_label
    label_sets = LabelSets(options.label_map)
    for text, names, id_, file in reader(files, source, faults):
        try:
            yield Record(text, label_sets(names), id_, 1)
        except BadLabelError as bad:
            own = Faults(str(file.path))
            faults.take(own.fatal(bad.problem, line=bad.position + 1, accepted=bad.accepted))


class _File:
    """One file below the root: `stem` and `kind` are its name's parts, compression left out."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path, inner = path, path.relative_to(root)
        self.label = inner.parent.as_posix() if len(inner.parts) > 1 else ""
        self.is_hidden = any(part.startswith(".") for part in inner.parts)
        name = inner.with_suffix("") if inner.suffix.lower() in COMPRESSIONS else inner
        self.kind = name.suffix if name.suffix in (".txt", ".labels") else ""
        stem = name.as_posix().removesuffix(self.kind)
        self.stem = stem.encode(errors="surrogateescape").decode(errors="replace")
        self.name = self.stem.rpartition("/")[2]


_Record = tuple[str, list[str], str, _File]


def _by_label(files: list[_File], source: Source, faults: Faults) -> Iterator[_Record]:
    files = sorted(files, key=lambda file: (file.name, file.path))
    for name, group in groupby(files, key=lambda file: file.name):
        found: dict[str, list[_File]] = {}
        for file in group:
            if not file.label:
                own = Faults(str(file.path))
                faults.take(own.fatal("a file outside any folder", line=1, accepted=LAYOUTS))
            elif (text := _text(file, source, faults)) is not None:
                found.setdefault(text, []).append(file)
        for text, same in found.items():
            id_ = name if len(found) == 1 else same[0].stem
            yield text, [file.label for file in same], id_, same[0]


def _pairs(files: list[_File], source: Source, faults: Faults) -> Iterator[_Record]:
    texts = {file.stem: file for file in files if file.kind == ".txt"}
    labels = {file.stem: file for file in files if file.kind == ".labels"}
    for stem in sorted(texts.keys() | labels.keys()):
        if stem not in texts:
            own = Faults(str(labels[stem].path))
            faults.take(own.fatal("a .labels file without its .txt", line=1, accepted=LAYOUTS))
            continue
        text = _text(texts[stem], source, faults)
        names = _text(labels[stem], source, faults) if stem in labels else ""
        if text is not None and names is not None:
            yield text, names.split("\n"), stem, labels.get(stem, texts[stem])


def _text(file: _File, source: Source, faults: Faults) -> str | None:
    """What a file holds, without a last line end; None after a fault."""
    try:
        opened = Source(file.path, source.limits)
        with closing(opened):
            text = "\n".join(_bounded_lines(opened))
    except InvalidDataError as error:
        faults.take(error)
        return None
    source.absorb(file.stem, opened)
    return text


def _bounded_lines(source: Source) -> Iterator[str]:
    faults, size, limit = Faults(source.name), 0, source.limits.max_line_bytes
    for number, line in lines(source, faults):
        size += len(line) + 1
        if size > limit:
            problem = f"a document longer than {limit} bytes"
            raise faults.fatal(problem, line=number, accepted="shorter documents")
        yield line
