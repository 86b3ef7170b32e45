"""Small requests are answered without a task; nobody can tell it from the ordinary way."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from app.serving.keys import KeysFile
from tests.reliability.conftest import Started
from tests.reliability.connection import connected, request
from tests.reliability.servers import Server, lines, wait_until

PLANNED = [{"documents": ["x"]}, {"documents": ["x"], "top_k": 2}]
"""Asked first: what a query means is resolved in a thread, once."""

BODIES: dict[str, Any] = {
    "one text": {"documents": ["refund the invoice payment"]},
    "with an id": {"documents": [{"id": "7", "text": "paper jam"}], "top_k": 2},
    "four texts": {"documents": ["refund", "", "é İ ß 中文", "crash and restart"], "top_k": 2},
    "by name": {"documents": ["toner"], "model": "tiny"},
    "explained": {"documents": ["refund the invoice"], "explain": 2},
    "many texts": {"documents": ["refund", "paper"] * 20},
    "an unknown field": {"documents": ["refund"], "top": 1},
    "an unknown model": {"documents": ["refund"], "model": "nobody"},
    "no documents": {"documents": []},
    "two cuts": {"documents": ["refund"], "threshold": 0, "min_probability": 0.5},
    "no JSON": b'{"documents": ["refund"',
    "no UTF-8": b'{"documents": ["\xff"]}',
    "nothing": b"",
}
HEADS: dict[str, bytes] = {
    "plain": b"",
    "charset": b"Content-Type: application/json; charset=utf-8\r\n",
    "another type": b"Content-Type: text/plain\r\n",
    "encoded": b"Content-Encoding: gzip\r\n",
    "named": b"X-Request-ID: my-own.id\r\n",
    "traced": b"traceparent: 00-%s-%s-01\r\n" % (b"a" * 32, b"b" * 16),
}


def comparable(answer: tuple[int, dict[str, str], bytes]) -> Any:
    """All of an answer but its date and the request's number."""
    status, headers, body = answer
    own = headers.get("x-request-id", "") == "my-own.id"
    shown = {k: v for k, v in headers.items() if k not in ("date", "x-request-id")}
    named = re.sub(rb'"request_id": ?"[^"]*"', b"", body)
    shown["content-length"] = str(len(named))
    return status, shown, own, named


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("kind", HEADS)
def test_a_request_in_one_piece_gets_the_answer_of_one_in_two(
    server: Server, what: str, kind: str
) -> None:
    sent = request(BODIES[what], HEADS[kind])
    body_at = sent.index(b"\r\n\r\n") + 4
    with connected(server) as connection:
        for planned in PLANNED:
            connection.send(request(planned))
            assert connection.answer()[0] == 200
        connection.send(sent)
        at_once = connection.answer()
        connection.send(sent[: body_at + 1])
        time.sleep(0.02)  # the head and the first byte go their way alone
        connection.send(sent[body_at + 1 :])
        assert comparable(connection.answer()) == comparable(at_once)


def test_pipelined_requests_are_answered_in_their_order(server: Server) -> None:
    texts = ["refund the invoice", "paper jam", "crash and restart"]
    kinds: list[dict[str, Any]] = [{}, {"explain": 1}, {"top_k": 1}, {"nothing": 1}]
    asked = [
        {"documents": [{"id": str(number), "text": texts[number % 3]}], **kinds[number % 4]}
        for number in range(100)
    ]
    with connected(server) as connection:
        connection.send(b"".join(map(request, asked)))
        answers = [connection.answer() for _ in asked]
    for number, (status, _, body) in enumerate(answers):
        if number % 4 == 3:
            assert status == 422
        else:
            assert json.loads(body)["predictions"][0]["id"] == str(number)


def test_a_connection_closes_for_those_who_ask_for_it(server: Server) -> None:
    for start, head in [
        (b"POST /predict HTTP/1.1", b"Connection: close\r\n"),
        (b"POST /predict HTTP/1.0", b""),
    ]:
        with connected(server) as connection:
            connection.send(request(BODIES["one text"], head, start))
            status, headers, _ = connection.answer()
            assert (status, headers["connection"]) == (200, "close")
            assert connection.is_closed()


def test_a_client_that_waits_to_be_asked_is_asked(server: Server) -> None:
    sent = request(BODIES["one text"], b"Expect: 100-continue\r\n")
    body_at = sent.index(b"\r\n\r\n") + 4
    with connected(server) as connection:
        connection.send(sent[:body_at])
        assert connection.socket.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.send(sent[body_at:])
        assert connection.answer()[0] == 200


def test_what_is_no_http_is_refused_in_the_middle_of_a_body(server: Server) -> None:
    head = b"POST /predict HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(server) as connection:
        connection.send(head + b'5\r\n{"doc\r\nzz\r\n')
        assert connection.answer()[0] == 400
        assert connection.is_closed()


def test_each_request_is_counted_and_logged_once(started: Started) -> None:
    server = started()
    with connected(server) as connection:
        for _ in range(10):
            connection.send(request({"documents": ["refund", "paper"]}, HEADS["named"]))
            assert connection.answer()[1]["x-request-id"] == "my-own.id"
        connection.send(request({"documents": "refund"}))
        assert connection.answer()[0] == 422
    assert server.metric("labelserve_documents_total") == 20
    assert server.metric("labelserve_labels_per_document_count") == 20

    def logged() -> list[dict[str, Any]]:
        return [line for line in lines(server.log) if line.get("route") == "/predict"]

    wait_until(lambda: len(logged()) == 11)
    counts = {key: sum(line["status"] == key for line in logged()) for key in (200, 422)}
    assert counts == {200: 10, 422: 1}
    assert {line["documents"] for line in logged() if line["status"] == 200} == {2}


def test_keys_are_asked_for_and_their_limits_kept(started: Started, tmp_path: Path) -> None:
    keys = KeysFile(tmp_path / "keys.json")
    secrets = {
        200: keys.create(["predict"])[1],
        403: keys.create(["predict"], models=["others-*"])[1],
        401: "wrong",
    }
    server = started(auth="keys", api_keys_file=tmp_path / "keys.json")
    with connected(server) as connection:
        for status, secret in [*secrets.items()] * 2:  # the second time the query is resolved
            head = b"Authorization: Bearer %b\r\n" % secret.encode()
            connection.send(request({"documents": ["refund"], "model": "tiny"}, head))
            assert connection.answer()[0] == status
