"""POST /predict through the door."""

import httpx
import pytest

pytestmark = pytest.mark.anyio


async def test_labels_come_back_with_version_and_headers(client: httpx.AsyncClient) -> None:
    body = {"documents": ["refund the invoice payment", {"id": "7", "text": "paper jam toner"}]}
    answer = await client.post("/predict", json=body)
    assert answer.status_code == 200
    found = answer.json()
    assert found["model"] == "tiny"
    assert [label["label"] for label in found["predictions"][0]["labels"]] == ["billing"]
    assert found["predictions"][1]["id"] == "7"
    assert "id" not in found["predictions"][0]
    assert answer.headers["x-model-version"] == found["version"]
    assert answer.headers["x-documents"] == "2"
    assert answer.headers["x-request-id"]
