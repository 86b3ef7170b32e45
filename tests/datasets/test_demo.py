"""The demo corpus: the same bytes, many labels, neither trivial nor hopeless."""

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from app.datasets.collection import Collection, load_collection
from app.datasets.demo.corpus import write_demo
from app.labels import LabelIndex

ROOT = Path(__file__).parents[2]
SHA256 = {"train.jsonl": "9a0be056e5a65468", "test.jsonl": "f00314d53ac36683"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return folder


@pytest.fixture(scope="module")
def parts(folder: Path) -> tuple[Collection, Collection]:
    return load_collection(folder / "train.jsonl"), load_collection(folder / "test.jsonl")


def test_the_bytes_never_change(folder: Path) -> None:
    for name, start in SHA256.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest().startswith(start)


def test_the_command_writes_the_same_files(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "scripts/make_demo.py", str(tmp_path / "new"), "--json", "-"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    assert json.loads(told) == {"train.jsonl": 3200, "test.jsonl": 800}
    for name in SHA256:
        assert (tmp_path / "new" / name).read_bytes() == (folder / name).read_bytes()


def test_labels_go_from_frequent_to_rare(parts: tuple[Collection, Collection]) -> None:
    train, test = parts
    counts = Counter(label for labels in train.label_sets for label in labels)
    assert len(train) >= 3000
    assert len(counts) >= 24
    assert max(counts.values()) > 300
    assert min(counts.values()) < 10
    assert {len(labels) for labels in train.label_sets} == {1, 2, 3, 4, 5}
    assert test.summary.labels == len(counts)
    assert not set(train.documents) & set(test.documents)
    assert not [text for text in train.documents if "{" in text or "|" in text]


def test_a_linear_machine_does_well_but_not_perfectly(parts: tuple[Collection, Collection]) -> None:
    train, test = parts
    labels, vectorizer = LabelIndex.of(train.label_sets), TfidfVectorizer()
    X, truth = vectorizer.fit_transform(train.documents), labels.truth(train.label_sets).toarray()
    unseen, expected = vectorizer.transform(test.documents), labels.truth(test.label_sets).toarray()
    found = expected.copy()
    for column in range(len(labels)):
        found[:, column] = LinearSVC(random_state=0).fit(X, truth[:, column]).predict(unseen)
    assert 0.80 < f1_score(expected, found, average="micro") < 0.92
