"""Check hand-written rules, or apply them to a model as a new version."""

import installed  # noqa: F401

from app.cli.commands.rules import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
