"""The OpenAPI document holds: schemathesis tries to break it, the page is made from it."""

from typing import Any

import httpx
import pytest

from app.api.routes.docs import page

anyio = pytest.mark.anyio


@anyio
async def test_the_page_needs_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    answer = await client.get("/docs")
    assert "POST /predict" in answer.text
    assert "<script" not in answer.text
    assert "http://" not in answer.text.replace("http://test", "")
    assert "https://" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@anyio
async def test_the_document_follows_the_root_path(opened: Any) -> None:
    async with opened(root_path="/labels") as client:
        document = (await client.get("/labels/openapi.json")).json()
        assert document["servers"] == [{"url": "/labels"}]
        assert (await client.get("/labels/")).headers["location"] == "/labels/docs"
        answer = await client.post("/labels/predict", json={"documents": ["paper jam"]})
        assert answer.status_code == 200


def test_nothing_of_the_document_becomes_markup_on_the_page() -> None:
    bad = "<script>alert(1)</script>"
    field = {"type": bad, "description": bad}
    operation = {
        "summary": bad,
        "description": bad,
        "security": [{"key": [bad]}],
        "parameters": [{"name": bad, "in": "query", "schema": {"enum": [bad]}, "description": bad}],
        "requestBody": {"content": {bad: {"schema": {"$ref": f"#/{bad[1:-9]}"}}}},
        "responses": {"200": {}},
    }
    document = {
        "info": {"title": bad},
        "paths": {f"/{bad}": {"post": operation}},
        "components": {"schemas": {bad: {"description": bad, "properties": {bad: field}}}},
    }
    assert "<script" not in page(document)
    assert page(document).count("&lt;script&gt;alert(1)") >= 12
