"""Search recipes within a budget of CPU time and train the best of them."""

import installed  # noqa: F401

from app.cli.commands.tune import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
