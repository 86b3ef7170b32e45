"""The OpenAPI document holds: schemathesis tries to break it, the page is made from it."""

from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.anyio


async def test_the_page_needs_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    answer = await client.get("/docs")
    assert "POST /predict" in answer.text
    assert "<script" not in answer.text
    assert "http://" not in answer.text.replace("http://test", "")
    assert "https://" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_document_follows_the_root_path(opened: Any) -> None:
    async with opened(root_path="/labels") as client:
        document = (await client.get("/labels/openapi.json")).json()
        assert document["servers"] == [{"url": "/labels"}]
        assert (await client.get("/labels/")).headers["location"] == "/labels/docs"
        answer = await client.post("/labels/predict", json={"documents": ["paper jam"]})
        assert answer.status_code == 200
