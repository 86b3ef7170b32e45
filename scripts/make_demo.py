"""Write the demo corpus: made-up support tickets, the same bytes every time."""

import installed  # noqa: F401

from app.cli.commands.make_demo import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
