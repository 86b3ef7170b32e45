"""Folders of trainings that are under way: what an interrupted one goes on from."""

import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.datasets.collection import Collection
from app.training.recipe import Recipe

FOLDER = ".checkpoints"


def checkpoint_folder(models_dir: Path, name: str, known: Any) -> Path:
    """Where a training is kept until it is done; `known` tells it from all others of the name."""
    return models_dir / FOLDER / f"{name}-{sha256(repr(known).encode()).hexdigest()[:12]}"


def known_documents(corpus: Collection, recipe: Recipe, seed: int) -> Any:
    """What tells a training by its documents."""
    found = corpus.summary
    return found.documents_sha256, found.corrections, len(corpus), recipe.as_dict(), seed


def empty_checkpoint(folder: Path) -> None:
    """Forget what was kept of a training, which is to start anew."""
    shutil.rmtree(folder, ignore_errors=True)


def remove_checkpoint(folder: Path) -> None:
    """Remove what was kept of a training that is done, and the folder of all if it was the last."""
    empty_checkpoint(folder)
    with suppress(OSError):
        folder.parent.rmdir()
