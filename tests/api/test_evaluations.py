"""/evaluations and /uploads: handing in, looking up, cancelling, removing; no worker runs here."""

import gzip
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.serving.identity import KeyLimits
from app.serving.jobs.folders import results_folder
from app.serving.jobs.job import Job, new_id
from app.serving.jobs.leases import JobResult, Leases
from app.serving.keys import KeysFile
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

NDJSON = {"content-type": "application/x-ndjson"}
UNKNOWN = "0" * 32


@pytest.fixture
def corpus_bytes(corpus_file: Path) -> bytes:
    return corpus_file.read_bytes()


@pytest.fixture
async def client(opened: Opened) -> AsyncIterator[httpx.AsyncClient]:
    async with opened(job_workers=0) as client:
        yield client


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def archive_of(client: httpx.AsyncClient) -> Any:
    return client.service.archive  # type: ignore[attr-defined]


async def handed_in(client: httpx.AsyncClient, content: bytes, query: str = "") -> dict[str, Any]:
    answer = await client.post(f"/evaluations{query}", content=content, headers=NDJSON)
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()["evaluations"][0]
    return found


def claimed(client: httpx.AsyncClient) -> tuple[Leases, Job]:
    archive = archive_of(client)
    leases = Leases(archive._database, archive.storage)
    job = leases.claim("a worker")
    assert job is not None
    return leases, job


def done(client: httpx.AsyncClient, tmp_path: Path) -> Job:
    """The oldest evaluation, as if a worker had finished it."""
    leases, job = claimed(client)
    folder = results_folder(tmp_path / "var", job.id, job.token)
    folder.mkdir(parents=True)
    (folder / "report.json").write_text('{"model": "tiny"}')
    (folder / "report.html").write_text("<!doctype html><title>tiny</title>")
    leases.finish(job, JobResult("d" * 64, 120, {"micro.f1": 0.5}, 60))
    return job


async def test_an_evaluation_that_is_handed_in_waits_with_all_that_was_asked(
    client: httpx.AsyncClient, corpus_bytes: bytes, tmp_path: Path
) -> None:
    query = "?k=1,2&decision=rank:1&on_error=skip&keep=false"
    answer = await client.post(f"/evaluations{query}", content=corpus_bytes, headers=NDJSON)
    assert answer.status_code == 202
    (found,) = answer.json()["evaluations"]
    assert answer.headers["location"] == f"/evaluations/{found['id']}"
    assert (found["state"], found["model"], found["upload"]) == (
        "queued",
        "tiny",
        sha256(corpus_bytes),
    )
    assert found["options"]["k"] == [1, 2]
    assert (found["options"]["format"], found["options"]["keep"]) == ("jsonl", False)
    assert found["progress"] == {"documents": 0, "expected": None, "seconds_left": None}
    assert (await client.get(answer.headers["location"])).json() == found
    stored = tmp_path / "var" / "uploads" / found["upload"]
    assert stored.read_bytes() == corpus_bytes
    assert list((tmp_path / "var" / "spool").glob("*-*")) == []


async def test_several_files_and_models_are_a_batch(
    client: httpx.AsyncClient, corpus_bytes: bytes
) -> None:
    version = (await client.get("/models/tiny")).json()["version"]
    packed = gzip.compress(corpus_bytes)
    files = [("file", ("a.jsonl", corpus_bytes)), ("file", ("C:\\b.jsonl.gz", packed))]
    answer = await client.post(f"/evaluations?models=tiny,tiny@{version}", files=files)
    assert [one["name"] for one in answer.json()["evaluations"]] == ["a.jsonl", "b.jsonl.gz"]
    (batch,) = {one["batch"] for one in answer.json()["evaluations"]}
    listed = (await client.get(f"/evaluations?batch={batch}&state=queued&model=tiny")).json()
    assert {one["upload"] for one in listed["evaluations"]} == {
        sha256(corpus_bytes),
        sha256(packed),
    }
    assert listed["cursor"] is None


