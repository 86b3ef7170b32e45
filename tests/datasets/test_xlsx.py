"""Excel workbooks, and what happens without the extra."""

import io
import subprocess
import sys
import zipfile
from datetime import date, datetime

import pytest

from app.datasets.formats import xlsx
from app.errors import InvalidDataError, PayloadTooLargeError
from tests.datasets.cases import read, workbook

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
PARTS = {
    "[Content_Types].xml": f"""<Types xmlns="{PACKAGE}/content-types">
<Default Extension="rels" ContentType="{PACKAGE.split("//")[1]}"/>
<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument\
.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="\
application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>""",
    "xl/workbook.xml": f"""<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>
<sheet name="Tickets" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{PACKAGE}/relationships">
<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>
<Relationship Id="rId2" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>
</Relationships>""",
}


def as_excel_writes(rows: list[list[str]]) -> bytes:
    """A workbook whose cells point at a table of strings, and which claims a million columns."""
    strings = [cell for row in rows for cell in row]
    numbers = iter(range(len(strings)))
    cells = [
        "".join(f'<c r="{"AB"[i]}{n}" t="s"><v>{next(numbers)}</v></c>' for i in range(len(row)))
        for n, row in enumerate(rows, 1)
    ]
    lines = "".join(f'<row r="{n}">{row}</row>' for n, row in enumerate(cells, 1))
    sheet = f'<dimension ref="A1:XFD1048576"/><sheetData>{lines}</sheetData>'
    items = "".join(f"<si><t>{text}</t></si>" for text in strings)
    parts = PARTS | {
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}">{sheet}</worksheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{items}</sst>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_cells_become_texts_as_they_are_written() -> None:
    header = ["id", "text", "day", "labels"]
    rows = [
        [1, "a", date(2024, 5, 31), "x; y"],
        [2.5, 7, datetime(2024, 6, 1, 9, 30), "y"],
        ["c", True, "later", None],
    ]
    found = read(workbook([header, *rows]), text_columns=("text", "day"))
    assert [(d.id, d.text, d.labels) for d in found] == [
        ("1", "a\n2024-05-31", ("x", "y")),
        ("2.5", "7\n2024-06-01 09:30:00", ("y",)),
        ("c", "True\nlater", ()),
    ]


def test_blank_rows_are_passed_over_and_lines_are_rows_of_the_sheet() -> None:
    data = workbook([[None], ["text", "labels"], ["a", "x"], [None, None], ["b"]])
    assert [(d.line, d.text, d.labels) for d in read(data)] == [(3, "a", ("x",)), (5, "b", ())]
    wide = workbook([["text", "labels"], ["a", "x", "beside"]])
    with pytest.raises(InvalidDataError, match=r"2:3: 3 fields in a row"):
        read(wide)


def test_a_sheet_is_the_first_or_the_one_named() -> None:
    data = workbook([["text", "labels"], ["a", "x"]], sheet="Tickets")
    assert len(read(data)) == len(read(data, sheet="Tickets")) == 1
    with pytest.raises(InvalidDataError, match=r"no such sheet.*there are: Tickets"):
        read(data, sheet="Other")


def test_columns_of_marks_are_read() -> None:
    data = workbook([["text", "paid", "late"], ["a", 1, 0], ["b", True, None]])
    assert [d.labels for d in read(data, label_columns=("*",))] == [("paid",), ("paid",)]


def test_a_workbook_that_would_unpack_to_too_much_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = as_excel_writes([["text", "labels"], ["word " * 2000, "x"]])
    assert [d.labels for d in read(data)] == [("x",)]
    monkeypatch.setattr(xlsx, "LARGEST_STRINGS", 5000)
    with pytest.raises(PayloadTooLargeError, match="a part of the workbook"):
        read(data)


def test_a_part_gives_no_more_bytes_than_the_workbook_declares() -> None:
    """The bound rests on it: the sizes that are checked are those that are unpacked at most."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(1 << 20))
    with zipfile.ZipFile(file) as archive:
        archive.infolist()[0].file_size = 1000
        with pytest.raises(zipfile.BadZipFile), archive.open("bomb") as part:
            assert len(part.read()) <= 1000


@pytest.mark.parametrize("data", [b"PK\x03\x04 and more", b"PK\x03\x04"])
def test_what_is_no_workbook_says_what_is_accepted(data: bytes) -> None:
    with pytest.raises(
        InvalidDataError, match=r"no readable Excel workbook; accepted: .*CSV UTF-8"
    ):
        read(data)


def test_workbooks_of_before_2007_say_how_to_save_them() -> None:
    with pytest.raises(InvalidDataError, match="save it as CSV UTF-8"):
        read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))


def test_without_openpyxl_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['openpyxl'] = None\n"
        "from app.datasets.reading import open_dataset\n"
        "from app.errors import MissingExtraError\n"
        "import io\n"
        "try:\n    open_dataset(io.BytesIO(b'PK\\x03\\x04'))\n"
        "except MissingExtraError as error:\n    assert '[excel]' in str(error)\n"
        "else:\n    raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
