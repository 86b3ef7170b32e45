"""fastText from text to the five best labels: its own features, one-vs-all loss."""

import os
import tempfile

import fasttext
from timed_rounds import corpus, one_by_one, run_rounds

(train, labels), (test, _) = corpus()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "train.txt")
    with open(path, "w") as file:
        for text, names in zip(train, labels, strict=True):
            marks = " ".join(f"__label__{name}" for name in names)
            file.write(f"{marks} {text.lower()}\n")
    epochs = 2  # for timing only: quality is measured with its training
    model = fasttext.train_supervised(path, loss="ova", epoch=epochs, thread=2, verbose=0)
lowered = [text.lower().replace("\n", " ") for text in test]
run_rounds(
    {
        "batch": lambda: model.predict(lowered, k=5),
        "one": lambda: one_by_one(
            lowered[:1000], lambda text: model.f.predict(text, 5, 0.0, "strict")
        ),
    },
    version="fasttext",
)