async def test_the_list_has_pages_newest_first(
    client: httpx.AsyncClient, corpus_bytes: bytes
) -> None:
    first = await handed_in(client, corpus_bytes)
    archive = archive_of(client)
    job = archive.table.get(first["id"])
    archive.table.submit(replace(job, id=new_id()) for _ in range(120))
    page = (await client.get("/evaluations")).json()
    rest = (await client.get("/evaluations", params={"cursor": page["cursor"]})).json()
    assert (len(page["evaluations"]), len(rest["evaluations"])) == (100, 21)
    assert rest["evaluations"][-1]["id"] == first["id"]
    created = [one["created"] for one in page["evaluations"] + rest["evaluations"]]
    assert created == sorted(created, reverse=True)
    assert rest["cursor"] is None
    assert (await client.get("/evaluations?cursor=x")).status_code == 422


async def test_a_file_is_sent_once_and_evaluated_by_its_hash(
    client: httpx.AsyncClient, corpus_bytes: bytes
) -> None:
    name = sha256(corpus_bytes)
    assert (await client.head(f"/uploads/{name}")).status_code == 404
    asked = await client.post(f"/evaluations?upload={name}")
    assert (asked.status_code, asked.json()["type"]) == (404, "urn:labelserve:error:unknown-upload")
    for status in (201, 200):
        put = await client.put(f"/uploads/{name}", content=corpus_bytes)
        assert put.status_code == status
        assert put.json() == {"upload": name, "bytes": len(corpus_bytes)}
    assert (await client.head(f"/uploads/{name}")).status_code == 200
    answer = await client.post(f"/evaluations?upload={name}&format=jsonl&name=a/b.jsonl")
    (found,) = answer.json()["evaluations"]
    assert (found["upload"], found["name"]) == (name, "b.jsonl")


async def test_bytes_of_another_hash_are_refused_and_nothing_of_them_stays(
    client: httpx.AsyncClient, corpus_bytes: bytes, tmp_path: Path
) -> None:
    answer = await client.put(f"/uploads/{sha256(b'other')}", content=corpus_bytes)
    assert answer.status_code == 422
    assert list((tmp_path / "var" / "uploads").glob("*")) == []
    assert list((tmp_path / "var" / "spool").glob("*-*")) == []
    assert (await client.put("/uploads/ABC", content=b"")).status_code == 422


async def test_a_check_says_what_was_read_and_hands_in_nothing(
    client: httpx.AsyncClient, corpus_bytes: bytes, tmp_path: Path
) -> None:
    odd = json.dumps({"text": "moon", "labels": ["moon"]}).encode()
    files = [("file", ("a.jsonl", corpus_bytes)), ("file", ("b.jsonl", odd))]
    answer = await client.post("/evaluations?check=true&models=tiny", files=files)
    assert answer.status_code == 200, answer.text
    first, second = answer.json()["checks"]
    assert (first["name"], first["format"], first["documents"]) == ("a.jsonl", "jsonl", 120)
    assert first["upload"] == first["data"] == sha256(corpus_bytes)
    assert list(first["seen_in_training"].values()) == [120]
    assert second["unknown_labels"] == ["moon"]
    assert (await client.get("/evaluations")).json()["evaluations"] == []
    assert list((tmp_path / "var" / "spool").glob("*-*")) == []
    bad = await client.post("/evaluations?check=true", content=b"{", headers=NDJSON)
    assert (bad.status_code, bad.json()["line"]) == (422, 1)


async def test_a_report_comes_as_json_or_as_a_page_that_reaches_nothing(
    client: httpx.AsyncClient, corpus_bytes: bytes, tmp_path: Path
) -> None:
    id = (await handed_in(client, corpus_bytes))["id"]
    assert (await client.get(f"/evaluations/{id}/report")).status_code == 409
    done(client, tmp_path)
    found = (await client.get(f"/evaluations/{id}")).json()
    assert (found["state"], found["figures"], found["data"]) == (
        "done",
        {"micro.f1": 0.5},
        "d" * 64,
    )
    plain = await client.get(f"/evaluations/{id}/report")
    assert plain.json() == {"model": "tiny"}
    accept = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = await client.get(f"/evaluations/{id}/report", headers=accept)
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "allow-same-origin" not in policy


