"""Tables as people have them."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.datasets.base import ReadOptions
from app.datasets.reading import open_dataset
from app.errors import InvalidDataError
from tests.datasets.cases import read

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1), st.sampled_from(",;\t"))
def test_what_the_csv_module_writes_comes_back(rows: list[tuple[str, str]], delimiter: str) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerows([("subject", "body", "labels"), *((*row, "a|b") for row in rows)])
    data = file.getvalue().encode()
    documents = read(data, format="csv", text_columns=("subject", "body"))
    assert [document.text for document in documents] == [f"{a}\n{b}" for a, b in rows]


def test_excel_writes_semicolons_a_mark_and_crlf() -> None:
    data = '\ufeffid;text;labels\r\n1;"über; alles";a b|c\r\n2;"zwei\r\nZeilen";\r\n'.encode()
    first, second = read(data)
    assert (first.id, first.text, first.labels) == ("1", "über; alles", ("a b", "c"))
    assert (second.text, second.labels, second.line) == ("zwei\nZeilen", (), 3)


def test_columns_of_marks_are_labels() -> None:
    data = b"text,urgent,spam,paid\na,1,0,\nb,TRUE,no,1.0\nc,yes,False,0\n"
    documents = read(data, format="csv", label_columns=("urgent", "spam", "paid"))
    expected = [("urgent",), ("urgent", "paid"), ("urgent",)]
    assert [document.labels for document in documents] == expected


def test_the_separator_may_be_anything_and_empty_names_are_passed_over() -> None:
    (document,) = read(b"text,labels\nx,a; b;;a;\n", format="csv", label_separator=";")
    assert document.labels == ("a", "b")


def test_rows_after_a_quoted_line_end_keep_their_line_numbers() -> None:
    data = b'text,labels\n"a\n\nb",x\n\nc,y\n'
    assert [document.line for document in read(data, format="csv")] == [2, 6]


def test_a_table_without_labels_is_refused_unless_they_are_optional() -> None:
    with pytest.raises(InvalidDataError, match='no column "labels"'):
        read(b"id,text\n1,a\n", format="csv")
    (document,) = read(b"id,text\n1,a\n", format="csv", labels="optional")
    assert document.labels == ()


def test_fields_of_megabytes_are_read() -> None:
    (document,) = read(b'text,labels\n"' + b"word\n" * 1_000_000 + b'",a\n', format="csv")
    assert len(document.text) == 5_000_000


@pytest.mark.parametrize(
    ("data", "place", "problem"),
    [
        (b"body,labels\na,b\n", (1, 1), 'no column "text"'),
        (b"text,text,labels\na,b,c\n", (1, 1), 'two columns "text"'),
        (b"text,labels\na\n", (2, 2), "1 fields in a row"),
        (b"text,labels\na,b,c\n", (2, 3), "3 fields in a row"),
        (b'text,labels\n"a"b,c\n', (2, 4), "malformed CSV"),
        (b'text,labels\nx,y\n"a,b\n\nc\n', (3, 1), "a quoted field that does not end"),
        (b"text,labels\nx,y\nz,\x01\n", (3, 2), "a control character in a label"),
        (b'text,labels\n"x\ny\xff",a\n', (3, 2), "not UTF-8"),
    ],
)
def test_a_bad_row_is_named_with_line_and_column(
    data: bytes, place: tuple[int, int], problem: str
) -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(data, format="csv")
    error = caught.value
    assert (error.line, error.column, error.problem) == (*place, problem)


def test_a_bad_mark_is_named_with_its_column() -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(b"text,a,b\nx,1,0\ny,0,maybe\n", format="csv", label_columns=("a", "b"))
    error = caught.value
    assert (error.line, error.column, error.found) == (3, 3, "maybe")
    assert error.accepted == "0, 1, true, false, yes, no or nothing"


def test_bad_rows_are_skipped_but_an_open_quote_never_is() -> None:
    options = ReadOptions(format="csv", on_error="skip")
    reading = open_dataset(io.BytesIO(b'text,labels\na\n"b"x,c\nd,e\n'), options)
    assert [document.text for document in reading] == ["d"]
    assert [fault.line for fault in reading.summary.skipped_lines] == [2, 3]
    with pytest.raises(InvalidDataError, match="does not end"):
        list(open_dataset(io.BytesIO(b'text,labels\n"a,b\nc,d\n'), options))


def test_a_row_that_holds_a_refused_line_is_skipped_as_a_whole() -> None:
    data = b'text,labels\n"a\n\xff\nb",x\n\xff\n"c\nd",y\n'
    reading = open_dataset(io.BytesIO(data), ReadOptions(format="csv", on_error="skip"))
    assert [document.text for document in reading] == ["c\nd"]
    assert reading.summary.skipped == 2


def test_all_other_columns_are_labels_where_a_star_says_so() -> None:
    data = b",id,text,paid,late\n0,7,a,1,0\n1,8,b,yes,TRUE\n2,9,c,,no\n"
    documents = read(data, format="csv", label_columns=("*",))
    assert [document.labels for document in documents] == [("paid",), ("paid", "late"), ()]
    with pytest.raises(InvalidDataError) as caught:
        read(b"text,paid,note\na,1,0\nb,0,call back\n", format="csv", label_columns=("*",))
    assert (caught.value.line, caught.value.column, caught.value.found) == (3, 3, "call back")


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("Ticket,Body,Tags", "there are: Ticket, Body, Tags; did you mean --text-columns Body"),
        ("text,Tags", "there are: text, Tags; did you mean --label-column Tags"),
        ("text,Main category", "did you mean --label-column 'Main category'"),
        ("a,b", "there are: a, b"),
        (",".join(f"c{n}" for n in range(30)), "c18, c19 and 10 more"),
    ],
)
def test_a_missing_column_is_answered_with_those_that_there_are(header: str, hint: str) -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(f"{header}\n".encode(), format="csv")
    assert str(caught.value).endswith(hint)
    assert hint not in caught.value.without_content()


def test_excels_plain_csv_says_how_to_save_it() -> None:
    data = "text,labels\na,x\nMüll,y\n".encode("cp1252")
    with pytest.raises(InvalidDataError, match=r"3:2: not UTF-8; .*save as CSV UTF-8"):
        read(data, format="csv")
    header = "text,labels,größe\na,x,1\n".encode("cp1252")
    with pytest.raises(InvalidDataError, match=r"1:15: not UTF-8; .*save as CSV UTF-8"):
        read(header, format="csv")
