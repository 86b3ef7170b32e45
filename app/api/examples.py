"""Bodies that the OpenAPI document shows, and that the page's tries begin with."""

import hashlib
import json
from typing import Any

TEXT = "My invoice was charged twice, I want a refund"
OTHER_TEXT = "The parcel never arrived"
TEST_SET = "".join(
    json.dumps({"text": text, "labels": [label]}) + "\n"
    for text, label in ((TEXT, "billing"), (OTHER_TEXT, "shipping"))
)
CALL = {"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": [TEXT]}]}
BODIES: dict[str, Any] = {
    "predict": {"documents": [TEXT], "top_k": 3, "explain": 3},
    "v2_infer": {**CALL, "parameters": {"top_k": 1}},
    "v2_infer_version": {**CALL, "parameters": {"top_k": 1}},
}
"""By operation; a field whose value only a running service knows is left to the page."""
PARAMETERS = {"sha256": hashlib.sha256(TEST_SET.encode()).hexdigest()}


def add_example(operation: dict[str, Any]) -> None:
    """Give an operation's parameters and body their examples; files are test sets."""
    for parameter in operation.get("parameters", []):
        if parameter["name"] in PARAMETERS:
            parameter["example"] = PARAMETERS[parameter["name"]]
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        if operation["operationId"] in BODIES:
            content["example"] = BODIES[operation["operationId"]]
        elif media_type == "application/octet-stream":
            content["example"] = TEST_SET