async def test_deleting_cancels_what_runs_and_removes_what_has_ended(
    client: httpx.AsyncClient, corpus_bytes: bytes, tmp_path: Path
) -> None:
    first, second = [await handed_in(client, corpus_bytes) for _ in range(2)]
    job = done(client, tmp_path)
    assert job.id == first["id"]
    for id, answers in ((second["id"], (202, 204, 404)), (first["id"], (204, 404))):
        upload = tmp_path / "var" / "uploads" / first["upload"]
        assert upload.exists()  # while an evaluation has it
        for status in answers:
            answer = await client.delete(f"/evaluations/{id}")
            assert answer.status_code == status
            if status == 202:
                assert answer.json()["state"] == "cancelled"
    assert not upload.exists()
    assert list((tmp_path / "var" / "evaluations").iterdir()) == []


async def test_a_note_and_a_pin_stay_until_they_are_changed(
    client: httpx.AsyncClient, corpus_bytes: bytes
) -> None:
    path = f"/evaluations/{(await handed_in(client, corpus_bytes))['id']}"
    assert (await client.patch(path, json={"pinned": True})).json()["pinned"] is True
    found = (await client.patch(path, json={"note": "the one of the paper"})).json()
    assert (found["pinned"], found["note"]) == (True, "the one of the paper")
    for body in ({"state": "done"}, {"note": "x" * 2001}, [], {"pinned": "maybe"}):
        assert (await client.patch(path, json=body)).status_code == 422
    assert (await client.patch(path, content=b"[" * 70_000)).status_code == 413


async def test_an_evaluation_that_failed_says_why_as_evaluate_would(
    client: httpx.AsyncClient, corpus_bytes: bytes
) -> None:
    id = (await handed_in(client, corpus_bytes))["id"]
    leases, job = claimed(client)
    error = {"error": "InvalidDataError", "said": "no labels", "line": 7}
    leases.fail(job, error, is_final=True)
    found = (await client.get(f"/evaluations/{id}")).json()
    assert found["state"] == "failed"
    assert found["error"] == {
        "type": "urn:labelserve:error:bad-record",
        "title": "Bad record",
        "status": 422,
        "detail": "no labels",
        "line": 7,
    }


def events_of(answer: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.split("\n") for block in answer.text.strip().split("\n\n")]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in blocks
    ]


async def test_events_end_with_the_evaluation(
    client: httpx.AsyncClient, corpus_bytes: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = (await handed_in(client, corpus_bytes))["id"]
    states = iter(["running", "done"])

    async def next_state(*_: object, **options: object) -> None:
        if next(states) == "done":
            done(client, tmp_path)

    monkeypatch.setattr("app.api.evaluations.events.asyncio.wait", next_state)
    answer = await client.get(f"/evaluations/{id}/events")
    assert answer.headers["content-type"] == "text/event-stream"
    events = events_of(answer)
    assert [(name, found["state"]) for name, found in events] == [
        ("progress", "queued"),
        ("end", "done"),
    ]
    assert (await client.head(f"/evaluations/{id}/events")).text == ""


async def test_respond_async_hands_in_what_evaluate_is_asked(
    client: httpx.AsyncClient, corpus_bytes: bytes
) -> None:
    headers = {**NDJSON, "prefer": "respond-async"}
    answer = await client.post("/evaluate?k=2", content=corpus_bytes, headers=headers)
    assert (answer.status_code, answer.headers["preference-applied"]) == (202, "respond-async")
    found = (await client.get(answer.headers["location"])).json()
    assert (found["state"], found["options"]["k"]) == ("queued", [2])
    files = [("file", ("a", b"{}")), ("file", ("b", b"{}"))]
    answer = await client.post("/evaluate", files=files, headers={"prefer": "respond-async"})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?model=tiny&models=tiny", 422),
        ("?models=tiny,,tiny", 422),
        ("?models=tiny,moon", 404),
        ("?model=tiny@20200101T000000-000000", 404),
        ("?decision=moon", 422),
        ("?upload=abc", 422),
        ("?unknown=1", 422),
    ],
)
async def test_what_cannot_be_evaluated_is_refused_before_the_body_is_read(
    client: httpx.AsyncClient, query: str, status: int
) -> None:
    answer = await client.post(f"/evaluations{query}", content=b"x", headers=NDJSON)
    assert answer.status_code == status, answer.text
    assert (await client.get("/evaluations")).json()["evaluations"] == []


