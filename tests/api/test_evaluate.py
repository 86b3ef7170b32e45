"""POST /evaluate: a test set in, a report out."""

import gzip
import json
from io import BytesIO
from pathlib import Path

import httpx
import pytest
import zstandard

from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

NDJSON = {"content-type": "application/x-ndjson"}


@pytest.fixture
def corpus_bytes(corpus_file: Path) -> bytes:
    return corpus_file.read_bytes()


async def test_the_same_report_comes_for_every_way_of_sending(
    client: httpx.AsyncClient, corpus_bytes: bytes
) -> None:
    rows = [json.loads(line) for line in corpus_bytes.splitlines()]
    tsv = "".join(f"{r['id']}\t{' '.join(r['labels'])}\t{r['text']}\n" for r in rows).encode()
    ways = [
        {"content": corpus_bytes, "headers": NDJSON},
        {"content": gzip.compress(corpus_bytes), "headers": {**NDJSON, "content-encoding": "gzip"}},
        {
            "content": zstandard.compress(corpus_bytes),
            "headers": {**NDJSON, "content-encoding": "zstd"},
        },
        {"files": {"file": ("test.jsonl", corpus_bytes)}},
        {"content": tsv, "headers": {"content-type": "text/tab-separated-values"}},
    ]
    reports = []
    for way in ways:
        answer = await client.post("/evaluate?k=1,2", **way)
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-documents"] == "120"
        reports.append(answer.json())
    first = reports[0]
    assert first["data"]["documents"] == 120
    assert 0.9 < first["decisions"]["micro"]["f1"] <= 1
    for report in reports[1:]:
        assert report["ranking"] == first["ranking"]
        assert report["decisions"] == first["decisions"]
    assert reports[1]["data"]["sha256"] == first["data"]["sha256"]


