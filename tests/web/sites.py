"""A running service for the browser, and a tab in it that notices what should not happen."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.servers import Server

ROOT = Path(__file__).parents[2]
AXE = ".cache/npm/axe-core-*/node_modules/axe-core/axe.min.js"
SECONDS = 30
"""How long a browser may take for anything, on a machine that is busy with other things."""
GRAVE = ("serious", "critical")
FAILED_REQUEST = "Failed to load resource"
"""How Chromium's console begins where it tells of a status above 399, which `Tab` counts itself."""


@dataclass
class Site:
    """A service, the path a gateway serves it under, and a key of each scope where it has keys."""

    server: Server
    root_path: str = ""
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"{self.server.url}{self.root_path}/"


@dataclass
class Tab:
    """A tab of the browser that shows a site; `faults` is empty where all went well."""

    page: Any
    site: Site
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """`GET /models` …, without the root path and the query, in the order sent; no page files."""
    expected_statuses: set[int] = field(default_factory=set)
    """Statuses above 399 that the test brings about."""

    def __post_init__(self) -> None:
        self.page.set_default_timeout(SECONDS * 1000)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._note)
        self.page.on("response", self._judge)

    def _hear(self, message: Any) -> None:
        is_grave = message.type in ("error", "warning")
        if is_grave and not message.text.startswith(FAILED_REQUEST):
            self.faults.append(f"console: {message.text}")

    def _note(self, request: Any) -> None:
        if request.url.startswith(("data:", "blob:")):
            return
        if not request.url.startswith(self.site.url):
            self.faults.append(f"request to elsewhere: {request.url}")
        path = "/" + request.url.removeprefix(self.site.url).partition("?")[0].partition("#")[0]
        if path != "/" and not path.startswith("/web/"):
            self.requests.append(f"{request.method} {path}")

    def _judge(self, response: Any) -> None:
        if response.status >= 400 and response.status not in self.expected_statuses:
            self.faults.append(f"{response.status}: {response.url}")

    def open(self, view: str, key: str | None = None) -> Any:
        """Show `#/…` as whoever has this key, from the beginning; the page."""
        if key is not None:
            keep = f"sessionStorage.setItem('labelserve.key', {json.dumps(key)})"
            self.page.add_init_script(f"if (location.protocol === 'http:') {keep}")
        self.page.goto("about:blank")  # a new `#/…` alone would load nothing anew
        self.page.goto(f"{self.site.url}#/{view}")
        self.page.locator("main h1").first.wait_for()
        return self.page

    def assert_accessible(self) -> None:
        """No serious fault by axe-core, and nothing wider than the window."""
        found = sorted(ROOT.glob(AXE))
        if not found:
            pytest.skip("axe-core is not there: `make test` brings it where npm is")
        self.page.evaluate(found[-1].read_text(encoding="utf-8"))
        result = self.page.evaluate("axe.run()")
        faults = [
            f"{violation['id']}: {[node['html'] for node in violation['nodes']]}"
            for violation in result["violations"]
            if violation["impact"] in GRAVE
        ]
        assert faults == [], faults
        widths = "[document.documentElement.scrollWidth, innerWidth]"
        wide, window = self.page.evaluate(widths)
        assert wide <= window, (wide, window)
