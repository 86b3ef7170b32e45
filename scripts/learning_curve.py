"""Quality against the number of training documents, and what more of them would give."""

import installed  # noqa: F401

from app.cli.commands.learning_curve import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
