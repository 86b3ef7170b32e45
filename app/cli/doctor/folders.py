"""The folder that a path would be made in."""

from pathlib import Path


def nearest_folder(path: Path) -> Path:
    """The path itself, or the nearest folder above it that is there already."""
    absolute = path.absolute()
    return next(folder for folder in (absolute, *absolute.parents) if folder.is_dir())
