"""LibMultiLabel's lines: what each oddity becomes."""

import io

import pytest

from app.datasets.base import ReadOptions
from app.datasets.reading import open_dataset
from app.errors import InvalidDataError
from tests.datasets.cases import read


def one(line: bytes) -> tuple[str | None, tuple[str, ...], str]:
    (document,) = read(line, format="tsv")
    return document.id, document.labels, document.text


def test_two_fields_are_labels_and_text_and_three_begin_with_an_id() -> None:
    assert one(b"corn wheat\tsome text") == (None, ("corn", "wheat"), "some text")
    assert one(b"7\tcorn wheat\tsome text") == ("7", ("corn", "wheat"), "some text")


def test_later_tabs_belong_to_the_text() -> None:
    assert one(b"7\tcorn\ta\tb\tc") == ("7", ("corn",), "a\tb\tc")
    documents = read(b"corn\ta\nwheat\tb\tc\n", format="tsv")
    assert [document.text for document in documents] == ["a", "b\tc"]


def test_an_empty_label_field_is_an_unlabelled_document() -> None:
    assert one(b"7\t\ttext") == ("7", (), "text")
    assert one(b"7\t  \ttext") == ("7", (), "text")


def test_an_empty_text_and_an_empty_id_are_kept() -> None:
    assert one(b"\tcorn\t") == (None, ("corn",), "")


def test_labels_are_split_at_spaces_only_and_count_once() -> None:
    assert one("b  a b\u00a0c a\tx".encode()) == (None, ("b", "a", "b\u00a0c"), "x")


def test_blank_lines_are_passed_over_and_line_numbers_count_them() -> None:
    assert [document.line for document in read(b"\na\tx\n  \n\nb\ty\n", format="tsv")] == [2, 5]


def test_duplicate_ids_are_kept_and_counted() -> None:
    reading = open_dataset(io.BytesIO(b"7\ta\tx\n7\ta\ty\n8\ta\tz\n7\ta\tz\n"))
    assert len(list(reading)) == 4
    assert reading.summary.duplicate_ids == 2


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            b"a\tx\nno tab",
            "data:2:7: a line without a TAB; accepted: labels TAB text; found 'no tab'",
        ),
        (
            b"1\ta\tx\n2\tb",
            "data:2:4: a line with one TAB; accepted: id TAB labels TAB text; found",
        ),
        (
            b"a\tx\nb\xe9\ty",
            r"data:2:2: not UTF-8; accepted: UTF-8 text (in Excel: save as CSV UTF-8); found"
            r" '\\xe9'",
        ),
        (
            b"a\tx\nb\xc3",
            r"data:2:2: not UTF-8; accepted: UTF-8 text (in Excel: save as CSV UTF-8); found"
            r" '\\xc3'",
        ),
        (b"a\tx\nb\0\ty", "data:2:2: a NUL byte; accepted: UTF-8 text"),
        (b"a " + b"b" * 1001 + b"\tx", "data:1:3: a label that is too long; accepted: label names"),
        (b"7\ta b\x01\ty", "data:1:5: a control character in a label; accepted: label names"),
    ],
)
def test_a_bad_line_is_named_with_file_line_column_and_what_is_accepted(
    data: bytes, sentence: str
) -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(data, format="tsv")
    assert str(caught.value).startswith(sentence)


def test_bad_lines_are_skipped_counted_and_listed_without_their_content() -> None:
    data = b"secret\n" + b"7\ta\tx\n" + b"\xff\n" * 30 + b"8\ta\ty\n"
    reading = open_dataset(io.BytesIO(data), ReadOptions(format="tsv", on_error="skip"))
    assert [document.line for document in reading] == [2, 33]
    assert reading.summary.skipped == 31
    assert len(reading.summary.skipped_lines) == 20
    assert reading.summary.skipped_lines[0].line == 1
    assert "secret" not in reading.summary.skipped_lines[0].problem


def test_what_http_may_say_holds_no_content() -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(b"a\tb\nsecret", format="tsv")
    assert "secret" in str(caught.value)
    assert "secret" not in caught.value.without_content()
