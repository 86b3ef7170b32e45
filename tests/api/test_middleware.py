"""Pages of other origins, and middleware that people add: both reach every route."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.settings import Settings
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

ORIGIN = {"origin": "https://example.org"}
PREFLIGHT = {
    **ORIGIN,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
}
ROUTES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/predict", {"json": {"documents": ["refund"]}}),
    ("POST", "/predict", {"json": {"documents": []}}),
    ("POST", "/predict", {"content": b'"refund"\n', "headers": {}}),
    ("GET", "/models", {}),
    ("GET", "/health/live", {}),
    ("GET", "/nowhere", {}),
    ("POST", "/v2/models/tiny/infer", {"content": b"{}"}),
    ("POST", "/evaluate", {"content": b""}),
]


@pytest.fixture
async def shared(opened: Opened) -> AsyncIterator[httpx.AsyncClient]:
    async with opened(cors_origins="https://example.org") as client:
        yield client


@pytest.mark.parametrize(("method", "path", "sent"), ROUTES)
async def test_a_page_of_an_allowed_origin_reads_every_answer(
    shared: httpx.AsyncClient, method: str, path: str, sent: dict[str, Any]
) -> None:
    headers = {**ORIGIN, **sent.get("headers", {})}
    answer = await shared.request(method, path, **{**sent, "headers": headers})
    assert answer.headers["access-control-allow-origin"] == "https://example.org"
    assert "X-Request-ID" in answer.headers["access-control-expose-headers"]
    assert answer.headers["x-request-id"]
    other = await shared.request(
        method, path, **{**sent, "headers": {**headers, "origin": "https://elsewhere.example"}}
    )
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("path", ["/predict", "/evaluate", "/models"])
async def test_a_browser_that_asks_first_is_told(shared: httpx.AsyncClient, path: str) -> None:
    answer = await shared.options(path, headers=PREFLIGHT)
    assert answer.status_code == 200
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "authorization" in answer.headers["access-control-allow-headers"]


async def test_by_default_no_other_origin_may_read(client: httpx.AsyncClient) -> None:
    for answer in (
        await client.get("/models", headers=ORIGIN),
        await client.post("/predict", json={"documents": ["a"]}, headers=ORIGIN),
        await client.options("/predict", headers=PREFLIGHT),
    ):
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("wrong", ["example.org", "https://example.org/path", "ftp://a", "a b"])
def test_what_is_no_origin_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(ValueError, match="LABELSERVE_CORS_ORIGINS"):
        Settings(cors_origins=(wrong,))


class Counting:
    """Middleware as anyone may write it."""

    def __init__(self, app: Any, seen: list[str]) -> None:
        self._app, self._seen = app, seen

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self._seen.append(scope["path"])
        await self._app(scope, receive, send)


async def test_added_middleware_sees_predictions_too(client: httpx.AsyncClient) -> None:
    app, seen = client._transport.app, []  # type: ignore[attr-defined]
    sent = {"documents": ["refund the invoice"]}
    without = await client.post("/predict", json=sent)
    head = [(b"content-type", b"application/json")]
    body = b'{"documents": ["refund the invoice"]}'
    assert app.at_once(head, "127.0.0.1", body) is not None
    app.middleware_stack = None  # as before the first request, when middleware may be added
    app.add_middleware(Counting, seen=seen)
    for path in ("/predict", "/models"):
        await client.request("POST" if path == "/predict" else "GET", path, json=sent)
    assert seen == ["/predict", "/models"]
    assert app.at_once(head, "127.0.0.1", body) is None
    assert (await client.post("/predict", json=sent)).json() == without.json()
    bad = await client.post("/predict", json={"documents": []})
    assert (bad.status_code, bad.headers["content-type"]) == (422, "application/problem+json")


async def test_a_page_of_an_allowed_origin_is_never_answered_by_the_fast_path(
    shared: httpx.AsyncClient,
) -> None:
    app = shared._transport.app  # type: ignore[attr-defined]
    head, body = [(b"content-type", b"application/json")], b'{"documents": ["refund"]}'
    await shared.post("/predict", json={"documents": ["refund"]})
    await asyncio.sleep(0)
    assert app.at_once(head, "127.0.0.1", body) is not None
    assert app.at_once([*head, (b"origin", b"https://example.org")], "127.0.0.1", body) is None
