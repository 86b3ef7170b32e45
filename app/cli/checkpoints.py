"""Folders of trainings that are under way: what an interrupted one goes on from."""

import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from app.datasets.collection import Collection
from app.training.recipe import Recipe

FOLDER = ".checkpoints"


def checkpoint_folder(
    models_dir: Path, name: str, corpus: Collection, recipe: Recipe, seed: int
) -> Path:
    """Where this very training is kept until it is done."""
    found = corpus.summary
    what = repr((found.documents_sha256, found.corrections, len(corpus), recipe.as_dict(), seed))
    return models_dir / FOLDER / f"{name}-{sha256(what.encode()).hexdigest()[:12]}"


def empty_checkpoint(folder: Path) -> None:
    """Forget what was kept of a training, which is to start anew."""
    shutil.rmtree(folder, ignore_errors=True)


def remove_checkpoint(folder: Path) -> None:
    """Remove what was kept of a training that is done, and the folder of all if it was the last."""
    empty_checkpoint(folder)
    with suppress(OSError):
        folder.parent.rmdir()
