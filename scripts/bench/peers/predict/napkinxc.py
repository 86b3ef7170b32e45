"""napkinXC (PLT) behind scikit-learn's vectorizer, text to the five best labels."""

import tempfile

from napkinxc.models import PLT
from sklearn.feature_extraction.text import TfidfVectorizer
from timed_rounds import corpus, one_by_one, run_rounds

(train, labels), (test, _) = corpus()
vectorizer = TfidfVectorizer()
features = vectorizer.fit_transform(train)
columns = {name: i for i, name in enumerate(sorted({n for names in labels for n in names}))}
folder = tempfile.mkdtemp()
model = PLT(folder, threads=1, verbose=False)
model.fit(features, [[columns[name] for name in names] for names in labels])


def top_five(texts):
    """The five best labels of each text."""
    return model.predict(vectorizer.transform(texts), top_k=5)


run_rounds(
    {
        "batch": lambda: top_five(test),
        "one": lambda: one_by_one(test[:1000], lambda t: top_five([t])),
    },
    version="napkinxc",
)
