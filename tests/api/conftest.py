"""A client for an application over the tiny model, in this process."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.app import create_app
from app.serving.service import Service
from app.settings import Settings


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {}


@pytest.fixture
def log() -> BytesIO:
    return BytesIO()


Opened = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def opened(tiny_models: Path, tmp_path: Path, log: BytesIO) -> Opened:
    """`async with opened(max_documents=3) as client`: an application with these settings."""

    @asynccontextmanager
    async def client_of(**changes: Any) -> AsyncIterator[httpx.AsyncClient]:
        settings = Settings(**{"models_dir": tiny_models, "data_dir": tmp_path / "var", **changes})
        service = Service.of(settings)
        service.look()
        app = create_app(service, log_stream=log)
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        ):
            client.service = service  # type: ignore[attr-defined]
            yield client

    return client_of


@pytest.fixture
async def client(opened: Opened) -> AsyncIterator[httpx.AsyncClient]:
    async with opened() as client:
        yield client
