"""Give a model new decisions, curve and calibration from a labelled set, without retraining."""

import installed  # noqa: F401

from app.cli.commands.retune import app
from app.cli.terminal import run

if __name__ == "__main__":
    run(app)
