"""JSON files: read as a stream, refused where they cannot be read on."""

import io
import json
import tracemalloc
from itertools import chain

import pytest

from app.datasets.base import ReadOptions
from app.datasets.input.limits import Limits
from app.datasets.reading import open_dataset
from app.errors import InvalidDataError
from tests.datasets.cases import read


class InPieces(io.RawIOBase):
    """Bytes that come a few at a time, after a first piece."""

    def __init__(self, data: bytes, size: int) -> None:
        self._pieces = chain((data[i : i + size] for i in range(0, len(data), size)), [b""])

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


def test_objects_may_stand_in_an_array_or_one_after_another() -> None:
    objects = ['{"text": "a"}', '{\n"text": "b"}']
    expected = [("a", 2), ("b", 3)]
    for data in (f"\n[{objects[0]},\n{objects[1]}]\n", f"\n{objects[0]}\n{objects[1]}"):
        found = [(d.text, d.line) for d in read(data.encode(), format="json", labels="optional")]
        assert found == expected
    assert read(b"[]", format="json") == read(b" ", format="json") == []


def test_values_longer_than_a_piece_are_read_whole() -> None:
    texts = [f"é {n} " * 40_000 for n in range(4)]
    data = json.dumps([{"text": t, "labels": ["a"]} for t in texts], ensure_ascii=False).encode()
    source = InPieces(data, 70_001)
    found = open_dataset(source, ReadOptions(format="json"))  # type: ignore[arg-type]
    assert [document.text for document in found] == texts


@pytest.mark.parametrize(
    ("data", "place", "problem"),
    [
        ('[{"text": "a"},\n {"text": "b",}]', (2, 15), "malformed JSON"),
        ('[{"text": "a"}\n {"text": "b"}]', (2, 2), "malformed JSON"),
        ('[{"text": "a"},\n{"text": "b', (2, 10), "malformed JSON"),
        ('[{"text": "a"}\n', (2, 1), "JSON that ends early"),
        ('[{"text": "a"}] x', (1, 17), "malformed JSON"),
        ('{"text": "a"}\n]', (2, 1), "malformed JSON"),
        ('[{"text": "a"},\n1]', (2, 1), "an element that is no object"),
        ('[{"text": "a", "n": NaN}]', (1, 2), "JSON that is nested too deeply, or has NaN"),
        ('[{"text": "a", "n": ' + "[" * 100_000, (1, 2), "JSON that is nested too deeply"),
        (r'[{"text": "\ud800", "labels": []}]', (1, 1), "half a surrogate pair in JSON"),
        ('[{"text": "a", "labels": [""]}]', (1, 1), "an empty label"),
        ('[{"text": "a", "labels": [{}]}]', (1, 1), "a wrong value of the labels"),
    ],
)
def test_bad_json_is_named_with_line_and_column(
    data: str, place: tuple[int, int], problem: str
) -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(data.encode(), format="json", labels="optional")
    error = caught.value
    assert (error.line, error.column) == place
    assert error.problem.startswith(problem)
    assert error.accepted


def test_json_of_windows_1252_says_how_to_save_it() -> None:
    with pytest.raises(InvalidDataError, match=r":2:1: not UTF-8.*save as CSV UTF-8"):
        read('[\n{"text": "Müll"}]'.encode("cp1252"), format="json")


def test_a_value_beyond_the_limit_is_refused_and_memory_stays_bounded() -> None:
    limits = Limits(max_line_bytes=1 << 20)
    endless = InPieces(b'[{"text": "' + b"x" * (16 << 20), 1 << 20)
    tracemalloc.start()
    with pytest.raises(InvalidDataError, match="a value longer than"):
        list(open_dataset(endless, ReadOptions(format="json", limits=limits)))  # type: ignore[arg-type]
    small = json.dumps([{"text": "word " * 20, "labels": ["a"]}] * 10_000).encode()
    for document in open_dataset(io.BytesIO(small), ReadOptions(format="json")):
        assert document.labels
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20
