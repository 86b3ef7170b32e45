"""Fourteen ways to damage a version of a model (R11); each takes the folder of a good copy.

The tests of artifacts do the same to a version and read what is said of it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from app.artifacts.manifest import checksum
from app.artifacts.npy import header_bytes

WEIGHTS = "member0.learner.weights.npy"


def copy_of(good: Path, folder: Path) -> None:
    """Copy a version to another folder, whose name becomes its own."""
    shutil.copytree(good, folder)
    rewrite(folder, version=folder.name)


def rewrite(folder: Path, **fields: Any) -> None:
    """Change the manifest and seal it again, as a forger would."""
    manifest = {**json.loads((folder / "manifest.json").read_text()), **fields}
    manifest["checksum"] = checksum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def vouch(folder: Path, content: bytes, **facts: Any) -> None:
    """Put other weights in place, and a manifest that vouches for them."""
    (folder / WEIGHTS).write_bytes(content)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    digest = hashlib.sha256(content).hexdigest()
    files[WEIGHTS] |= {"size": len(content), "sha256": digest, **facts}
    rewrite(folder, files=files)


def truncated(folder: Path) -> None:
    """Half of the weights."""
    os.truncate(folder / WEIGHTS, (folder / WEIGHTS).stat().st_size // 2)


def one_byte_short(folder: Path) -> None:
    """All but the last byte."""
    os.truncate(folder / WEIGHTS, (folder / WEIGHTS).stat().st_size - 1)


def bit_flip(folder: Path) -> None:
    """One bit in the middle."""
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / WEIGHTS).write_bytes(content)


def zeroed_page(folder: Path) -> None:
    """Zeros where a page of weights was."""
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[4096:8192] = bytes(4096)
    (folder / WEIGHTS).write_bytes(content)


def trailing_bytes(folder: Path) -> None:
    """Four bytes too many."""
    with (folder / WEIGHTS).open("ab") as file:
        file.write(b"more")


def missing_file(folder: Path) -> None:
    """A file too few."""
    (folder / "labels_ends.npy").unlink()


def extra_file(folder: Path) -> None:
    """A file too many."""
    (folder / "weights.pkl").write_bytes(b"more")


def wrong_manifest(folder: Path) -> None:
    """The manifest of another version."""
    rewrite(folder, version="20000101T000000-000000")


def label_count(folder: Path) -> None:
    """A label more than there are names."""
    labels = json.loads((folder / "manifest.json").read_text())["labels"]
    rewrite(folder, labels=labels + 1)


def future_format(folder: Path) -> None:
    """A format that is not known yet."""
    rewrite(folder, format=7, packages={"labelserve": "9.1.0"}, novelty={})


def symlink_out(folder: Path) -> None:
    """A link in place of the weights."""
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).symlink_to("/dev/zero")


def terabytes(folder: Path) -> None:
    """A header that claims terabytes."""
    shape = [20_000, 2_000_000_000_000]
    head = header_bytes("<f4", shape, is_fortran=False)
    vouch(folder, head + (folder / WEIGHTS).read_bytes()[128:], shape=shape)


def nan_weights(folder: Path) -> None:
    """A weight that is no number, vouched for."""
    content = (folder / WEIGHTS).read_bytes()
    vouch(folder, content[:-4] + np.array([np.nan], np.float32).tobytes())


def copy_under_way(folder: Path) -> None:
    """No manifest yet, and half of the weights."""
    (folder / "manifest.json").unlink()
    truncated(folder)


DAMAGES: tuple[Callable[[Path], None], ...] = (
    truncated,
    one_byte_short,
    bit_flip,
    zeroed_page,
    trailing_bytes,
    missing_file,
    extra_file,
    wrong_manifest,
    label_count,
    future_format,
    symlink_out,
    terabytes,
    nan_weights,
    copy_under_way,
)
