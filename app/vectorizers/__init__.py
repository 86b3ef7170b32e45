"""From texts to features. Catalogue by name; each vectorizer loads on first use."""

from app.catalogue import find
from app.vectorizers.base import Vectorizer

VECTORIZERS = {
    "tfidf": "app.vectorizers.tfidf:Tfidf",
    "ready-made": "app.vectorizers.ready_made:ReadyMade",
    "sequences": "app.vectorizers.sequences:Sequences",
    "wordpieces": "app.vectorizers.wordpieces:Wordpieces",
}


def vectorizer_class(kind: str) -> type[Vectorizer]:
    """The class behind a catalogue name."""
    vectorizer: type[Vectorizer] = find(VECTORIZERS, kind, "vectorizer")
    return vectorizer
