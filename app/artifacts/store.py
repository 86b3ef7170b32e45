"""The store: models/NAME/VERSION/ folders that never change, and pointers to some of them."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from app.artifacts import folders
from app.artifacts.info import Artifact, Info
from app.artifacts.manifest import Manifest, manifest_bytes
from app.artifacts.npy import open_plain, write_array
from app.artifacts.tree import flat_arrays, part_tree
from app.artifacts.trials import KINDS, TrialKind, VersionTrial, end_trial, read_trial, write_trial
from app.artifacts.verification import open_artifact, peek_manifest
from app.artifacts.versions import is_name, is_version, next_version
from app.errors import (
    ConflictError,
    DamagedArtifactError,
    InvalidRequestError,
    ModelNotFoundError,
    errno_text,
)
from app.state import State

MAX_POINTER = 100
REMOVED = ".removed"
"""The newest version that was ever removed: no other gets its id, even if the clock went back."""


class Store:
    """All models of one folder. Names from outside are looked up in listings, never joined."""

    def __init__(self, models_dir: Path) -> None:
        self.path = models_dir

    def names(self) -> list[str]:
        """Every model with at least one version, by name."""
        found = [Path(entry.path) for entry in _folders(self.path) if is_name(entry.name)]
        return [folder.name for folder in found if _versions(folder)]

    def folder_names(self) -> list[str]:
        """Every folder that can be a model's, by name, with versions in it or without.

        OSError where the models folder cannot be listed, or is not there.
        """
        return [entry.name for entry in _listed(self.path) if is_name(entry.name)]

    def versions(self, name: str) -> list[str]:
        """The model's versions, oldest first."""
        return _versions(self._folder(name))

    def current(self, name: str) -> str | None:
        """The promoted version; None where none was promoted yet."""
        folder, before = self._folder(name), None
        while (pointed := _pointer(folder, name)) is not None:
            if pointed in _versions(folder):
                return pointed
            if pointed == before:
                raise DamagedArtifactError(f"{name}: current names a version that is not here")
            before = pointed  # look again: another was promoted meanwhile, and this one removed
        return None

    def resolve(self, reference: str) -> tuple[str, str]:
        """The name and version that `NAME` (its current version) or `NAME@VERSION` means."""
        name, at, asked = reference.partition("@")
        if name not in (names := self.names()):
            raise ModelNotFoundError(names)
        version = asked if at else self.current(name)
        if not at and version is None:
            known = ", ".join(f"{name}@{one}" for one in self.versions(name)) or "none"
            raise ModelNotFoundError([], instead=f"no current version of {name}, but {known}")
        if version not in (versions := self.versions(name)):
            raise ModelNotFoundError([f"{name}@{known}" for known in versions])
        return name, version

    def peek(self, name: str, version: str) -> Manifest:
        """The manifest alone, its files not looked at."""
        return peek_manifest(self.folder(name, version), f"{name}@{version}")

    def load(self, name: str, version: str) -> Artifact:
        """The version, every file verified, arrays memory-mapped and read-only."""
        folder = self.folder(name, version)
        return open_artifact(folder, name, version)

    def write(self, name: str, state: State, info: Info) -> str:
        """Write a new version and return its id; it is not promoted.

        A reader sees the whole version or none; a killed writer leaves a hidden folder that the
        next write or prune removes.
        """
        parent = self.writable(name)
        folders.clean(parent)
        with folders.unfinished(parent) as folder:
            fields = _fields(folder, state, info)
            with folders.locked(parent):
                return self._published(folder, parent, fields)

    def promote(self, name: str, version: str) -> None:
        """Make the version current, by one atomic rename."""
        parent = self._folder(name)
        with folders.locked(parent):
            self.folder(name, version)
            folders.write_file(parent / "current", f"{version}\n".encode())

    def trial(self, name: str, kind: TrialKind) -> VersionTrial | None:
        """The version that is tried as a shadow or a canary; None where none is."""
        folder = self._folder(name)
        found = read_trial(folder, kind)
        if found is not None and found.version not in _versions(folder):
            raise DamagedArtifactError(f"{name}: {kind} names a version that is not here")
        return found

    def begin_trial(self, name: str, kind: TrialKind, trial: VersionTrial) -> None:
        """Try a version on live traffic; ConflictError for the one that is current."""
        parent = self._folder(name)
        with folders.locked(parent):
            self.folder(name, trial.version)
            current = self.current(name)
            if current is None or current == trial.version:
                lone = f"has no current version of {name} beside it"
                why = "is current already" if current else lone
                raise ConflictError(f"{name}@{trial.version} {why}: a {kind} is another version")
            write_trial(parent, kind, trial)

    def end_trial(self, name: str, kind: TrialKind) -> None:
        """Try the version no longer."""
        end_trial(self._folder(name), kind)

    def trials_of(self, name: str, version: str) -> list[TrialKind]:
        """As what the version is tried now; a pointer that cannot be read names none."""
        tried: list[TrialKind] = []
        for kind in KINDS:
            with suppress(DamagedArtifactError):
                trial = self.trial(name, kind)
                tried += [kind] if trial and trial.version == version else []
        return tried

    def may_promote(self, name: str) -> bool:
        """Whether this process may write the pointer to the current version."""
        return os.access(self._folder(name), os.W_OK | os.X_OK)

    def remove(self, name: str, version: str) -> None:
        """Remove a version; the current one is refused, and one that is tried on live traffic."""
        parent = self._folder(name)
        with folders.locked(parent):
            folder = self.folder(name, version)
            if _pointer(parent, name) == version:
                raise ConflictError(f"{name}@{version} is current; promote another version first")
            if self.trials_of(name, version):
                raise ConflictError(
                    f"{name}@{version} is on trial; `labelserve models settle {name} --drop` ends "
                    "that"
                )
            if version == _newest_ever(parent):
                folders.write_file(parent / REMOVED, f"{version}\n".encode())
            folders.remove_folder(folder)

    def prune(self, name: str, keep: int) -> list[str]:
        """Remove all but the newest `keep` versions, the current one and those on trial."""
        if keep < 1:
            raise InvalidRequestError("prune keeps at least 1 version")
        folder = self._folder(name)
        folders.clean(folder)
        current = _pointer(folder, name)  # where it cannot be read, nothing is removed
        old = [version for version in self.versions(name)[:-keep] if version != current]
        old = [version for version in old if not self.trials_of(name, version)]
        return [version for version in old if self._is_removed(name, version)]

    def folder(self, name: str, version: str) -> Path:
        """Where the version's files are."""
        folder = self._folder(name)
        if version not in (versions := _versions(folder)):
            raise ModelNotFoundError([f"{name}@{known}" for known in versions])
        return folder / version

    def writable(self, name: str) -> Path:
        """The model's folder, made where it is not there; InvalidRequestError for other names."""
        if not is_name(name):
            raise InvalidRequestError(
                "a model's name is 1 to 64 of a-z 0-9 . _ - and starts with a letter or digit"
            )
        folder = self.path / name
        with folders.disk_errors(self.path):
            folders.make_folder(folder)
            for parent in (self.path, self.path.parent):  # another process may just have made them
                folders.sync_folder(parent)
        return folder

    def _published(self, folder: Path, parent: Path, fields: dict[str, Any]) -> str:
        """Give the folder, complete but for its manifest, the next id; that id."""
        while True:
            version = next_version(datetime.now(UTC), _newest_ever(parent))
            (folder / "manifest.json").unlink(missing_ok=True)
            created = datetime.now(UTC).isoformat(timespec="seconds")
            content = manifest_bytes({**fields, "version": version, "created": created})
            folders.write_file(folder / "manifest.json", content)
            if folders.publish(folder, parent / version):
                return version

    def _is_removed(self, name: str, version: str) -> bool:
        """Remove a version that was not needed when it was listed; False where that has changed."""
        try:
            self.remove(name, version)
        except (ConflictError, ModelNotFoundError):  # promoted, or removed, by another since
            return False
        return True

    def _folder(self, name: str) -> Path:
        for entry in _folders(self.path):
            if entry.name == name and is_name(name):
                return Path(entry.path)
        raise ModelNotFoundError(self.names())


