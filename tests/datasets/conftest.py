"""The corpus of cases.py as folders."""

from pathlib import Path

import pytest

from tests.datasets.cases import CORPUS


@pytest.fixture
def label_folders(tmp_path: Path) -> Path:
    root = tmp_path / "by-label"
    for id_, labels, text in CORPUS:
        for label in labels:
            (root / label).mkdir(parents=True, exist_ok=True)
            (root / label / f"{id_}.txt").write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def pair_folder(tmp_path: Path) -> Path:
    root = tmp_path / "pairs"
    root.mkdir()
    for id_, labels, text in CORPUS:
        (root / f"{id_}.txt").write_text(text, encoding="utf-8")
        if labels:
            (root / f"{id_}.labels").write_text("\n".join(labels), encoding="utf-8")
    return root
