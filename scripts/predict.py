"""Label the documents of a file with a model of the store."""

import installed  # noqa: F401

from app.cli.commands.predict import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
