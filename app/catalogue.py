"""Name → class, loaded on first use: only names listed in a catalogue can ever be loaded."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from app.errors import InvalidRequestError, MissingExtraError

EXTRAS = {
    "torch": "neural",
    "safetensors": "neural",
    "tokenizers": "neural",
    "pyarrow": "parquet",
    "openpyxl": "excel",
    "dask": "cluster",
    "distributed": "cluster",
    "fsspec": "remote",
}


def find(catalogue: Mapping[str, str], kind: str, what: str) -> Any:
    """The class or function behind a catalogue name; a clear error for an unknown name or extra."""
    if kind not in catalogue:
        known = ", ".join(sorted(catalogue))
        raise InvalidRequestError(f"no such {what}; accepted: {known}")
    module, _, name = catalogue[kind].partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        raise MissingExtraError(f"{what} {kind}", EXTRAS[missing.name]) from missing
