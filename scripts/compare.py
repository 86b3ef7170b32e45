"""Compare two models (or files of scores) on the same test set, with tests of significance."""

import installed  # noqa: F401

from app.cli.commands.compare import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
