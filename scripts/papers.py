"""Give the papers' tables again: the published figure beside ours, cell by cell."""

import installed  # noqa: F401

from app.cli.commands.papers import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
