"""A worker that preloads this has no package `app`, as one where labelserve is not installed."""

import sys


def dask_setup(worker: object) -> None:
    """Called by Dask in the worker, and by nobody who only imports this."""
    sys.path[:] = [place for place in sys.path if "site-packages" in place or "/lib/" in place]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
    for name in [name for name in sys.modules if name.partition(".")[0] == "app"]:
        del sys.modules[name]
    sys.modules["app"] = None  # type: ignore[assignment]
