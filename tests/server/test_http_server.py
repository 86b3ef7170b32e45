"""Workers share one listener: what one of them does to it, all of them feel."""

import os
import socket

import pytest

from app.server.fast_path import NO_FAST_PATH
from app.server.http_server import DrainingServer, serve
from app.serving.service import Service
from app.settings import Settings


def test_a_worker_that_starts_lets_no_other_wait_in_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings()
    served: list[socket.socket] = []
    monkeypatch.setattr(DrainingServer, "run", lambda self, sockets: served.extend(sockets))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        with socket.socket(fileno=os.dup(listener.fileno())) as received:  # as by a new process
            serve(
                lambda: None,
                received,
                settings=settings,
                service=Service.of(settings),
                fast_path=NO_FAST_PATH,
            )
            assert len(served) > 1
            assert not os.get_blocking(listener.fileno())
            for one in served[1:]:
                one.close()
