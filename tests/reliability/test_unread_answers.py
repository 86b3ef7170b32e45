"""Answers that nobody reads: cut after a time, and bounded in what they hold all together."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from soak.wide_model import N_LABELS, store_wide

from tests.reliability.connection import request
from tests.reliability.servers import Server, start, wait_until

MEBIBYTE = 1 << 20
PATIENCE = 3
UNSENT = 16 * MEBIBYTE
MANY = 16  # documents, whose labels make an answer of 13 MB
LINE = b'"refund"\n'
CALL = {
    "inputs": [{"name": "text", "datatype": "BYTES", "shape": [MANY], "data": ["refund"] * MANY}],
    "parameters": {"top_k": N_LABELS},
}
COLLECTING = "import app.serving.service; app.serving.service.COLLECT_SECONDS = 1"
"""Memory goes back to the system every minute; so long no test waits."""
TYPE = b"Content-Type: application/x-ndjson\r\n"
TEST_SET = b'{"text": "refund", "labels": ["label000001"]}\n' * 5
LARGE = {
    "predict": request({"documents": ["refund"] * MANY, "top_k": N_LABELS}),
    "tensors": request(CALL, start=b"POST /v2/models/wide/infer HTTP/1.1"),
    "lines": request(LINE * MANY, TYPE, b"POST /predict?top_k=%d HTTP/1.1" % N_LABELS),
    "report": request(TEST_SET, TYPE, b"POST /evaluate HTTP/1.1"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits only a little for readers, and keeps little for them."""
    folder = tmp_path_factory.mktemp("wide")
    store_wide(folder / "models")
    settings = {"request_seconds": PATIENCE, "max_unsent_bytes": UNSENT}
    found = start(folder, models_dir=folder / "models", patch=COLLECTING, **settings)
    yield found
    found.stop()


@pytest.fixture
def unread(server: Server) -> Iterator[list[socket.socket]]:
    connections: list[socket.socket] = []
    yield connections
    for connection in connections:
        connection.close()


def asked(server: Server, content: bytes, *, buffer: int = 4096) -> socket.socket:
    """A connection that has asked, and takes next to nothing of the answer by itself."""
    host, port = server.url.removeprefix("http://").split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(60)
    connection.connect((host, int(port)))
    connection.sendall(content)
    return connection


def closing(content: bytes) -> bytes:
    """The request of one who wants the connection closed behind the answer."""
    return content.replace(b"Host:", b"Connection: close\r\nHost:")


def read_all(connection: socket.socket) -> bytes:
    """What there is until the connection ends."""
    pieces = []
    try:
        while piece := connection.recv(MEBIBYTE):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def cut_answers(server: Server) -> float:
    return server.metric('labelserve_rejected_total{reason="unread"}')


def test_answers_that_nobody_reads_are_cut_and_leave_nothing(
    server: Server, unread: list[socket.socket]
) -> None:
    kinds = [kind for kind in LARGE if kind != "report"] * 3
    with ThreadPoolExecutor(len(kinds)) as clients:  # to make answers takes memory, too
        readers = [asked(server, closing(LARGE[kind]), buffer=MEBIBYTE) for kind in kinds]
        list(clients.map(read_all, readers))
    unread += readers
    before, n_cut = server.memory, cut_answers(server)
    silent = [asked(server, closing(LARGE[kind])) for kind in kinds]
    unread += silent
    wait_until(lambda: cut_answers(server) > n_cut)
    wait_until(lambda: server.metric("labelserve_in_flight") == 1)
    answers = list(map(read_all, silent))
    refused = [answer for answer in answers if not answer.startswith(b"HTTP/1.1 200")]
    assert any(b"too many large answers" in answer for answer in refused)
    assert cut_answers(server) == n_cut + len(answers) - len(refused)
    assert max(map(len, answers)) < 12 * MEBIBYTE
    wait_until(lambda: server.memory - before < 2 * UNSENT)


def test_a_report_that_nobody_reads_is_cut(server: Server, unread: list[socket.socket]) -> None:
    n_cut = cut_answers(server)
    unread.append(asked(server, LARGE["report"]))
    wait_until(lambda: cut_answers(server) == n_cut + 1)


def test_while_answers_wait_small_ones_go_on_and_large_ones_are_refused(
    server: Server, unread: list[socket.socket]
) -> None:
    body = {"documents": ["refund"] * MANY, "top_k": N_LABELS}
    n_cut = cut_answers(server)
    with server.client() as client:

        def large_refused() -> bool:
            """Asked behind an answer that nobody reads, a new one each time: each is cut soon."""
            unread.append(asked(server, LARGE["predict"]))
            return client.post("/predict", json=body).status_code == 503

        assert client.post("/predict", json=body).status_code == 200
        wait_until(large_refused)
        for _ in range(20):
            small = client.post("/predict", json={"documents": ["refund"], "top_k": 3})
            assert small.status_code == 200
            assert client.get("/health/live").status_code == 200
        wait_until(lambda: server.metric("labelserve_in_flight") == 1)
        assert cut_answers(server) > n_cut
        assert client.post("/predict", json=body).status_code == 200


def test_who_reads_slowly_but_steadily_gets_everything(
    server: Server, unread: list[socket.socket]
) -> None:
    connection = asked(server, closing(LARGE["predict"]))
    unread.append(connection)
    n_cut, answer, end = cut_answers(server), b"", time.monotonic() + 1.5 * PATIENCE
    while time.monotonic() < end:
        answer += connection.recv(MEBIBYTE // 4)
        time.sleep(0.1)
    answer += read_all(connection)
    predictions = json.loads(answer.partition(b"\r\n\r\n")[2])["predictions"]
    assert [len(one["labels"]) for one in predictions] == [N_LABELS] * MANY
    assert cut_answers(server) == n_cut


def test_a_client_may_send_all_its_lines_before_it_reads(
    server: Server, unread: list[socket.socket]
) -> None:
    start = b"POST /predict?top_k=%d HTTP/1.1\r\nHost: here\r\n" % 2000
    head = start + TYPE + b"Transfer-Encoding: chunked\r\n\r\n"
    connection = asked(server, head, buffer=65_536)
    unread.append(connection)
    line = b'"refund%b"\n' % (b" " * 990)  # fast enough for one who sends
    chunk = b"%x\r\n%b\r\n" % (len(line), line)
    end, sent = time.monotonic() + 1.5 * PATIENCE, 0
    while time.monotonic() < end:
        connection.sendall(chunk * 3)
        sent += 3
        time.sleep(0.2)
    connection.sendall(b"0\r\n\r\n")
    deadline = time.monotonic() + 60
    answer = b""
    while not answer.endswith(b"0\r\n\r\n") and time.monotonic() < deadline:
        answer += connection.recv(MEBIBYTE)
    assert answer.count(b'{"labels":[') == sent
    assert httpx.get(f"{server.url}/health/live").status_code == 200
