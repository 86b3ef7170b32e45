"""NDJSON in, NDJSON out."""

import asyncio
import json
from collections.abc import AsyncIterator
from io import BytesIO

import httpx
import pytest

from app.api import predictor as predicting
from app.api.http import response_buffer as outboxes
from app.api.http.response_buffer import ResponseBuffer
from app.errors import DeadlineError
from app.serving.admission import Deadline
from app.serving.unsent_answers import UnsentAnswers
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

HEADERS = {"content-type": "application/x-ndjson"}


async def test_a_bad_line_is_an_error_in_its_place_and_the_others_are_answered(
    client: httpx.AsyncClient,
) -> None:
    lines = [
        '"refund the invoice"',
        '{"id": "x", "text": "paper jam"}',
        "not json",
        "",
        '{"text": 7}',
        '""',
    ]
    answer = await client.post("/predict", content="\n".join(lines), headers=HEADERS)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["x-documents"] == "5"
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [line.get("line") for line in found] == [None, None, 3, 5, None]
    assert found[1]["id"] == "x"
    assert found[2]["error"]["type"] == "urn:labelserve:error:malformed-body"
    assert found[3]["error"]["type"] == "urn:labelserve:error:invalid-request"


async def test_lines_are_the_same_as_the_predictions_of_one_body(
    client: httpx.AsyncClient,
) -> None:
    texts = [f"invoice {word} paper" for word in ("refund", "jam", "login", "crash")] * 50
    together = await client.post("/predict", json={"documents": texts, "top_k": 2})

    async def pieces() -> AsyncIterator[bytes]:
        content = "\n".join(map(json.dumps, texts)).encode()
        for start in range(0, len(content), 7):
            yield content[start : start + 7]

    streamed = await client.post("/predict?top_k=2", content=pieces(), headers=HEADERS)
    found = [json.loads(line) for line in streamed.text.splitlines()]
    assert found == together.json()["predictions"]


async def test_options_come_in_the_query_and_wrong_ones_are_422(
    client: httpx.AsyncClient,
) -> None:
    for query in ("top_k=0", "top_k=x", "top_k=", "nothing=1", "labels=unheard", "threshold=nan"):
        answer = await client.post(f"/predict?{query}", content=b'"a"', headers=HEADERS)
        assert answer.status_code == 422, query
    for query in ("model=other", "model="):
        answer = await client.post(f"/predict?{query}", content=b'"a"', headers=HEADERS)
        assert answer.status_code == 404


async def test_a_batch_that_does_not_fit_yet_waits_for_its_turn(opened: Opened) -> None:
    async with opened(max_concurrency=40) as client:
        content = b'"paper jam"\n' * 30
        with client.service.documents.admit(20):  # type: ignore[attr-defined]
            sent = asyncio.ensure_future(client.post("/predict", content=content, headers=HEADERS))
            await asyncio.sleep(0.2)
            assert not sent.done()
        answer = await sent
        assert len(answer.text.splitlines()) == 30


async def test_a_batch_that_asks_for_too_much_is_an_error_a_line(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predicting, "MOST_ANSWERS", 5)
    answer = await client.post("/predict?top_k=3", content=b'"a"\nbad\n"b"', headers=HEADERS)
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["line"] for line in found] == [1, 2, 3]
    assert [line["error"]["status"] for line in found] == [422, 400, 422]


async def test_a_client_that_does_not_read_is_given_up_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outboxes, "MOST_WAITING", 10)
    unsent = UnsentAnswers(1000)

    async def never(message: object) -> None:
        await asyncio.Event().wait()

    async with ResponseBuffer(never, Deadline.after(0.1), unsent) as outbox:
        await outbox.put(b"x" * 10)
        await outbox.put(b"x" * 10)
        with pytest.raises(DeadlineError):
            await outbox.put(b"x" * 10)
        with pytest.raises(DeadlineError):
            await outbox.close()
        assert unsent.size == 20
    assert unsent.size == 0


async def test_bodies_of_unknown_length_take_room_only_when_they_are_large(opened: Opened) -> None:
    async def body(size: int) -> AsyncIterator[bytes]:
        yield b'{"documents":["'
        for _ in range(size // 1000):
            yield b"x" * 1000
        yield b'"]}'

    async with opened() as client:
        bodies = client.service.bodies  # type: ignore[attr-defined]
        with bodies.admit(bodies.capacity):
            small = await client.post("/predict", content=body(10_000))
            large = await client.post("/predict", content=body(90_000))
            lines = await client.post("/predict", content=body(10_000), headers=HEADERS)
        assert [a.status_code for a in (small, large, lines)] == [200, 429, 429]
        assert bodies.in_flight == 0
        assert (await client.post("/predict", content=body(90_000))).status_code == 200


async def test_a_text_that_is_too_long_is_an_error_in_its_line_alone(
    opened: Opened, log: BytesIO
) -> None:
    async with opened(max_text_characters=10) as client:
        content = b'"paper jam"\n\n"%b"\n{"text": "%b"}\n"toner"' % (b"x" * 11, b"x" * 11)
        answer = await client.post("/predict", content=content, headers=HEADERS)
        found = [json.loads(line) for line in answer.text.splitlines()]
        assert [line.get("line") for line in found] == [None, 3, 4, None]
        assert {line["error"]["status"] for line in found[1:3]} == {413}
        model = (await client.get("/models/tiny")).json()
        assert answer.headers["x-model-version"] == model["version"]
    first = json.loads(log.getvalue().splitlines()[0])
    assert (first["documents"], first["bytes"]) == (2, len(answer.content))


async def test_a_line_longer_than_a_body_may_be_is_an_error_at_its_number(opened: Opened) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'"first"\n"'
        for _ in range(30):
            yield b"x" * 100
        yield b'"\n"third"\n'

    async with opened(max_body_bytes=2000) as client:
        answer = await client.post("/predict", content=pieces(), headers=HEADERS)
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [line.get("line") for line in found] == [None, 2, None]
    assert found[1]["error"]["status"] == 413


async def test_a_stream_may_have_more_lines_than_a_body_documents(opened: Opened) -> None:
    async with opened(max_documents=3) as client:
        answer = await client.post("/predict", content=b'"paper jam"\n' * 10, headers=HEADERS)
        assert [line.get("line") for line in map(json.loads, answer.text.splitlines())] == [
            None
        ] * 10
