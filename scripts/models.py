"""The model store: list, show, verify, use, remove, prune, relabel."""

import installed  # noqa: F401

from app.cli.commands.models import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
