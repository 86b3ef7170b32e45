"""A client that leaves ends its work at the next chunk."""

import json
import time
from threading import Event
from typing import Any

import pytest

from app.errors import DeadlineError
from app.prediction.plan import Plan
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio
MOST_CHUNKS = 2000
PREDICT = {"documents": ["refund the invoice"] * 10}
INFER = {
    "inputs": [{"name": "text", "shape": [10], "datatype": "BYTES", "data": PREDICT["documents"]}]
}


@pytest.mark.parametrize(
    ("path", "asked"), [("/predict", PREDICT), ("/v2/models/tiny/infer", INFER)]
)
async def test_a_client_that_leaves_ends_its_prediction(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, path: str, asked: Any
) -> None:
    has_begun, has_ended = Event(), Event()

    def long(self: Plan, texts: Any, *, still_wanted: Any, most: int) -> Any:
        has_begun.set()
        try:
            for _ in range(MOST_CHUNKS):
                still_wanted()
                time.sleep(0.005)
        except DeadlineError:
            has_ended.set()
            raise
        return []

    body = {"type": "http.request", "body": json.dumps(asked).encode(), "more_body": False}
    messages, sent = [{"type": "http.disconnect"}, body], []
    headers = [(b"content-type", b"application/json"), (b"host", b"here")]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode()}
    scope |= {"query_string": b"", "headers": headers, "client": ("127.0.0.1", 1), "scheme": "http"}

    async def receive() -> Any:
        return messages.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    async with opened() as client:
        monkeypatch.setattr(
            Plan, "predictions", long
        )  # the model is loaded, and has passed its test
        await client._transport.app(scope, receive, send)  # type: ignore[attr-defined]
    assert has_begun.is_set()
    assert has_ended.is_set()
    assert 200 not in {message.get("status") for message in sent}  # and nobody is there to read
