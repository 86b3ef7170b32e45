"""A State as a tree of names beside flat files, and back."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from app.artifacts.manifest import Part
from app.state import State

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
EXTRA_FILES = {"training_counts.npy", "documents.npy"}
"""Arrays of a model that belong to no part."""


def part_tree(state: State) -> dict[str, Any]:
    """The state without its arrays' values, in the manifest's form."""
    return {
        "kind": state.kind,
        "settings": state.settings,
        "arrays": sorted(state.arrays),
        "parts": {name: part_tree(part) for name, part in state.parts.items()},
    }


def flat_arrays(state: State) -> dict[str, NDArray[Any]]:
    """File name → array for the state and all its parts.

    >>> import numpy as np
    >>> part = State("tfidf", arrays={"idf": np.ones(1)})
    >>> list(flat_arrays(State("member", parts={"vectorizer": part})))
    ['vectorizer.idf.npy']
    """
    files: dict[str, NDArray[Any]] = {}
    for path, array in _walk(state, ""):
        file = f"{path}.npy"
        if file in files or file in EXTRA_FILES or len(file) > 255:
            raise ValueError(f"the array {path} needs another name")
        files[file] = array
    return files


def file_names(part: Part, path: str = "") -> list[str]:
    """The files that the manifest's tree asks for."""
    own = [f"{path}{name}.npy" for name in part.arrays]
    below = [file_names(child, f"{path}{name}.") for name, child in part.parts.items()]
    return own + [file for files in below for file in files]


def state_from(part: Part, files: Mapping[str, NDArray[Any]], path: str = "") -> State:
    """The state of `part_tree` and `flat_arrays` again."""
    return State(
        part.kind,
        dict(part.settings),
        {name: files[f"{path}{name}.npy"] for name in part.arrays},
        {name: state_from(child, files, f"{path}{name}.") for name, child in part.parts.items()},
    )


def _walk(state: State, path: str) -> Iterator[tuple[str, NDArray[Any]]]:
    for name in [*state.arrays, *state.parts]:
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot name an array or a part: letters, digits, _ - .")
    for name, array in state.arrays.items():
        yield f"{path}{name}", array
    for name, part in state.parts.items():
        yield from _walk(part, f"{path}{name}.")
