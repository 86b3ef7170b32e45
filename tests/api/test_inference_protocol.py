"""The Open Inference Protocol: tensors in and out, versions, and errors in its own form."""

import json
from typing import Any

import httpx
import pytest

from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

TEXTS = ["refund the invoice payment", "paper jam in the tray, toner"]
NEVER = "20200101T000000-000000"


def call(texts: list[str], **fields: Any) -> dict[str, Any]:
    tensor = {"name": "text", "datatype": "BYTES", "shape": [len(texts)], "data": texts}
    return {"inputs": [tensor], **fields}


def packed(texts: list[str]) -> bytes:
    parts = [text.encode() for text in texts]
    return b"".join(len(part).to_bytes(4, "little") + part for part in parts)


def unpacked(data: bytes) -> list[Any]:
    found = []
    while data:
        size = int.from_bytes(data[:4], "little")
        found.append(json.loads(data[4 : 4 + size]))
        data = data[4 + size :]
    return found


async def test_an_answer_names_call_model_and_documents(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v2/models/tiny/infer", json=call(TEXTS, id="my call"))
    found = answer.json()
    assert (found["id"], found["model_name"]) == ("my call", "tiny")
    assert found["model_version"] == answer.headers["x-model-version"]
    assert answer.headers["x-documents"] == "2"
    assert found["outputs"][0]["shape"] == [2]
    assert "id" not in (await client.post("/v2/models/tiny/infer", json=call(TEXTS))).json()
    text = (await client.get("/metrics")).text
    documents = 'labelserve_documents_total{model="tiny",route="/v2/models/{name}/infer"} 4.0'
    assert documents in text


async def test_binary_tensors_hold_what_json_does(client: httpx.AsyncClient) -> None:
    plain = await client.post("/v2/models/tiny/infer", json=call(TEXTS))
    expected = [json.loads(line) for line in plain.json()["outputs"][0]["data"]]
    data = packed(TEXTS)
    tensor = {"name": "text", "datatype": "BYTES", "shape": [2, 1]}
    tensor["parameters"] = {"binary_data_size": len(data)}
    wishes: list[dict[str, Any]] = [
        {"outputs": [{"name": "predictions", "parameters": {"binary_data": True}}]},
        {"parameters": {"binary_data_output": True}},
    ]
    for wish in wishes:
        head = json.dumps({"inputs": [tensor], **wish}).encode()
        length = {"inference-header-content-length": str(len(head))}
        answer = await client.post("/v2/models/tiny/infer", content=head + data, headers=length)
        assert answer.headers["content-type"] == "application/octet-stream"
        end = int(answer.headers["inference-header-content-length"])
        output = json.loads(answer.content[:end])["outputs"][0]
        assert output["parameters"]["binary_data_size"] == len(answer.content) - end
        assert unpacked(answer.content[end:]) == expected
    mixed = {**call(TEXTS), "parameters": {"binary_data_output": True}}
    mixed["outputs"] = [{"name": "predictions"}]  # what is said of an output holds for it
    answer = await client.post("/v2/models/tiny/infer", json=mixed)
    assert answer.headers["content-type"] == "application/json"


async def test_tensors_that_do_not_add_up_are_422(client: httpx.AsyncClient) -> None:
    tensor = call(TEXTS)["inputs"][0]
    for change in ({"shape": [3]}, {"shape": [1, 2]}, {"data": [1, 2]}, {"data": None}):
        answer = await client.post("/v2/models/tiny/infer", json={"inputs": [{**tensor, **change}]})
        assert answer.status_code == 422, change
        assert list(answer.json()) == ["error"]
    for data in (packed(["a"])[:-1], packed(["a"]) + b"\0", b"\4\0\0\0a", b"\1\0\0\0\xff"):
        sent = {"name": "text", "datatype": "BYTES", "shape": [1]}
        sent["parameters"] = {"binary_data_size": 5}
        head = json.dumps({"inputs": [sent]}).encode()
        length = {"inference-header-content-length": str(len(head))}
        answer = await client.post("/v2/models/tiny/infer", content=head + data, headers=length)
        assert answer.status_code == 422, data


async def test_a_version_answers_by_its_own_address_and_no_other_does(
    client: httpx.AsyncClient,
) -> None:
    model = (await client.get("/v2/models/tiny")).json()
    assert model["inputs"][0]["name"] == "text"
    (version,) = model["versions"]
    for found, status in ((version, 200), (NEVER, 404)):
        at = f"/v2/models/tiny/versions/{found}"
        answers = [
            await client.get(at),
            await client.get(f"{at}/ready"),
            await client.post(f"{at}/infer", json=call(TEXTS)),
        ]
        assert [answer.status_code for answer in answers] == [status] * 3
    assert (await client.get("/v2/models/tiny/ready")).json() == {"name": "tiny", "ready": True}


async def test_errors_have_the_protocol_s_form_below_a_root_path_too(opened: Opened) -> None:
    async with opened(root_path="/labels") as client:
        for path in ("/labels/v2/models/other/infer", "/v2/models/other/infer"):
            answer = await client.post(path, json=call(TEXTS))
            assert (answer.status_code, list(answer.json())) == (404, ["error"])
        answer = await client.post("/labels/predict", json={"documents": []})
        assert answer.headers["content-type"] == "application/problem+json"
