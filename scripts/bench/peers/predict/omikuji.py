"""omikuji (Parabel, 3 trees) behind scikit-learn's vectorizer, text to the five best labels."""

import os
import tempfile
from itertools import pairwise

import omikuji
from sklearn.feature_extraction.text import TfidfVectorizer
from timed_rounds import corpus, one_by_one, run_rounds

(train, labels), (test, _) = corpus()
vectorizer = TfidfVectorizer()
features = vectorizer.fit_transform(train)
columns = {name: i for i, name in enumerate(sorted({n for names in labels for n in names}))}
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "train.txt")
    with open(path, "w") as file:
        file.write(f"{features.shape[0]} {features.shape[1]} {len(columns)}\n")
        for i, names in enumerate(labels):
            row = features[[i]]
            pairs = " ".join(f"{c}:{v:.6g}" for c, v in zip(row.indices, row.data, strict=True))
            file.write(f"{','.join(str(columns[name]) for name in names)} {pairs}\n")
    model = omikuji.Model.train_on_data(path, n_threads=2)


def top_five(texts):
    """The five best labels of each text."""
    rows = vectorizer.transform(texts)
    starts = rows.indptr
    return [
        model.predict(list(zip(rows.indices[a:b], rows.data[a:b], strict=True)), top_k=5)
        for a, b in pairwise(starts)
    ]


run_rounds(
    {
        "batch": lambda: top_five(test),
        "one": lambda: one_by_one(test[:1000], lambda t: top_five([t])),
    },
    version="omikuji",
)
