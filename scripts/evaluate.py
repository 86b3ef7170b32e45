"""Judge a model, any system's scores, or annotators' label files on a labelled test set."""

import installed  # noqa: F401

from app.cli.commands.evaluate import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
