"""Train a model from a labelled corpus and put it into the store."""

import installed  # noqa: F401

from app.cli.commands.train import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