async def test_a_key_sees_evaluations_of_its_models_alone(
    opened: Opened, tmp_path: Path, corpus_bytes: bytes
) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    ours, theirs = keys.create(["evaluate"], ["ti*"])[1], keys.create(["evaluate"], ["a-*"])[1]
    async with opened(api_keys_file=tmp_path / "keys.json", job_workers=0) as client:
        client.headers["authorization"] = f"Bearer {ours}"
        id = (await handed_in(client, corpus_bytes))["id"]
        assert len((await client.get("/evaluations")).json()["evaluations"]) == 1
        assert archive_of(client).table.get(id).owner == keys.identify(ours.encode()).name
        done(client, tmp_path)
        client.headers["authorization"] = f"Bearer {theirs}"
        assert (await client.get("/evaluations")).json()["evaluations"] == []
        calls = [("GET", ""), ("GET", "/report"), ("GET", "/events"), ("PATCH", ""), ("DELETE", "")]
        for known in (id, UNKNOWN, "%00"):
            for method, rest in calls:
                answer = await client.request(method, f"/evaluations/{known}{rest}", json={})
                if method == "PATCH" and answer.status_code == 415:
                    continue
                assert answer.status_code == 404, (method, rest)
                assert answer.json()["detail"] == "no such evaluation"
        answer = await client.post("/evaluations?models=tiny", content=b"", headers=NDJSON)
        assert answer.status_code == 403


async def test_a_key_that_has_used_its_documents_hands_in_nothing(
    opened: Opened, tmp_path: Path, corpus_bytes: bytes
) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    _, secret = keys.create(["evaluate", "predict"], limits=KeyLimits(documents_per_day=1))
    async with opened(api_keys_file=tmp_path / "keys.json", job_workers=0) as client:
        client.headers["authorization"] = f"Bearer {secret}"
        assert (await client.post("/predict", json={"documents": ["a"]})).status_code == 200
        answer = await client.post("/evaluations", content=corpus_bytes, headers=NDJSON)
        assert answer.status_code == 429


async def test_a_full_disk_is_507_and_leaves_nothing(
    client: httpx.AsyncClient, corpus_bytes: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    await handed_in(client, b'{"text": "a", "labels": []}')
    monkeypatch.setattr("app.serving.jobs.uploads.os.fsync", full)
    for method, path in (("POST", "/evaluations"), ("PUT", f"/uploads/{sha256(corpus_bytes)}")):
        answer = await client.request(method, path, content=corpus_bytes, headers=NDJSON)
        assert answer.status_code == 507, answer.text
    assert not (tmp_path / "var" / "uploads" / sha256(corpus_bytes)).exists()
    assert len((await client.get("/evaluations")).json()["evaluations"]) == 1


async def test_a_wrong_method_is_told_all_that_the_path_has(client: httpx.AsyncClient) -> None:
    for path, allowed in (
        ("/evaluations", "GET, POST"),
        (f"/evaluations/{UNKNOWN}", "DELETE, GET, PATCH"),
        (f"/uploads/{'0' * 64}", "HEAD, PUT"),
        ("/evaluate", "POST"),
    ):
        answer = await client.options(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
