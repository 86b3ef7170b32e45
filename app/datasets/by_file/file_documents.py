"""FileDocuments: what is kept of the documents of one file, as arrays that a worker gives."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.datasets.base import ReadOptions, Record
from app.datasets.by_file.part_summary import PartSummary
from app.datasets.fingerprint import fingerprints
from app.datasets.order_values import OrderValue
from app.datasets.read_documents import ReadDocuments
from app.datasets.reading import Reading
from app.engine import Extent
from app.errors import InvalidDataError
from app.kernels.text.chunks import text_chunks
from app.progress import silent
from app.resources.stored_texts import GROUP, TextGroup, packed_group
from app.state import pack_strings, unpack_strings

NAMES = (
    *("about", "codes", "code_ends", "ids", "ids_ends", "has_id", "found_ids", "found_ids_ends"),
    *("lines", "digests", "fingerprints"),
)
SURROGATES = "surrogatepass"


@dataclass(frozen=True, slots=True)
class FileDocuments:
    """The documents that are kept, in their order; their texts are in groups that stay."""

    summary: PartSummary
    label_sets: list[tuple[str, ...]]
    ids: list[str | None]
    found_ids: list[str]
    """Those of all documents that have one, of dropped ones, too."""
    lines: NDArray[np.int64]
    digests: bytes
    fingerprints: NDArray[np.uint64]
    order: list[OrderValue]
    groups: list[TextGroup]

    @classmethod
    def from_arrays(cls, arrays: Sequence[NDArray[Any]]) -> Self:
        """What `file_arrays` gave, with the names of the groups; bad data are refused."""
        given = dict(zip(NAMES, arrays[: len(NAMES)], strict=True))
        about = json.loads(given["about"].tobytes())
        if "error" in about:
            raise InvalidDataError(about["error"])
        summary = PartSummary(**about["summary"])
        ids = unpack_strings(given, "ids", SURROGATES)
        names = zip(arrays[len(NAMES) :], about["group_sizes"], strict=True)
        return cls(
            summary,
            _label_sets(summary.label_names, given["codes"].tolist(), given["code_ends"].tolist()),
            [own if has else None for own, has in zip(ids, given["has_id"].tolist(), strict=True)],
            unpack_strings(given, "found_ids", SURROGATES),
            given["lines"],
            given["digests"].tobytes(),
            given["fingerprints"],
            [_order_value(kind, value) for kind, value in about["order"]],
            [TextGroup(name, n_texts) for name, n_texts in names],
        )


def file_arrays(reading: Reading, options: ReadOptions) -> tuple[NDArray[Any], ...]:
    """Everything of `FileDocuments` as arrays; `reading` keeps unlabelled documents."""
    found = _FoundIds(drops_unlabelled=options.unlabelled == "drop")
    read = ReadDocuments(silent, has_order=bool(options.order_column))
    groups, sizes, marks = [], [], [np.zeros(0, np.uint64)]
    for texts in text_chunks(read.texts(found.kept(reading)), GROUP):
        groups.append(packed_group(texts))
        sizes.append(len(texts))
        marks.append(fingerprints(texts))
    summary = PartSummary.of(reading, dropped=found.n_dropped)
    about = {
        "summary": summary.as_dict(),
        "group_sizes": sizes,
        "order": [[type(value).__name__, str(value)] for value in read.order or ()],
    }
    number_of = {name: number for number, name in enumerate(summary.label_names)}
    codes = [number_of[label] for labels in read.label_sets for label in labels]
    arrays: dict[str, NDArray[Any]] = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "codes": np.array(codes, np.int32),
        "code_ends": np.cumsum([len(labels) for labels in read.label_sets], dtype=np.int64),
        **pack_strings([own or "" for own in read.ids], "ids", SURROGATES),
        "has_id": np.array([own is not None for own in read.ids], np.bool_),
        **pack_strings(found.ids, "found_ids", SURROGATES),
        "lines": np.frombuffer(read.lines, np.int64),
        "digests": np.frombuffer(bytes(read.digests), np.uint8),
        "fingerprints": np.concatenate(marks),
    }
    return (*(arrays[name] for name in NAMES), *groups)


def error_arrays(sentence: str) -> tuple[NDArray[Any], ...]:
    """What stands for a file that cannot be read."""
    about = np.frombuffer(json.dumps({"error": sentence}).encode(), np.uint8)
    return (about, *(np.zeros(0) for _ in NAMES[1:]))


def read_extent(arrays: Sequence[NDArray[Any]]) -> Extent:
    """How much was read: documents that are kept, bytes of the file."""
    summary = json.loads(arrays[0].tobytes()).get("summary", {})
    return Extent(summary.get("documents", 0), summary.get("bytes", 0))


class _FoundIds:
    """The ids of all documents that go by, and how many of them are dropped."""

    def __init__(self, *, drops_unlabelled: bool) -> None:
        self._drops_unlabelled = drops_unlabelled
        self.ids: list[str] = []
        self.n_dropped = 0

    def kept(self, documents: Reading) -> Iterator[Record]:
        """The documents that are not dropped."""
        for document in documents:
            if document.id is not None:
                self.ids.append(document.id)
            if document.labels or not self._drops_unlabelled:
                yield document
            else:
                self.n_dropped += 1


def _label_sets(
    names: Sequence[str], codes: Sequence[int], ends: Sequence[int]
) -> list[tuple[str, ...]]:
    own = [intern(name) for name in names]  # one text for all files
    labels = [own[code] for code in codes]
    return [tuple(labels[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def _order_value(kind: str, value: str) -> OrderValue:
    kinds: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": "True".__eq__}
    read: OrderValue = kinds[kind](value)
    return read
