"""omikuji (Parabel, 3 trees) behind scikit-learn's vectorizer, text to the five best labels."""

import os
import tempfile

import omikuji
from sklearn.feature_extraction.text import TfidfVectorizer
from timed_rounds import corpus, one_by_one, run_rounds
from xmc_file import row_pairs, write_xmc

(train, labels), (test, _) = corpus()
vectorizer = TfidfVectorizer()
features = vectorizer.fit_transform(train)
columns = {name: i for i, name in enumerate(sorted({n for names in labels for n in names}))}
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "train.txt")
    write_xmc(path, features, [[columns[n] for n in names] for names in labels], len(columns))
    model = omikuji.Model.train_on_data(path, n_threads=2)


def top_five(texts):
    """The five best labels of each text."""
    rows = vectorizer.transform(texts)
    return [model.predict(row_pairs(rows, i), top_k=5) for i in range(rows.shape[0])]


run_rounds(
    {
        "batch": lambda: top_five(test),
        "one": lambda: one_by_one(test[:1000], lambda t: top_five([t])),
    },
    version="omikuji",
)
