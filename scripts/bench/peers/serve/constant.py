"""uvicorn alone with a constant answer: what no service on it can go below."""

import json
import os
import sys
from pathlib import Path

import uvicorn

body = Path(os.environ["LABELSERVE_BENCH_SERVE"], "answer.json").read_bytes()
json.loads(body)
headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]


async def app(scope, receive, send):
    """Read the body, send the answer."""
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


uvicorn.run(
    app,
    host="127.0.0.1",
    port=int(sys.argv[1]),
    loop="uvloop",
    http="httptools",
    lifespan="off",
    access_log=False,
    log_level="warning",
)
