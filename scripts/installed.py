"""Imported first by every command: says in one line what to do where the packages are missing."""

import importlib.util
import sys

if not all(importlib.util.find_spec(name) for name in ("app", "typer", "numpy", "scipy")):
    sys.exit(
        "labelserve is not installed for this Python; "
        f"run 'make install' once, then: .venv/bin/python {sys.argv[0]}"
    )
