"""The OpenAPI document: /docs is made from it, in the browser."""

from typing import Any

import httpx
import pytest

anyio = pytest.mark.anyio


@anyio
async def test_docs_are_the_page_under_its_policy(client: httpx.AsyncClient) -> None:
    docs, page = await client.get("/docs"), await client.get("/")
    assert docs.content == page.content
    for name in ("content-security-policy", "x-content-type-options", "cache-control"):
        assert docs.headers[name] == page.headers[name]
    assert "openapi.json" in docs.text  # for whoever runs no scripts


@anyio
async def test_every_body_has_an_example_or_fields_that_the_page_can_fill_in(
    client: httpx.AsyncClient,
) -> None:
    document = (await client.get("/openapi.json")).json()
    operations = [one for path in document["paths"].values() for one in path.values()]
    bodies = {
        one["operationId"]: next(iter(one["requestBody"]["content"].values()))
        for one in operations
        if "requestBody" in one
    }
    for name, content in bodies.items():
        if "example" not in content:
            named = content["schema"].get("$ref", "").rpartition("/")[2]
            schema = document["components"]["schemas"].get(named, content["schema"])
            assert set(schema.get("required", ())) <= {"version", "a", "b"}, name


@anyio
async def test_the_document_follows_the_root_path(opened: Any) -> None:
    async with opened(root_path="/labels") as client:
        document = (await client.get("/labels/openapi.json")).json()
        assert document["servers"] == [{"url": "/labels"}]
        assert (await client.get("/labels/")).headers["content-type"].startswith("text/html")
        answer = await client.post("/labels/predict", json={"documents": ["paper jam"]})
        assert answer.status_code == 200
