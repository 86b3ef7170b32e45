"""Tables with predictions: every writer of the catalogue, and the command."""

import csv
import gc
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from openpyxl import Workbook, load_workbook
from typer.testing import CliRunner, Result

from app.artifacts import folders
from app.cli.commands.predict import app as predict
from app.datasets.base import ReadOptions
from app.datasets.layout import TableLayout
from app.datasets.reading import open_dataset
from app.errors import InvalidRequestError, StorageFullError
from app.prediction.answers import Label, LabelReason, Prediction
from app.prediction.tables import WRITERS, xlsx
from app.prediction.tables.added_cells import NEAR, answered, unanswered
from app.prediction.tables.base import TableForm, TableRow
from app.prediction.tables.label_joining import label_joining
from app.prediction.tables.table_file import table_writer

ADDED = ["labels", "probabilities", "reasons", "review"]
OWN = [["1", '=1+1;"', "paper jam\nagain"], ["", "@x", "refund\rinvoice"], ["-3", "'", "login"]]

Command = Callable[..., Result]


@pytest.fixture
def command(tiny_models: Path) -> Command:
    def run(*arguments: Any) -> Result:
        options = ["tiny", *arguments, "--models-dir", tiny_models]
        return CliRunner().invoke(predict, [str(option) for option in options])

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with cells that are easily spoilt."""
    file = tmp_path / "in.csv"
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([["n", "=x", "text"], *OWN])
    return file


def cells(file: Path) -> list[list[Any]]:
    """The rows of a written table, header first; what is empty is an empty text."""
    found: Iterator[Any]
    if file.suffix == ".csv":
        found = csv.reader(StringIO(file.read_bytes().decode(), newline=""))
    elif file.suffix == ".xlsx":
        sheet = load_workbook(file).active
        assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
        found = sheet.iter_rows(values_only=True)
    elif file.suffix == ".jsonl":
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        found = iter([list(lines[0]), *(list(line.values()) for line in lines)])
    else:
        read = pyarrow.parquet.read_table(file)
        found = iter([read.column_names, *zip(*(c.to_pylist() for c in read.columns), strict=True)])
    return [["" if cell is None else cell for cell in row] for row in found]


def unescaped(cell: Any) -> Any:
    return cell.replace("_x000D_", "\r") if isinstance(cell, str) else cell


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_gives_the_own_cells_back_in_order_and_adds_its_columns(
    command: Command, table: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"out{suffix}"
    ended = command(table, "--output", out, "--explain", 2)
    assert ended.exit_code == 0, ended.output
    assert ended.stdout == ""
    header, *rows = cells(out)
    assert header == ["n", "=x", "text", *ADDED]
    assert [[unescaped(cell) for cell in row[:3]] for row in rows] == OWN
    assert [str(row[3]).strip("[]'") for row in rows] == ["printer", "billing", "login"]
    assert all("login: login +" in str(row[5]) for row in rows[2:])
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_the_default_is_json_lines_on_standard_output(command: Command, table: Path) -> None:
    ended = command(table)
    assert [list(json.loads(line)) for line in ended.stdout.splitlines()] == [["labels"]] * 3
    assert command(table, "--output", "-").stdout == ended.stdout


def test_an_output_of_another_kind_is_refused_with_the_kinds_there_are(command: Command) -> None:
    ended = command("no such file", "--output", "out.doc")
    assert isinstance(ended.exception, InvalidRequestError)
    assert ".csv, .jsonl, .parquet, .xlsx" in str(ended.exception)


def test_rows_that_cannot_be_read_stay_in_their_places(command: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_bytes(b"text,n\n\xff,0\npaper jam,1\ntoner\nlogin,3\na,b,c\n")
    ended = command(file, "--output", out, "--on-error", "skip")
    assert "5 rows, 3 of them not read" in ended.output
    rows = cells(out)[1:]
    assert [row[:2] for row in rows] == [
        ["", ""],
        ["paper jam", "1"],
        ["toner", ""],
        ["login", "3"],
        ["a", "b"],
    ]
    assert [row[5].partition(";")[0] for row in rows] == [
        "not read: line 2: not UTF-8",
        "",
        "not read: line 4: 1 fields in a row",
        "",
        "not read: line 6: 3 fields in a row",
    ]


def test_own_columns_keep_their_names_and_added_ones_get_others(
    command: Command, tmp_path: Path
) -> None:
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text("text, labels,review,review (predicted)\npaper jam,a,b,\x1fc\n")
    assert command(file, "--output", out).exit_code == 0
    assert cells(out)[0] == [
        *("text", " labels", "review", "review (predicted)"),
        *("labels (predicted)", "probabilities", "reasons", "review (predicted 2)"),
    ]
    assert cells(out)[1][:4] == ["paper jam", "a", "b", "\x1fc"]


def test_the_input_may_be_overwritten(command: Command, table: Path) -> None:
    for _ in range(2):
        assert command(table, "--output", table).exit_code == 0
    assert cells(table)[0][-2:] == ["reasons (predicted)", "review (predicted)"]


def test_json_lines_keep_fields_of_any_kind_as_they_stand(command: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    own = '{"n":1.50,"text":"paper jam","meta":{"deep":[1e400,null]},"labels":["x"]'
    file.write_text(f'{own}}}\nbad\n{{"text":"login","big":123456789012345678901234567890}}\n')
    assert command(file, "--output", out, "--on-error", "skip").exit_code == 0
    first, second, third = out.read_text().splitlines()
    assert first.startswith(f'{own},"labels (predicted)":["printer"],"probabilities":[')
    assert json.loads(second)["review"].startswith("not read: line 2: ")
    assert '"big":123456789012345678901234567890,"labels":["login"]' in third


def test_json_lines_become_a_table_of_all_keys_of_the_first_documents(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.csv"
    file.write_text('{"text":"login"}\n{"n":[1,"ä"],"text":"paper jam","on":true}\n')
    assert command(file, "--output", out).exit_code == 0
    assert [row[:3] for row in cells(out)] == [
        ["text", "n", "on"],
        ["login", "", ""],
        ["paper jam", '[1, "ä"]', "true"],
    ]
    monkeypatch.setattr("app.prediction.tables.table_file.LOOKED_AT", 1)
    ended = command(file, "--output", tmp_path / "other.csv")
    assert "2: a key that the first 1 documents do not have" in str(ended.exception)
    assert not (tmp_path / "other.csv").exists()


def test_formats_without_columns_give_what_they_have(command: Command, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("7\ta b\tpaper jam\n8\t\tlogin\n")
    (tmp_path / "folder" / "x").mkdir(parents=True)
    (tmp_path / "folder" / "x" / "1.txt").write_text("paper jam")
    assert command(tmp_path / "in.txt", "--output", tmp_path / "a.csv").exit_code == 0
    assert command(tmp_path / "folder", "--output", tmp_path / "b.csv").exit_code == 0
    assert [row[:4] for row in cells(tmp_path / "a.csv")] == [
        ["id", "labels", "text", "labels (predicted)"],
        ["7", "a b", "paper jam", "printer"],
        ["8", "", "login", "login"],
    ]
    assert [row[:3] for row in cells(tmp_path / "b.csv")] == [
        ["id", "text", "labels"],
        ["1", "paper jam", "printer"],
    ]


def test_a_parquet_file_keeps_the_types_of_its_columns(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "in.parquet"
    when = datetime(2026, 1, 31, 12, tzinfo=UTC)
    columns = {
        "n": pyarrow.array([1, None], pyarrow.int16()),
        "text": pyarrow.array(["paper jam", "=1"]),
        "day": pyarrow.array([date(2026, 1, 31), None]),
        "when": pyarrow.array([when, None], pyarrow.timestamp("us", "UTC")),
        "many": pyarrow.array([[1.5], []]),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    for suffix in WRITERS:
        assert command(file, "--output", tmp_path / f"out{suffix}").exit_code == 0
    read = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert read.select(list(columns)).equals(pyarrow.table(columns))
    assert read.column("labels").to_pylist()[0] == ["printer"]
    assert cells(tmp_path / "out.csv")[1][:5] == [
        *("1", "paper jam", "2026-01-31", "2026-01-31T12:00:00+00:00", "[1.5]")
    ]
    first = cells(tmp_path / "out.xlsx")[1]
    assert first[0] == 1
    assert first[2] == datetime(2026, 1, 31)
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[1])["text"] == "=1"


def test_a_workbook_keeps_its_numbers_and_dates(command: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    book = Workbook()
    sheet = book.active
    for row in (["n", "text", "day", "on"], [1.5, "paper jam", date(2026, 1, 31), False], [0, 7]):
        sheet.append(row)
    book.save(file)
    assert command(file, "--output", out).exit_code == 0
    day = datetime(2026, 1, 31)
    assert [row[:4] for row in cells(out)[1:]] == [[1.5, "paper jam", day, False], [0, "7", "", ""]]
    assert command(file, "--output", tmp_path / "out.csv").exit_code == 0
    assert cells(tmp_path / "out.csv")[1][:4] == ["1.5", "paper jam", "2026-01-31", "false"]


def test_an_array_of_objects_gives_its_own_keys_back(command: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "in.json", tmp_path / "out.jsonl"
    file.write_text('[{"text": "paper jam", "n": {"a": 1}, "labels": "x, y"},\n{"text": 7}]')
    assert command(file, "--output", out, "--on-error", "skip").exit_code == 0
    first, second = map(json.loads, out.read_text().splitlines())
    assert {**first, "probabilities": 0} == {
        **{"text": "paper jam", "n": {"a": 1}, "labels": "x, y"},
        **{"labels (predicted)": ["printer"], "probabilities": 0, "reasons": [], "review": ""},
    }
    assert (second["text"], second["review"][:17]) == (7, "not read: line 2:")


def test_rows_without_labels_cannot_be_left_out_of_a_table(command: Command, table: Path) -> None:
    ended = command(table, "--output", table, "--unlabelled", "drop")
    assert "--unlabelled drop is not for --output" in str(ended.exception)


def test_ancestors_are_refused_as_they_have_no_column(command: Command, table: Path) -> None:
    ended = command(table, "--output", table, "--ancestors")
    assert "no column for ancestors" in str(ended.exception)


def hostile_rows() -> list[TableRow]:
    labels = [
        Label("=cmd()", 2.0, 0.98765),
        Label("-b", 1.0, 0.5, because=[LabelReason(term="@x", weight=-0.125)]),
    ]
    doubtful = Prediction([], abstained=["+c"])
    sent = answered(Prediction(labels), NEAR), answered(doubtful, NEAR)
    return [TableRow(["=own"], cells) for cells in sent]


def test_added_cells_are_no_formulas_and_own_ones_are_as_sent(tmp_path: Path) -> None:
    form = TableForm(TableLayout(("text",)), "|")
    for suffix in (".csv", ".xlsx"):
        out = tmp_path / f"out{suffix}"
        with out.open("wb") as file:
            writer = table_writer(out)(file, form)
            for row in hostile_rows():
                writer.add(row)
            writer.close()
        first, second = cells(out)[1:]
        safe = "'" if suffix == ".csv" else ""
        assert first == ["=own", f"{safe}=cmd()|-b", "0.9877|0.5000", f"{safe}-b: @x -0.12", ""]
        assert second == ["=own", "", "", "", "near the cut: +c"]


def test_labels_of_a_written_table_are_read_back(tmp_path: Path) -> None:
    form = TableForm(TableLayout(("text",)), "; ")
    for suffix in (".csv", ".parquet"):
        out = tmp_path / f"out{suffix}"
        with out.open("wb") as file:
            writer = table_writer(out)(file, form)
            writer.add(hostile_rows()[0])
            writer.close()
        (record,) = open_dataset(out, ReadOptions(label_separator="; "))
        assert record.labels == ("=cmd()", "-b")


def test_a_separator_that_is_in_a_label_is_refused_where_labels_are_joined(
    command: Command, table: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidRequestError, match="label separator"):
        label_joining("auto", "", ["a", "b|c"])
    options = ("--label-separator", "in")
    assert command(table, "--output", tmp_path / "a.csv", *options).exit_code == 1
    assert command(table, "--output", tmp_path / "a.parquet", *options).exit_code == 0


@pytest.mark.parametrize(
    ("asked", "trained", "joined"),
    [
        ("auto", ",", ", "),
        ("auto", ";", "; "),
        ("auto", "tab", "\t"),
        ("auto", " / ", " / "),
        ("auto", "list", "|"),
        ("auto", "none", "|"),
        ("auto", "", "|"),
        ("auto", "x", "|"),  # part of a label
        ("none", ",", ", "),
        ("#", ",", "#"),
        ("newline", ",", "\n"),
    ],
)
def test_labels_are_joined_as_asked_else_as_in_the_training_data(
    asked: str, trained: str, joined: str
) -> None:
    assert label_joining(asked, trained, ["a", "xy"]) == joined


def test_line_ends_inside_cells_come_back_as_they_are(command: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    content = b'text,"a\r\nb"\r\n"paper\r\njam\n",1\r\nlogin,"x\r\n"\r\n'
    file.write_bytes(content)
    assert command(file, "--output", out, "--text-columns", "text").exit_code == 0
    added = rb",[a-z]+,[0-9.]+,,(near the cut: [a-z]+)?\r\n"
    head, body = out.read_bytes().split(b",labels,probabilities,reasons,review\r\n")
    assert head == b'text,"a\r\nb"'
    assert re.sub(added, b"\r\n", body) == content[len(head) + 2 :]


def test_the_text_of_a_cell_that_is_kept_is_that_of_one_that_is_not(tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    file.write_bytes(b'"te\r\nxt",n\r\n"paper\r\njam",1\r\n')
    options = ReadOptions(text_columns=("te\nxt",), labels="ignored")
    texts = [
        next(iter(open_dataset(file, replace(options, keeps_cells=keeps)))).text
        for keeps in (False, True)
    ]
    assert texts == ["paper\njam"] * 2


def test_two_columns_of_one_name_are_both_given_back_but_not_in_json(
    command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "in.csv"
    file.write_text("text,a,a\npaper jam,1,2\n")
    assert command(file, "--output", tmp_path / "out.csv").exit_code == 0
    assert cells(tmp_path / "out.csv")[1][:3] == ["paper jam", "1", "2"]
    assert "same name" in str(command(file, "--output", tmp_path / "out.jsonl").exception)
    assert not (tmp_path / "out.jsonl").exists()


def test_what_excel_cannot_hold_is_cut_or_refused_with_a_sentence(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = tmp_path / "in.csv", tmp_path / "out.xlsx"
    file.write_text(f"text\n{'x' * 40_000}\nlogin\x0b\n")
    ended = command(file, "--output", out)
    assert "1 cells were cut after 32,767 characters" in ended.stderr
    assert [len(row[0]) for row in cells(out)[1:]] == [32_767, len("login_x000B_")]
    monkeypatch.setattr(xlsx, "MOST_ROWS", 2)
    ended = command(file, "--output", tmp_path / "more.xlsx")
    assert "do not fit an Excel sheet" in str(ended.exception)
    assert not (tmp_path / "more.xlsx").exists()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_table_that_is_not_finished_leaves_nothing_behind(
    command: Command,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    raised: BaseException,
) -> None:
    def fail(*_: object) -> None:
        raise raised

    out = tmp_path / f"out{suffix}"
    out.write_text("before")
    monkeypatch.setattr(folders.os, "fsync", fail)
    ended = command(table, "--output", out)
    assert ended.exit_code != 0
    if isinstance(raised, OSError):
        assert isinstance(ended.exception, StorageFullError)
    assert out.read_text() == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.csv", out.name]


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_error_in_the_middle_leaves_nothing_behind(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr("app.prediction.tables.table_file.LOOKED_AT", 1)
    monkeypatch.setattr("app.prediction.offline.CHUNK", 1)
    file = tmp_path / "in.csv"
    file.write_text("text,n\npaper jam,1\nlogin,2\nbad\n")
    ended = command(file, "--output", tmp_path / f"out{suffix}")
    assert "in.csv:4:2: 1 fields in a row" in str(ended.exception)
    del ended
    gc.collect()  # what is left open is an error of this test
    assert [found.name for found in tmp_path.iterdir()] == ["in.csv"]


def test_reasons_that_are_no_terms_say_what_they_are() -> None:
    because = [LabelReason(neighbour="7", weight=0.5), LabelReason(rule="a & b", weight=-1.0)]
    label = Label("corn", 1.0, because=because, approximate=True)
    cells = answered(Prediction([label]), NEAR)
    assert cells.reasons == ["corn: neighbour 7 ≈+0.50, rule a & b ≈-1.00"]


def test_an_error_that_is_no_bad_record_is_told_as_not_answered() -> None:
    assert unanswered(InvalidRequestError("too much")).review == "not answered: too much"
