"""What Dask imports in the workers started here: Ctrl-C is the command's, which ends them."""

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Ignore what a terminal sends to all processes of a command; Dask calls this at the start."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
