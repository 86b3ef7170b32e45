"""What many tests share: a small made-up corpus, and a store with models trained on it."""

import json
import random
from pathlib import Path

import pytest

from app.artifacts.store import Store
from app.datasets.collection import Collection, load_collection

TOPICS = {
    "billing": "invoice charged refund payment card amount overdue receipt",
    "crash": "crash freezes restart error trace unexpected abort hangs",
    "login": "password login account locked reset token sign credentials",
    "shipping": "parcel delivery courier tracking late warehouse address box",
    "printer": "toner paper jam tray ink cartridge printer queue",
}
FILLER = "please help since yesterday our team cannot work and this is urgent thanks"


def write_corpus(file: Path, n_documents: int, seed: int = 0) -> Path:
    """Write documents of one to three topics as JSON lines; the same bytes for the same seed."""
    pick = random.Random(seed)
    with file.open("w", encoding="utf-8") as lines:
        for number in range(n_documents):
            labels = sorted(pick.sample(sorted(TOPICS), pick.choice([1, 1, 2, 3])))
            words = pick.sample(FILLER.split(), 6)
            for label in labels:
                words += pick.sample(TOPICS[label].split(), 3)
            pick.shuffle(words)
            record = {"id": str(number), "text": " ".join(words), "labels": labels}
            lines.write(json.dumps(record) + "\n")
    return file


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 documents with 5 labels."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "train.jsonl", 120)


@pytest.fixture(scope="session")
def corpus(corpus_file: Path) -> Collection:
    return load_collection(corpus_file)


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory, corpus: Collection) -> Path:
    """A models folder with `tiny`, a one-vs-rest model with every part. Copy it to change it."""
    from app.training.recipe import read_recipe
    from app.training.train import TrainingJob, train

    folder = tmp_path_factory.mktemp("models")
    trained = train(TrainingJob(corpus, read_recipe(None)))
    store = Store(folder)
    version = store.write("tiny", trained.classifier.state(), trained.info)
    store.promote("tiny", version)
    return folder
