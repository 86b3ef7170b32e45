"""`python -m app.main`: settings in, service out; the only place where parts are wired together."""

import os
import sys

import uvicorn

from app.api.app import create_app
from app.errors import SettingsError
from app.serving.service import Service
from app.settings import Settings


def main() -> None:
    """Serve until told to stop."""
    try:
        settings = Settings.from_environment(os.environ)
    except SettingsError as error:
        sys.exit(f"labelserve cannot start: {error}")
    config = uvicorn.Config(
        create_app(Service.of(settings)), host=settings.host, port=settings.port, access_log=False
    )
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main()
