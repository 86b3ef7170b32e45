"""Our tf-idf on the benchmark's texts."""

from timed_rounds import corpus, run_rounds

from app.vectorizers.tfidf import Tfidf

(train, _), (test, _) = corpus()
fitted = Tfidf()
fitted.fit_transform(train)
fitted.transform(test[:10])
run_rounds(
    {
        "fit_transform": lambda: Tfidf().fit_transform(train),
        "transform": lambda: fitted.transform(test),
    },
    version="labelserve",
)
