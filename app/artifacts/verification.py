"""Whether a version's folder holds exactly what its manifest says: cheap checks first, then bytes.

What a part makes of its arrays, and the golden documents, are checked by app/model.py.
"""

import os
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from app.artifacts.info import Artifact
from app.artifacts.manifest import Manifest, read_manifest
from app.artifacts.npy import check_plain, open_array, open_plain
from app.artifacts.tree import EXTRA_FILES, file_names, state_from
from app.errors import DamagedArtifactError, errno_text

MAX_MANIFEST_BYTES = 64 << 20


def open_artifact(folder: Path, name: str, version: str) -> Artifact:
    """The verified version in this folder."""
    place = f"{name}@{version}"
    manifest = peek_manifest(folder, place)
    try:
        _check_files(folder, manifest, place)
        _check_labels(manifest, place)
        files = _open_files(folder, manifest, place)
    except OSError as failed:  # removed or closed to us since the listing
        raise DamagedArtifactError(f"{place} cannot be read: {errno_text(failed)}") from None
    state = state_from(manifest.state, files)
    counts, documents = files["training_counts.npy"], files.get("documents.npy")
    return Artifact(name, version, manifest, state, counts, documents)


def peek_manifest(folder: Path, place: str) -> Manifest:
    """The manifest of this folder, valid in itself and of this version."""
    if folder.is_symlink():
        raise DamagedArtifactError(f"{place} is a symbolic link; only plain folders are read")
    try:
        with open_plain(folder / "manifest.json") as file:
            content = file.read(MAX_MANIFEST_BYTES + 1)
    except FileNotFoundError:
        raise DamagedArtifactError(
            f"{place} has no manifest.json: a copy is still under way, or was broken off"
        ) from None
    except OSError as failed:
        raise DamagedArtifactError(f"{place}: manifest.json: {errno_text(failed)}") from None
    if len(content) > MAX_MANIFEST_BYTES:
        raise DamagedArtifactError(f"{place}: manifest.json is over {MAX_MANIFEST_BYTES} bytes")
    manifest = read_manifest(content, place)
    if manifest.version != folder.name:
        raise DamagedArtifactError(f"{place}: manifest.json is that of another version")
    return manifest


def _open_files(folder: Path, manifest: Manifest, place: str) -> dict[str, NDArray[Any]]:
    """Every array, the small files first: most damage then shows early."""
    by_size = sorted(manifest.files.items(), key=lambda item: item[1].size)
    return {file: open_array(folder / file, expected, place) for file, expected in by_size}


def _check_files(folder: Path, manifest: Manifest, place: str) -> None:
    """No file too many or too few, all of them plain and of the right size."""
    present, listed = set(os.listdir(folder)) - {"manifest.json"}, set(manifest.files)
    named = [*file_names(manifest.state), *EXTRA_FILES & listed]
    if sorted(named) != sorted(listed) or "training_counts.npy" not in listed:
        raise DamagedArtifactError(f"{place}: manifest.json's parts and files do not agree")
    if extra := sorted(present - listed):
        raise DamagedArtifactError(f"{place} holds a file that is not its own: {extra[0]!r}")
    if missing := sorted(listed - present):
        raise DamagedArtifactError(
            f"{place} lacks {missing[0]}: {len(missing)} of its {len(listed)} files are missing"
        )
    for file, expected in manifest.files.items():
        check_plain(os.lstat(folder / file), expected.size, f"{place}: {file}")


def _check_labels(manifest: Manifest, place: str) -> None:
    """The label names and the training counts are as many as the manifest says."""
    for file in ("training_counts.npy", "labels_ends.npy"):
        if file in manifest.files and manifest.files[file].shape != [manifest.labels]:
            raise DamagedArtifactError(
                f"{place}: {file} is not for the {manifest.labels} labels of manifest.json"
            )
