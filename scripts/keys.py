"""API keys: create, list, revoke."""

import installed  # noqa: F401

from app.cli.commands.keys import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
