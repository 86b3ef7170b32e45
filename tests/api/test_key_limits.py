"""Keys that expire, and keys that may ask for so much: what their callers are told."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from app.serving.identity import KeyLimits
from app.serving.keys import Key, KeysFile
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

NDJSON = {"content-type": "application/x-ndjson"}
LINE = b'{"text": "please refund the invoice", "labels": ["billing"]}\n'
NOON = 20_000 * 86_400 + 43_200.0

Made = Callable[..., tuple[Key, dict[str, str]]]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """`made(limits=…)`: a key, and the headers that its caller sends."""
    monkeypatch.setattr("app.serving.quotas.time", lambda: NOON)

    def one(*scopes: str, **options: Any) -> tuple[Key, dict[str, str]]:
        file = KeysFile(tmp_path / "keys.json")
        key, secret = file.create(scopes or ["predict", "evaluate"], **options)
        return key, {"authorization": f"Bearer {secret}"}

    return one


def predict(client: httpx.AsyncClient, headers: dict[str, str], documents: int = 1) -> Any:
    return client.post("/predict", json={"documents": ["refund"] * documents}, headers=headers)


async def figures(client: httpx.AsyncClient, name: str) -> dict[tuple[str, ...], float]:
    total = await client.service.telemetry.total()  # type: ignore[attr-defined]
    (family,) = [family for family in total if family.name == name]
    return {labels: value for labels, (value,) in family.series.items() if value}


async def test_an_expired_key_is_told_so(opened: Opened, made: Made, tmp_path: Path) -> None:
    made(lifetime=timedelta(days=1))
    key, headers = made(lifetime=timedelta(days=90))
    file = tmp_path / "keys.json"
    past = datetime.now(UTC) - timedelta(seconds=1)
    stored = json.loads(file.read_text())
    stored["keys"][-1]["expires"] = past.isoformat()
    async with opened(api_keys_file=file) as client:
        assert (await predict(client, headers)).status_code == 200
        file.write_text(json.dumps(stored))
        client.service.keys._look_at = 0  # type: ignore[attr-defined]
        answer = await predict(client, headers)
        assert (answer.status_code, answer.json()["type"][-12:]) == (401, "unauthorized")
        assert f"expired, on {past:%Y-%m-%d at %H:%M} UTC" in answer.json()["detail"]
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert (await client.get("/models", headers=headers)).status_code == 401
        counted = await figures(client, "labelserve_key_requests")
    assert counted == {(key.id, "accepted"): 1, (key.id, "expired"): 2}


async def test_a_request_too_many_in_a_minute_is_told_when_to_come_back(
    opened: Opened, made: Made, tmp_path: Path
) -> None:
    key, headers = made(limits=KeyLimits(requests_per_minute=3))
    _, other = made()
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        statuses = [(await predict(client, headers)).status_code for _ in range(2)]
        statuses.append((await client.get("/models", headers=headers)).status_code)
        answers = [
            await predict(client, headers),
            await client.get("/v2/models/tiny", headers=headers),
        ]
        assert statuses == [200] * 3
        assert [answer.status_code for answer in answers] == [429, 429]
        assert [answer.headers["retry-after"] for answer in answers] == ["60", "60"]
        assert answers[0].json()["detail"].startswith("this key may ask for 3 requests a minute")
        assert answers[1].json()["error"].startswith("this key may ask for 3 requests a minute")
        assert (await predict(client, other)).status_code == 200
        counted = await figures(client, "labelserve_key_requests")
        rejected = await figures(client, "labelserve_rejected")
    assert (counted[key.id, "accepted"], counted[key.id, "requests-per-minute"]) == (3, 2)
    assert rejected == {("quota",): 2}


async def test_documents_are_counted_by_every_route(
    opened: Opened, made: Made, tmp_path: Path
) -> None:
    key, headers = made(limits=KeyLimits(documents_per_day=100))
    tensor = {"name": "text", "shape": [30], "datatype": "BYTES", "data": ["refund"] * 30}
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        assert (await predict(client, headers, 20)).status_code == 200
        sent = {"json": {"inputs": [tensor]}, "headers": headers}
        assert (await client.post("/v2/models/tiny/infer", **sent)).status_code == 200
        lines = {"content": b'"refund"\n' * 30, "headers": {**headers, **NDJSON}}
        assert (await client.post("/predict", **lines)).text.count('"labels"') == 30
        assert (await client.post("/v2/models/tiny/infer", **sent)).status_code == 429
        test_set = {"content": LINE * 30, "headers": {**headers, **NDJSON}}
        assert (await client.post("/evaluate", **test_set)).status_code == 200
        for path in ("/evaluate", "/predict"):  # 110 are counted: what was begun was answered
            answer = await client.post(path, **test_set)
            assert (answer.status_code, answer.headers["retry-after"]) == (429, "43200")
        assert (await client.get("/models", headers=headers)).status_code == 200
        assert await figures(client, "labelserve_key_documents") == {(key.id,): 110}


async def test_lines_of_a_stream_beyond_the_limit_are_refused_in_their_place(
    opened: Opened, made: Made, tmp_path: Path
) -> None:
    _, headers = made(limits=KeyLimits(documents_per_day=100))
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        body = {"content": b'"refund"\n' * 150, "headers": {**headers, **NDJSON}}
        found = [
            json.loads(line) for line in (await client.post("/predict", **body)).text.splitlines()
        ]
    assert ["labels" in one for one in found] == [True] * 64 + [False] * 64 + [True] * 22
    assert found[64]["error"]["status"] == 429


async def test_keys_by_the_thousand_take_bounded_room_in_the_figures(
    opened: Opened, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.http.request_log.MOST_KEYS", 2)
    callers = [made() for _ in range(4)]
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        for _, headers in callers:
            assert (await predict(client, headers)).status_code == 200
        counted = await figures(client, "labelserve_key_requests")
    assert counted["others", "accepted"] == 2
    assert len(counted) == 3


async def pieces(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b'"refund"\n'
        await asyncio.sleep(0.02)


async def test_a_long_request_ends_when_its_key_expires_and_no_other_does(
    opened: Opened, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.revalidation.SECONDS", 0.05)
    (_, headers), (_, ending) = made(), made(lifetime=timedelta(days=1))
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        stream = {"content": pieces(40), "headers": {**headers, **NDJSON}}
        assert (await client.post("/predict", **stream)).text.count('"labels"') == 40
        upload = {"content": pieces(4000), "headers": {**ending, **NDJSON}}
        sent = asyncio.ensure_future(client.post("/evaluate", **upload))
        await asyncio.sleep(0.2)
        assert not sent.done()
        late = datetime.now(UTC) + timedelta(days=2)
        monkeypatch.setattr("app.serving.identity.datetime", Mock(now=lambda _: late))
        answer = await sent
    assert (answer.status_code, "expired" in answer.json()["detail"]) == (401, True)


async def test_a_gateway_s_word_holds_for_the_whole_request(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.revalidation.SECONDS", 0.05)
    user = {"x-forwarded-user": "ada", "x-forwarded-groups": "labelserve-predict"}
    async with opened(auth="proxy", trusted_proxies=("127.0.0.0/8",)) as client:
        stream = {"content": pieces(20), "headers": {**user, **NDJSON}}
        answer = await client.post("/predict", **stream)
    assert (answer.status_code, answer.text.count('"labels"')) == (200, 20)
