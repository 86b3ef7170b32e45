"""The console script `labelserve`, and `python -m labelserve`."""

import sys
from importlib import import_module

from labelserve.own_app import require_own_app


def main() -> None:
    """Run the command, or say in a sentence that another package hides it."""
    try:
        require_own_app()
    except ImportError as hidden:
        sys.exit(str(hidden))
    import_module("app.cli.labelserve").main()


if __name__ == "__main__":
    main()
