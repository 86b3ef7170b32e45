"""CSV in, CSV out."""

import asyncio
import csv
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from app.api import predictor as predicting
from app.artifacts.store import Store
from app.cli.commands.predict import app as predict
from app.model import load_model
from app.serving.identity import KeyLimits
from app.serving.keys import KeysFile
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

HEADERS = {"content-type": "text/csv"}
ADDED = ["labels", "probabilities", "reasons", "review"]
TABLES = {
    "plain": b"id,text\n1,paper jam\n2,refund the invoice\n3,\n",
    "semicolons": '\ufeffn;Größe;text\r\n1;ö;"paper; jam\r\nagain"\r\n2;=1+1;@login\r\n'.encode(),
    "utf-16": 'text\tn\r\npaper jam\t\'x\'\r\n"says ""no"""\t-1\r\n'.encode("utf-16"),
    "own names": b"text,labels,review,labels (predicted)\npaper jam,a|b,,x\n",
    "blank lines": b'\n\ntext,x\n\npaper jam,"a\rb"\n\nlogin,2',
    "header only": b"text,x\n",
    "empty": b"",
    "long": b"text,n\n" + b"".join(b"invoice %d paper,%d\n" % (n, n) for n in range(200)),
}


def rows(content: bytes, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("query", [{}, {"min_probability": 0.3, "explain": 2}])
async def test_the_answer_is_the_file_that_the_command_writes(
    client: httpx.AsyncClient,
    tiny_models: Path,
    tmp_path: Path,
    name: str,
    query: dict[str, float],
) -> None:
    file, written = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_bytes(TABLES[name])
    options = [f"--{key.replace('_', '-')}={value}" for key, value in query.items()]
    command = ["tiny", file, "--models-dir", tiny_models, "--output", written, *options]
    ended = CliRunner().invoke(predict, [str(part) for part in command])
    assert ended.exit_code == 0, ended.output
    answer = await client.post("/predict", content=TABLES[name], headers=HEADERS, params=query)
    assert answer.status_code == 200
    assert answer.content == written.read_bytes()
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["x-model-version"]


async def test_labels_are_joined_as_in_the_training_data_by_service_and_command(
    opened: Opened, tiny_models: Path, tmp_path: Path
) -> None:
    tiny = load_model(Store(tiny_models), "tiny")
    info = replace(tiny.info(), recipe={**tiny.manifest.recipe, "label_separator": ","})
    store = Store(tmp_path / "models")
    store.promote("m", store.write("m", tiny.classifier.state(), info))
    file, written = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_bytes(TABLES["own names"] + b"refund the invoice,x,,\n")
    command = ["m", file, "--models-dir", store.path, "--output", written, "--top-k", 2]
    assert CliRunner().invoke(predict, [str(part) for part in command]).exit_code == 0
    async with opened(models_dir=store.path) as client:
        query = {"top_k": 2}
        answer = await client.post(
            "/predict", content=file.read_bytes(), headers=HEADERS, params=query
        )
        bars = {**query, "label_separator": "|"}
        barred = await client.post(
            "/predict", content=file.read_bytes(), headers=HEADERS, params=bars
        )
    assert answer.content == written.read_bytes()
    assert [row[4].count(", ") for row in rows(answer.content)[1:]] == [1, 1]
    assert [row[4].count("|") for row in rows(barred.content)[1:]] == [1, 1]


async def test_own_cells_come_back_and_labels_beside_them(client: httpx.AsyncClient) -> None:
    answer = await client.post("/predict", content=TABLES["semicolons"], headers=HEADERS)
    assert answer.content.startswith(b"\xef\xbb\xbfn;")
    assert answer.content.count(b"\r\n") == 4
    assert [row[:3] for row in rows(answer.content, ";")] == [
        ["n", "Größe", "text"],
        ["1", "ö", "paper; jam\r\nagain"],
        ["2", "=1+1", "@login"],
    ]
    assert [row[3] for row in rows(answer.content, ";")] == ["labels", "printer", "login"]
    assert answer.headers["x-documents"] == "2"


async def test_rows_are_the_predictions_of_one_body(client: httpx.AsyncClient) -> None:
    texts = [f"invoice {word} paper" for word in ("refund", "jam", "login", "crash")] * 50
    body = {"documents": texts, "operating_point": "recall>=0.5"}
    together = (await client.post("/predict", json=body)).json()["predictions"]

    async def pieces() -> AsyncIterator[bytes]:
        content = ("text\n" + "\n".join(texts)).encode()
        for start in range(0, len(content), 7):
            yield content[start : start + 7]

    streamed = await client.post(
        "/predict?operating_point=recall>=0.5", content=pieces(), headers=HEADERS
    )
    header, *found = rows(streamed.content)
    assert header == ["text", *ADDED]
    for text, row, prediction in zip(texts, found, together, strict=True):
        assert row[:2] == [text, "|".join(label["label"] for label in prediction["labels"])]
        said = [f"{label['probability']:.4f}" for label in prediction["labels"]]
        assert row[2] == "|".join(said)


async def test_a_row_is_answered_before_the_next_one_is_sent(client: httpx.AsyncClient) -> None:
    answered = asyncio.Event()
    service = client.service  # type: ignore[attr-defined]
    count = service.telemetry.documents.labels("tiny", "/predict")

    async def pieces() -> AsyncIterator[bytes]:
        yield b"text\npaper jam\n"
        for _ in range(500):
            if count.numbers() != [0]:
                answered.set()
                break
            await asyncio.sleep(0.01)
        yield b"login\n"

    answer = await client.post("/predict", content=pieces(), headers=HEADERS)
    assert answered.is_set()
    assert len(rows(answer.content)) == 3


async def test_a_bad_row_refuses_a_whole_body_with_its_line(client: httpx.AsyncClient) -> None:
    content = b"id,text\n" + b"1,paper jam\n" * 300 + b"2,toner,ink\n"
    answer = await client.post("/predict", content=content, headers=HEADERS)
    found = answer.json()
    assert (answer.status_code, found["line"]) == (422, 302)
    assert found["type"] == "urn:labelserve:error:bad-record"
    assert "toner" not in answer.text


async def test_a_bad_row_that_may_be_skipped_says_so_in_its_place(
    client: httpx.AsyncClient,
) -> None:
    content = b"id,text\n1,paper jam\n2,toner,ink\n\xff,x\n3,login\n"
    answer = await client.post("/predict?on_error=skip", content=content, headers=HEADERS)
    found = rows(answer.content)
    assert [row[:2] for row in found[1:]] == [
        ["1", "paper jam"],
        ["2", "toner"],
        ["", ""],
        ["3", "login"],
    ]
    accepted = "accepted: 2, as in the header"
    assert found[2][2:] == ["", "", "", f"not read: line 3: 3 fields in a row; {accepted}"]
    assert found[3][5].startswith("not read: line 4: not UTF-8")
    assert answer.headers["x-documents"] == "4"


async def test_a_bad_row_of_an_answer_that_has_begun_says_so_in_its_place(
    client: httpx.AsyncClient,
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"id,text\n1,paper jam\n"
        yield b'2\n3,login\n4,"never closed\n'

    answer = await client.post("/predict", content=pieces(), headers=HEADERS)
    assert answer.status_code == 200
    found = rows(answer.content)
    assert [row[0] for row in found] == ["id", "1", "2", "3", ""]
    assert [row[5].partition(";")[0] for row in found[2:]] == [
        "not read: line 3: 1 fields in a row",
        "",
        "not read: line 5: a quoted field that does not end",
    ]


@pytest.mark.parametrize("on_error", ["fail", "skip"])
@pytest.mark.parametrize(
    ("content", "line"), [(b"id,body\n1,x\n", 1), (b'text\nx\n"open\n', 3), (b"\xff\xfet\0e", 1)]
)
async def test_what_cannot_be_read_at_all_is_a_problem(
    client: httpx.AsyncClient, content: bytes, line: int, on_error: str
) -> None:
    query = {"on_error": on_error}
    answer = await client.post("/predict", content=content, headers=HEADERS, params=query)
    assert (answer.status_code, answer.json()["line"]) == (422, line)


async def test_options_come_in_the_query_and_wrong_ones_are_422(
    client: httpx.AsyncClient,
) -> None:
    for query in (
        "top_k=0",
        "nothing=1",
        "labels=unheard",
        "on_error=x",
        "label_separator=",
        "text_columns=",
    ):
        answer = await client.post(f"/predict?{query}", content=b"text\na\n", headers=HEADERS)
        assert answer.status_code == 422, query
    query = "text_columns=a,b&label_separator=;&top_k=2&labels=login&labels=printer"
    answer = await client.post(f"/predict?{query}", content=b"a,b\npaper,jam\n", headers=HEADERS)
    assert rows(answer.content)[1][:3] == ["paper", "jam", "printer;login"]


async def test_a_separator_that_is_part_of_a_label_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.post("/predict?label_separator=i", content=b"text\na\n", headers=HEADERS)
    assert answer.status_code == 422
    assert "label separator" in answer.json()["detail"]


async def test_limits_hold_row_by_row(
    opened: Opened, log: BytesIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(max_text_characters=10, max_documents=2) as client:
        content = b"text\npaper jam\n%b\ntoner\nlogin\n" % (b"x" * 11)
        answer = await client.post("/predict", content=content, headers=HEADERS)
        assert [row[4][:25] for row in rows(answer.content)[1:]] == [
            "",
            "not answered: a text has ",
            "",
            "",
        ]
        monkeypatch.setattr(predicting, "MOST_ANSWERS", 1)
        answer = await client.post("/predict?top_k=3", content=b"text\na\nb\n", headers=HEADERS)
        said = [row[4] for row in rows(answer.content)[1:]]
        assert all(cell.startswith("not answered: more than 1 labels") for cell in said)
    first = json.loads(log.getvalue().splitlines()[0])
    assert first["documents"] == 3


async def test_a_row_longer_than_a_body_may_be_ends_the_answer_with_a_sentence(
    opened: Opened,
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"text\nfirst\n"
        for _ in range(30):
            yield b"x" * 100
        yield b"\nthird\n"

    async with opened(max_body_bytes=2000) as client:
        answer = await client.post("/predict", content=pieces(), headers=HEADERS)
    found = rows(answer.content)
    assert [row[0] for row in found] == ["text", "first", ""]
    assert found[2][4] == "not answered: a line has more than 2000 bytes, which is the limit here"


async def test_a_key_with_a_quota_of_documents_says_so_in_the_rows(
    opened: Opened, tmp_path: Path
) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    _, secret = keys.create(["predict"], limits=KeyLimits(documents_per_day=64))
    async with opened(auth="keys", api_keys_file=tmp_path / "keys.json") as client:
        headers = {**HEADERS, "authorization": f"Bearer {secret}"}
        content = b"text\n" + b"paper jam\n" * 100
        answer = await client.post("/predict", content=content, headers=headers)
        said = [row[4] for row in rows(answer.content)[1:]]
        assert [bool(cell) for cell in said] == [False] * 64 + [True] * 36
        assert said[64].startswith("not answered: this key may ask for 64 documents a day")
        assert (await client.post("/predict", content=content, headers=HEADERS)).status_code == 401


@pytest.mark.parametrize(
    "media_type",
    ["text/csv", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
)
async def test_a_workbook_is_refused_with_what_to_do(
    client: httpx.AsyncClient, media_type: str
) -> None:
    headers = {"content-type": media_type}
    answer = await client.post("/predict", content=b"PK\x03\x04rest", headers=headers)
    assert answer.status_code == 415
    assert "save as CSV UTF-8" in answer.json()["detail"]
