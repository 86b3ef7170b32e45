"""Refusals: who is turned away, on which way, with which headers, and how it is counted."""

import asyncio
import gzip
import json
import re
from pathlib import Path
from shutil import copytree
from typing import Any

import httpx
import pytest

from app.serving.keys import KeysFile
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

JSON, NDJSON = [(b"content-type", b"application/json")], {"content-type": "application/x-ndjson"}
LINE = b'{"text": "a", "labels": ["crash"]}\n'


def tensor(texts: list[str]) -> dict[str, Any]:
    return {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [len(texts)], "data": texts}]}


async def asked(client: httpx.AsyncClient, texts: list[str], **fields: Any) -> list[httpx.Response]:
    """The answers of `/predict` and of `/v2` to the same documents."""
    body = {**tensor(texts), "parameters": fields}
    return [
        await client.post("/predict", json={"documents": texts, **fields}),
        await client.post("/v2/models/tiny/infer", json=body),
    ]


def at_once(client: httpx.AsyncClient, texts: list[str]) -> Any:
    """What the fast path answers; None where it leaves the request to the application."""
    body = json.dumps({"documents": texts}).encode()
    return client._transport.app.at_once(JSON, "127.0.0.1", body)  # type: ignore[attr-defined]


async def test_every_refusal_is_counted_by_its_reason_and_probes_are_not(
    opened: Opened, tmp_path: Path
) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    predict, admin = keys.create(["predict"])[1], keys.create(["admin"])[1]
    large = {"documents": ["a" * 100_000]}
    settings = {"api_keys_file": tmp_path / "keys.json", "required_models": "tiny,other"}
    async with opened(**settings, max_documents=10) as client:
        service = client.service  # type: ignore[attr-defined]
        answers = [await client.get("/models"), await client.get("/health/ready")]
        client.headers["authorization"] = f"Bearer {predict}"
        answers += [await client.get("/metrics")]
        answers += await asked(client, ["a"] * 11)
        with service.bodies.admit(service.bodies.capacity):
            answers += [await client.post("/predict", json=large)]
        client.headers["authorization"] = f"Bearer {admin}"
        service.is_draining = True
        answers += [await client.post("/evaluate", content=LINE, headers=NDJSON)]
        text = (await client.get("/metrics")).text
    assert [a.status_code for a in answers] == [401, 503, 403, 413, 413, 429, 503]
    counted = re.findall(r'labelserve_rejected_total\{reason="(.+)"\} (.+)', text)
    assert dict(counted) == {
        "unauthorized": "1.0",
        "forbidden": "1.0",
        "payload-too-large": "2.0",
        "too-many-requests": "1.0",
        "unavailable": "1.0",
    }


async def test_nothing_is_under_way_once_every_request_has_ended_whatever_its_answer(
    client: httpx.AsyncClient,
) -> None:
    for documents in (["a"], [], ["a" * 1_000_001]):
        await asked(client, documents)
    await client.get("/nowhere")
    text = (await client.get("/metrics")).text
    assert '\nlabelserve_in_flight{route="all"} 1.0\n' in text  # the one that asks
    service = client.service  # type: ignore[attr-defined]
    assert (service.documents.in_flight, service.bodies.in_flight) == (0, 0)


async def test_predictions_that_take_too_long_are_504_and_counted(opened: Opened) -> None:
    async with opened(request_seconds=1e-6) as client:
        for answer in await asked(client, ["refund", "paper jam"], explain=1):
            assert answer.status_code == 504
        text = (await client.get("/metrics")).text
    assert 'labelserve_rejected_total{reason="timeout"} 2.0' in text


async def test_whoever_sends_no_key_is_told_how_to(opened: Opened, tmp_path: Path) -> None:
    KeysFile(tmp_path / "keys.json").create(["predict"])
    async with opened(api_keys_file=tmp_path / "keys.json") as client:
        for answer in (await client.get("/models"), *await asked(client, ["a"])):
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_a_drain_is_announced_on_every_way(client: httpx.AsyncClient) -> None:
    await client.post("/predict", json={"documents": ["refund"]})
    assert at_once(client, ["refund"]) is not None
    assert "connection" not in (await client.get("/health/live")).headers
    client.service.is_draining = True  # type: ignore[attr-defined]
    assert at_once(client, ["refund"]) is None
    for answer in await asked(client, ["refund"]):
        assert (answer.status_code, answer.headers["connection"]) == (200, "close")
    for path in ("/health/ready", "/v2/health/ready"):
        assert (await client.get(path)).status_code == 503
    assert (await client.get("/health/live")).status_code == 200
    answer = await client.post("/evaluate", content=LINE, headers=NDJSON)
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:labelserve:error:draining")
    assert int(answer.headers["retry-after"]) > 0


async def test_a_text_of_the_greatest_length_is_answered_and_a_longer_one_nowhere(
    opened: Opened,
) -> None:
    async with opened(max_text_characters=20, max_documents=3) as client:
        for explain in ({}, {"explain": 1}):
            for fine in (["x" * 20], ["a", "b", "c"]):
                assert [a.status_code for a in await asked(client, fine, **explain)] == [200] * 2
            for wrong in (["x" * 21], ["a", "b", "c", "d"]):
                assert [a.status_code for a in await asked(client, wrong, **explain)] == [413] * 2
        assert at_once(client, ["x" * 20]) is not None
        assert at_once(client, ["x" * 21]) is at_once(client, ["a"] * 4) is None


