"""The request with the largest answer, or the most to read, of every route, for a wide model."""

import json
from typing import Any

from soak.client import NDJSON, prediction, request
from soak.wide_model import N_LABELS

MANY = 45
"""Documents with all labels: close to the most that an answer may hold."""
LONG_TEXT = "refund paper " * 70_000
ALL: dict[str, Any] = {"top_k": N_LABELS}
TEST_SET = b'{"text": "refund", "labels": ["label000001"]}\n'


def infer(n_documents: int, *, binary: bool = False) -> bytes:
    """The bytes of a request for all labels of so many documents, by tensors."""
    texts = ["refund"] * n_documents
    tensor = {"name": "text", "datatype": "BYTES", "shape": [n_documents], "data": texts}
    call = {"inputs": [tensor], "parameters": {**ALL, "binary_data_output": binary}}
    return request("/v2/models/wide/infer", json.dumps(call).encode())


def lines(n_documents: int) -> bytes:
    """The bytes of a stream that asks for all labels of so many documents."""
    return request(f"/predict?top_k={N_LABELS}", b'"refund"\n' * n_documents, NDJSON)


LARGEST: dict[str, tuple[bytes, int]] = {
    "many labels": (prediction(["refund"] * MANY, **ALL), 200),
    "one document's labels": (prediction(["refund"], **ALL), 200),
    "too many labels": (prediction(["refund"] * 60, **ALL), 422),
    "a large body": (prediction(["refund " * 1000] * 1000, top_k=1), 200),
    "a long text explained": (prediction([LONG_TEXT], top_k=5, explain=2), 200),
    "an unknown field": (prediction(["refund"] * 500_000, top=1), 422),
    "tensors": (infer(MANY), 200),
    "binary tensors": (infer(MANY, binary=True), 200),
    "lines": (lines(MANY), 200),
    "short lines": (request("/predict?top_k=1", b'"refund"\n' * 30_000, NDJSON), 200),
    "a long line": (request("/predict?top_k=1", json.dumps(LONG_TEXT).encode(), NDJSON), 200),
    "empty lines": (request("/predict", b"\n" * (8 << 20), NDJSON), 200),
    "a report": (request("/evaluate", TEST_SET, NDJSON), 200),
    "labels": (request("/models/wide/labels?q=1"), 200),
    "models": (request("/models"), 200),
    "figures": (request("/metrics"), 200),
    "the API's description": (request("/openapi.json"), 200),
    "the page about it": (request("/docs"), 200),
}
"""What is asked, and the status of its answer."""