async def test_bad_uploads_say_what_is_wrong_and_leave_nothing_behind(
    client: httpx.AsyncClient, corpus_bytes: bytes, tmp_path: Path
) -> None:
    packed = gzip.compress(corpus_bytes)
    boundary = {"content-type": "multipart/form-data; boundary=b"}
    cases: list[tuple[str, bytes, dict[str, str], int]] = [
        ("", b"", NDJSON, 422),
        ("", b'{"text": "a", "labels": []}\nnot json\n', NDJSON, 422),
        ("", packed[: len(packed) // 2], NDJSON, 422),
        ("", packed[:-8] + b"\0" * 8, NDJSON, 422),
        ("", gzip.compress(packed), NDJSON, 422),
        ("", b"a", {"content-type": "text/html"}, 415),
        ("", b"a", {**NDJSON, "content-encoding": "br"}, 415),
        ("?format=jsonl", corpus_bytes, {**NDJSON, "content-encoding": "br"}, 415),
        ("?format=jsonl", corpus_bytes, {"content-type": "image/png"}, 415),
        ("", b"PAR1 and more", {"content-type": "application/octet-stream"}, 422),
        ("?format=auto", b"PAR1 and more", NDJSON, 422),
        ("?model=", corpus_bytes, NDJSON, 404),
        ("", b"--b\r\nnonsense", boundary, 400),
        ("", b"--b--\r\n", boundary, 422),
        ("", b"", {"content-type": "multipart/form-data"}, 400),
        ("?decision=nonsense", corpus_bytes, NDJSON, 422),
        ("?k=0", corpus_bytes, NDJSON, 422),
        ("?beta=nan", corpus_bytes, NDJSON, 422),
        ("?unheard=1", corpus_bytes, NDJSON, 422),
        ("?model=other", corpus_bytes, NDJSON, 404),
    ]
    for query, content, headers, status in cases:
        answer = await client.post(f"/evaluate{query}", content=content, headers=headers)
        assert answer.status_code == status, (query, content[:20], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert not content.startswith(b"PAR1") or "accepted formats" in answer.text
    spool = tmp_path / "var" / "spool"
    assert [entry.name for entry in spool.iterdir() if entry.is_dir()] == []


async def test_a_bad_record_is_named_by_its_line_without_its_words(
    client: httpx.AsyncClient,
) -> None:
    content = b'{"text": "a", "labels": []}\n{"text": "secret words", "labels": 7}\n'
    answer = await client.post("/evaluate", content=content, headers=NDJSON)
    found = answer.json()
    assert found["type"] == "urn:labelserve:error:bad-record"
    assert found["line"] == 2
    assert "secret" not in answer.text
    skipped = await client.post("/evaluate?on_error=skip", content=content, headers=NDJSON)
    assert skipped.json()["data"]["skipped"] == 1


async def test_uploads_and_what_they_inflate_to_are_bounded(opened: Opened) -> None:
    bomb = gzip.compress(b"\n" * 50_000_000)
    async with opened(max_upload_bytes=1_000_000) as client:
        for content in (b"x" * 1_000_001, bomb, zstandard.compress(b"0" * 50_000_000)):
            answer = await client.post("/evaluate", content=content, headers=NDJSON)
            assert answer.status_code == 413, answer.text
        fine = {"file": b'{"text": "a", "labels": ["crash"]}'}
        assert (await client.post("/evaluate", files=fine)).status_code == 200


async def test_two_fields_or_another_field_are_refused(client: httpx.AsyncClient) -> None:
    line = b'{"text": "a", "labels": []}'
    twice = [("file", line), ("file", line)]
    for files in (twice, {"other": line}):
        assert (await client.post("/evaluate", files=files)).status_code == 422


async def test_an_evaluation_that_takes_too_long_is_ended(opened: Opened) -> None:
    line = b'{"text": "a", "labels": ["crash"]}\n'
    async with opened(evaluate_seconds=0.001) as client:
        answer = await client.post("/evaluate", content=line, headers=NDJSON)
        assert (answer.status_code, answer.json()["type"][-7:]) == (504, "timeout")


async def test_one_evaluation_too_many_is_429(opened: Opened, corpus_bytes: bytes) -> None:
    async with opened(max_evaluations=1) as client:
        with client.service.evaluations.admit(1):  # type: ignore[attr-defined]
            answer = await client.post("/evaluate", content=corpus_bytes, headers=NDJSON)
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 1
        answer = await client.post("/evaluate", content=corpus_bytes, headers=NDJSON)
        assert answer.status_code == 200


async def test_an_evaluation_is_counted_logged_and_names_its_version(
    client: httpx.AsyncClient, log: BytesIO
) -> None:
    line = b'{"text": "a", "labels": ["crash"]}\n'
    answer = await client.post("/evaluate", content=line * 3, headers=NDJSON)
    model = (await client.get("/models/tiny")).json()
    assert answer.headers["x-model-version"] == model["version"]
    text = (await client.get("/metrics")).text
    assert 'labelserve_documents_total{model="tiny",route="/evaluate"} 3.0' in text
    first = json.loads(log.getvalue().splitlines()[0])
    assert (first["model"], first["version"], first["documents"]) == ("tiny", model["version"], 3)


async def test_a_separator_that_is_not_given_is_detected_and_reported(
    client: httpx.AsyncClient, corpus_bytes: bytes
) -> None:
    rows = [json.loads(line) for line in corpus_bytes.splitlines()]
    lines = "".join(f'{r["text"]},"{", ".join(r["labels"])}"\n' for r in rows)
    reports = []
    for query, headers, content in (
        ("", NDJSON, corpus_bytes),
        ("", {"content-type": "text/csv"}, f"text,labels\n{lines}".encode()),
        ("", {"content-type": "application/json"}, json.dumps(rows).encode()),
    ):
        answer = await client.post(f"/evaluate{query}", content=content, headers=headers)
        assert answer.status_code == 200, answer.text
        reports.append(answer.json())
    assert [report["data"].get("label_separator") for report in reports] == [None, ",", None]
    assert reports[0]["decisions"] == reports[1]["decisions"] == reports[2]["decisions"]


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", 415),
        ("application/vnd.ms-excel", 415),
        ("application/octet-stream", 422),
    ],
)
async def test_a_workbook_is_refused_with_how_to_save_it(
    client: httpx.AsyncClient, content_type: str, status: int
) -> None:
    headers = {"content-type": content_type}
    answer = await client.post("/evaluate", content=b"PK\x03\x04 workbook", headers=headers)
    assert answer.status_code == status
    assert "save" in answer.json()["detail"]
    assert "CSV UTF-8" in answer.json()["detail"]
