"""A client of the gateway: one request a call, over one connection that is kept."""

import http.client
import json
from dataclasses import dataclass
from typing import Any

TEXT = "I was charged twice for my order, and the courier left the parcel in the rain."


@dataclass(frozen=True)
class Answer:
    """Status, headers in lower case, and body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Client:
    """Asks one address; reconnects after any failure, never repeats a request itself."""

    def __init__(self, host: str, port: int, key: str = "", seconds: float = 60) -> None:
        self._address = (host, port)
        self._key = key
        self._seconds = seconds
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> Answer:
        """Send one request; failures of the connection are the caller's."""
        headers = {"Content-Type": kind} if kind else {}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self._address, timeout=self._seconds)
        try:
            self._connection.request(method, path, body, headers)
            got = self._connection.getresponse()
            names = {name.lower(): value for name, value in got.getheaders()}
            return Answer(got.status, names, got.read())
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def predict(self, documents: list[str], **more: Any) -> Answer:
        """Labels of documents."""
        body = json.dumps({"documents": documents, **more}).encode()
        return self.ask("POST", "/predict", body, "application/json")

    def version(self) -> str:
        """The version that answers."""
        return str(self.predict([TEXT]).json["version"])

    def status(self, path: str) -> int:
        """The status of a path, 0 where nothing answers."""
        try:
            return self.ask("GET", path).status
        except (OSError, http.client.HTTPException):
            return 0

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
