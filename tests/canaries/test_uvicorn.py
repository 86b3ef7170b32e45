"""What app/server uses of uvicorn beyond its public interface; a failure names what changed."""

import inspect
from functools import partial

import pytest
import uvicorn
from uvicorn.protocols.http import httptools_impl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

pytestmark = pytest.mark.canary

CALLED = {
    "__init__": ["config", "server_state", "app_state", "_loop"],
    "connection_made": ["transport"],
    "connection_lost": ["exc"],
    "data_received": ["data"],
    "on_message_begin": [],
    "on_header": ["name", "value"],
    "on_headers_complete": [],
    "on_body": ["body"],
    "on_message_complete": [],
    "on_response_complete": [],
    "timeout_keep_alive_handler": [],
    "send_400_response": ["msg"],
    "_unset_keepalive_if_required": [],
}


def protocol() -> HttpToolsProtocol:
    async def app(scope: object, receive: object, send: object) -> None:
        """Answers nothing."""

    config = uvicorn.Config(app, http="httptools", ws="none", log_config=None)
    return HttpToolsProtocol(config, ServerState(), {}, _loop=object())  # type: ignore[arg-type]


@pytest.mark.parametrize("method", CALLED)
def test_the_protocol_has_the_methods_that_are_extended(method: str) -> None:
    found = getattr(HttpToolsProtocol, method, None)
    assert found is not None, f"HttpToolsProtocol.{method} is gone"
    arguments = list(inspect.signature(found).parameters)[1:]
    assert arguments == CALLED[method], f"HttpToolsProtocol.{method} takes {arguments} now"


def test_the_protocol_has_the_attributes_that_are_read() -> None:
    names = {"parser", "flow", "cycle", "headers", "client", "transport", "loop", "tasks"}
    names |= {"expect_100_continue", "timeout_keep_alive", "timeout_keep_alive_task"}
    gone = {name for name in names if not hasattr(protocol(), name)}
    assert not gone, f"HttpToolsProtocol has no {sorted(gone)} any more"
    assert hasattr(ServerState(), "total_requests"), "ServerState.total_requests is gone"
    assert hasattr(ServerState(), "default_headers"), "ServerState.default_headers is gone"


def test_a_request_that_begins_has_an_empty_url_and_no_headers() -> None:
    found = protocol()
    found.on_message_begin()
    assert (found.url, found.headers) == (b"", []), (
        "on_message_begin does not clear url and headers"
    )
    assert found.scope["headers"] is found.headers, "the scope has a copy of the headers now"


def test_status_lines_are_kept_by_number() -> None:
    assert STATUS_LINE[200] == b"HTTP/1.1 200 OK\r\n", "STATUS_LINE has another form"


def test_a_response_cycle_says_whether_it_is_complete() -> None:
    source = inspect.getsource(httptools_impl.RequestResponseCycle.__init__)
    assert "self.response_complete = False" in source, "response_complete is gone or renamed"


def test_a_protocol_may_be_given_as_a_partial() -> None:
    given = partial(HttpToolsProtocol)
    config = uvicorn.Config(protocol, http=given, ws="none", log_config=None)  # type: ignore[arg-type]
    config.load()
    assert config.http_protocol_class is given, "Config.http takes no callable any more"


def test_the_server_asks_on_tick_and_hands_signals_to_handle_exit() -> None:
    for method, arguments in {"on_tick": ["counter"], "handle_exit": ["sig", "frame"]}.items():
        found = list(inspect.signature(getattr(uvicorn.Server, method)).parameters)[1:]
        assert found == arguments, f"uvicorn.Server.{method} takes {found} now"
