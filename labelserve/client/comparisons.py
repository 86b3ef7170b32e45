"""Evaluations of a service side by side: two compared, or all of one data set in order."""

import json
from typing import Any

from labelserve.client.evaluations import ServedEvaluation, evaluation_id
from labelserve.client.exchange import Exchange, ServiceCall, answered
from labelserve.client.routes import EVALUATE_SECONDS, identified, query_of

JSON = "application/json"


def compared(
    a: ServedEvaluation | str, b: ServedEvaluation | str, retries: int
) -> Exchange[dict[str, Any]]:
    """What POST /comparisons says of two evaluations of the same data."""
    content = json.dumps({"a": evaluation_id(a), "b": evaluation_id(b)}).encode()
    call = ServiceCall("POST", "/comparisons", (), content, JSON, seconds=EVALUATE_SECONDS)
    reply = yield from answered(identified(call), retries)
    found: dict[str, Any] = json.loads(reply.content)
    return found


def ranked(data: ServedEvaluation | str, figure: str, retries: int) -> Exchange[dict[str, Any]]:
    """What GET /leaderboards says of the data with this SHA-256, or of an evaluation's data."""
    sha256 = data if isinstance(data, str) else data.info["data"]
    path, query = f"/leaderboards/{sha256}", query_of({"figure": figure})
    call = ServiceCall("GET", path, query, seconds=EVALUATE_SECONDS)
    reply = yield from answered(identified(call), retries)
    found: dict[str, Any] = json.loads(reply.content)
    return found
