"""Table: a file comes back with its labels, equal to what the command writes."""

import csv
import gzip
import io
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli.commands.predict import app as predict_app
from tests.web.conftest import Tabs
from tests.web.sites import Site

FOLDER = Path(__file__).parent
HOSTILE = '<img src=x onerror="alert(1)">, "\u202eabc'
ADDED = ["probabilities", "reasons", "review"]
LONG = "refund " * 1500
TEXTS = [
    "My invoice was charged twice",
    "The parcel\nnever arrived",
    'He said "no", again',
    "",
    LONG,
]


def table(delimiter: str = ",", line_end: str = "\n", header: str = "text") -> str:
    written = io.StringIO()
    rows = csv.writer(written, delimiter=delimiter, lineterminator=line_end)
    rows.writerow(["no", header, HOSTILE, "labels"])
    rows.writerows([number, TEXTS[number % 5], "=1+1", "x"] for number in range(600))
    return written.getvalue()


def json_lines() -> Iterator[str]:
    numbers = [1, 1.0, 1e16, 2.5e-7, -0.0, 12345678901234567]
    values = [*numbers, True, None, [1, {"ä": "\u2028"}], "\r\n"]
    for number in range(300):
        document = {"2": values[number % 10], "text": TEXTS[number % 5], "1": number}
        yield json.dumps(document, ensure_ascii=bool(number % 2)) + "\n" * (1 + number % 2)


FILES = {
    "plain.csv": table().encode(),
    "semicolons.csv": table(";", "\r\n").encode("utf-8-sig"),
    "line ends.csv": b'no,text,"x\r\ny"\r\n' + b'1,"charged\r\ntwice\n","\r\n"\r\n2,a,b\n' * 200,
    "tabs.csv": table("\t").encode("utf-16"),
    "two.csv.gz": gzip.compress(table(header="a,b").replace("a,b", "body").encode()),
    "faults.csv": b"id,text\n\n" + b"1,a\n" * 300 + b'x\n2,\xff\n3,"b\nc"x\n4,d,e\n',
    "lines.jsonl": "".join(json_lines()).encode(),
    "lines.tsv": b"".join(b"%d\ta b\tinvoice, \tcharged twice \r\n" % n for n in range(300)),
}
"""Excel's and others' ways to write a table; cells with everything in them; rows that are bad."""
COLUMNS = {"two.csv.gz": ["body", "no"]}


@pytest.mark.parametrize("name", FILES)
def test_the_page_gives_a_table_back_as_the_command_does(
    site: Site, web_models: Path, tmp_path: Path, name: str
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    file, here, there = tmp_path / name, tmp_path / "page.csv", tmp_path / "command.csv"
    file.write_bytes(FILES[name])
    columns = COLUMNS.get(name, ["text"])
    words = ["--text-columns", ",".join(columns), "--output", there, "--explain", 2]
    words += ["--on-error", "skip", "--models-dir", web_models]
    told = CliRunner().invoke(predict_app, ["demo", str(file), *map(str, words)])
    assert told.exit_code == 0, told.output
    script = [node, "predict_file.js", site.url, file, "/".join(columns), here]
    subprocess.run(script, cwd=FOLDER, check=True, timeout=60)
    assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_a_dropped_table_is_labelled_shown_and_downloaded(
    tabs: Tabs, site: Site, tmp_path: Path, width: int, scheme: str
) -> None:
    tab = tabs(site, width=width, scheme=scheme)
    page = tab.open("table")
    tab.assert_accessible()
    drop(page, tmp_path / f"{HOSTILE[:4]}.csv", table().encode())
    assert HOSTILE[:20] in page.get_by_role("columnheader").nth(2).inner_text()
    assert page.get_by_label("text", exact=True).is_checked()
    page.get_by_role("button", name="Label all rows").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the table").click()
    rows = list(csv.reader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert rows[0] == ["no", "text", HOSTILE, "labels", "labels (predicted)", *ADDED]
    assert [row[0] for row in rows[1:]] == [str(number) for number in range(600)]
    page.get_by_label("Show row 2", exact=True).click()
    assert "never arrived" in page.get_by_role("dialog").inner_text()
    tab.assert_accessible()
    assert set(tab.requests) == {"GET /models", "POST /predict"}


def test_of_20_000_rows_only_those_in_view_are_nodes(
    tabs: Tabs, site: Site, tmp_path: Path
) -> None:
    page = tabs(site).open("table")
    drop(page, tmp_path / "long.csv", b"text\n" + b"refund\n" * 20_000)
    page.get_by_role("button", name="Label all rows").click()
    page.get_by_text("Done: 20,000 rows").wait_for()
    page.locator(".list").evaluate("list => list.scrollTo(0, list.scrollHeight)")
    page.get_by_label("Show row 20,000").wait_for()
    assert page.locator("*").count() < 500


def test_a_cancelled_table_keeps_the_rows_that_came(tabs: Tabs, site: Site, tmp_path: Path) -> None:
    page = tabs(site).open("table")
    drop(page, tmp_path / "long.csv", b"text\n" + LONG.encode() * 2 + b"\n" + b"refund\n" * 200_000)
    page.get_by_role("button", name="Label all rows").click()
    page.get_by_label("Show row 1", exact=True).wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled: ").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download what there is").click()
    assert 1 < len(saved.value.path().read_text(encoding="utf-8").splitlines()) < 200_000


def test_a_file_that_cannot_be_read_is_told_in_a_sentence(
    tabs: Tabs, site: Site, tmp_path: Path
) -> None:
    page = tabs(site).open("table")
    page.locator("input[type=file]").set_input_files(_file(tmp_path / "a.xlsx", b"PK\x03\x04"))
    assert "CSV UTF-8" in page.get_by_role("alert").inner_text()
    drop(page, tmp_path / "a.csv", b"text\n" + b"a\n" * 9 + b'"b\n')
    page.get_by_role("button", name="Label all rows").click()
    assert "Line 11: a quoted field" in page.get_by_role("alert").inner_text()


def drop(page: Any, path: Path, content: bytes) -> None:
    page.locator("input[type=file]").set_input_files(_file(path, content))
    page.get_by_role("button", name="Label all rows").wait_for()


def _file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