@pytest.mark.parametrize("path", ["/predict", "/v2/models/tiny/infer"])
async def test_a_body_of_the_greatest_length_is_read_and_a_longer_one_is_not(
    opened: Opened, path: str
) -> None:
    body = json.dumps({"documents": ["a"]} if path == "/predict" else tensor(["a"]))
    async with opened(max_body_bytes=2000) as client:
        for size, status in ((2000, 200), (2001, 413)):
            content = body.ljust(size).encode()

            async def pieces(content: bytes = content) -> Any:
                yield content[:1000]
                yield content[1000:]

            whole = await client.post(path, content=content)
            chunked = await client.post(path, content=pieces())
            assert (whole.status_code, chunked.status_code) == (status, status)


async def test_a_body_that_says_it_is_too_long_is_refused_unread(client: httpx.AsyncClient) -> None:
    async def unread() -> Any:
        pytest.fail("the body was read")
        yield b""

    for path in ("/predict", "/v2/models/tiny/infer"):
        answer = await client.post(path, content=unread(), headers={"content-length": "99999999"})
        assert answer.status_code == 413


async def test_a_body_with_a_content_encoding_is_415_where_none_is_taken(
    client: httpx.AsyncClient,
) -> None:
    (version,) = client.service.registry.versions("tiny")  # type: ignore[attr-defined]
    infer = ("/v2/models/tiny/infer", f"/v2/models/tiny/versions/{version}/infer")
    for path in ("/predict", *infer):
        body = {"documents": ["a"]} if path == "/predict" else tensor(["a"])
        content = gzip.compress(json.dumps(body).encode())
        for encoding in ("gzip", "br", "identity, gzip"):
            headers = {"content-encoding": encoding}
            answer = await client.post(path, content=content, headers=headers)
            assert answer.status_code == 415
        plain = await client.post(path, json=body, headers={"content-encoding": " Identity "})
        assert plain.status_code == 200


async def test_no_address_leads_to_the_host_that_the_client_names(
    client: httpx.AsyncClient,
) -> None:
    app = client._transport.app  # type: ignore[attr-defined]
    known = {"name": "tiny", "version": "none", "id": "0" * 32, "sha256": "0" * 64}
    paths = [path.format(**known) for path in app.openapi()["paths"]]
    for path in [*paths, "/docs", "/openapi.json"]:
        for method in ("GET", "POST"):
            answer = await client.request(method, f"{path}/", headers={"host": "evil.example"})
            assert answer.status_code == 404, path
            assert "location" not in answer.headers
    page = await client.get("/", headers={"host": "evil.example"})
    assert (page.status_code, "evil" in page.text) == (200, False)


async def test_a_key_limited_to_models_is_not_let_to_the_default_one(
    opened: Opened, tmp_path: Path
) -> None:
    secret = KeysFile(tmp_path / "keys.json").create(["predict", "evaluate"], ["others-*"])[1]
    async with opened(api_keys_file=tmp_path / "keys.json", default_model="tiny") as client:
        client.headers["authorization"] = f"Bearer {secret}"
        (version,) = client.service.registry.versions("tiny")  # type: ignore[attr-defined]
        answers = [
            await client.post("/predict", json={"documents": ["a"]}),
            await client.post("/predict", content=b'"a"', headers=NDJSON),
            await client.post("/predict?model=tiny", content=b'"a"', headers=NDJSON),
            await client.post("/evaluate", content=LINE, headers=NDJSON),
            await client.get(f"/v2/models/tiny/versions/{version}"),
            await client.get(f"/v2/models/tiny/versions/{version}/ready"),
            await client.post(f"/v2/models/tiny/versions/{version}/infer", json=tensor(["a"])),
        ]
        assert [answer.status_code for answer in answers] == [403] * 7


async def test_of_several_models_the_only_one_a_key_reaches_is_its_default(
    opened: Opened, tiny_models: Path, tmp_path: Path
) -> None:
    for name in ("one", "other"):
        copytree(tiny_models / "tiny", tmp_path / "models" / name)
    secret = KeysFile(tmp_path / "keys.json").create(["predict"], ["oth*"])[1]
    settings = {"api_keys_file": tmp_path / "keys.json", "models_dir": tmp_path / "models"}
    async with opened(**settings) as client:
        client.headers["authorization"] = f"Bearer {secret}"
        answer = await client.post("/predict", json={"documents": ["a"]})
        assert (answer.status_code, answer.json()["model"]) == (200, "other")


async def test_a_gateway_separates_groups_as_it_likes_and_names_are_cut(opened: Opened) -> None:
    gateway = {"auth": "proxy", "trusted_proxies": ("127.0.0.0/8",)}
    for groups, status in (("staff; labelserve-predict", 200), ("labelserve-predicting", 403)):
        user = {"x-forwarded-user": "a" * 500, "x-forwarded-groups": groups}
        async with opened(**gateway) as client:
            assert (await client.get("/models", headers=user)).status_code == status


async def test_a_stream_that_never_gets_its_turn_ends(opened: Opened) -> None:
    async with opened(max_concurrency=40, evaluate_seconds=0.2) as client:
        with client.service.documents.admit(40):  # type: ignore[attr-defined]
            async with asyncio.timeout(30):
                with pytest.raises(ConnectionError):
                    await client.post("/predict", content=b'"a"\n' * 30, headers=NDJSON)