def _folders(parent: Path) -> list[os.DirEntry[str]]:
    try:
        return _listed(parent)
    except FileNotFoundError:
        return []


def _listed(parent: Path) -> list[os.DirEntry[str]]:
    with os.scandir(parent) as entries:
        found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted(found, key=lambda entry: entry.name)


def _versions(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if is_version(name))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []  # removed since it was listed, or closed to us: as good as not there


def _newest(folder: Path) -> str | None:
    versions = _versions(folder)
    return versions[-1] if versions else None


def _newest_ever(folder: Path) -> str | None:
    """The newest version that is here or was removed."""
    try:
        removed = (folder / REMOVED).read_text("ascii", "replace").strip()
    except FileNotFoundError:
        removed = ""
    return max(_newest(folder) or "", removed if is_version(removed) else "") or None


def _pointer(folder: Path, name: str) -> str | None:
    """What the file `current` says; None where there is none."""
    try:
        with open_plain(folder / "current") as file:
            return file.read(MAX_POINTER).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except OSError as failed:
        raise DamagedArtifactError(f"{name}: current: {errno_text(failed)}") from None


def _fields(folder: Path, state: State, info: Info) -> dict[str, Any]:
    """Write every array into the folder; the manifest's fields but version and time."""
    arrays = {**flat_arrays(state), "training_counts.npy": np.asarray(info.training_counts)}
    if info.documents is not None:
        arrays["documents.npy"] = info.documents
    files = {file: write_array(folder / file, array) for file, array in arrays.items()}
    kept = info.document_histograms
    return {
        **({"document_histograms": kept} if kept else {}),
        "labels": len(info.training_counts),
        "state": part_tree(state),
        "files": files,
        "data": {"sha256": info.data_sha256, "counts": info.counts},
        "seed": info.seed,
        "recipe": info.recipe,
        "packages": info.packages,
        "timings": info.timings,
        "figures": _finite(info.figures),
        "golden": info.golden,
    }


def _finite(figures: Any) -> Any:
    """The same figures with null for what is not finite: JSON has no infinity."""
    if isinstance(figures, dict):
        return {name: _finite(value) for name, value in figures.items()}
    if isinstance(figures, list | tuple):
        return [_finite(value) for value in figures]
    if isinstance(figures, float) and not np.isfinite(figures):
        return None
    return figures
