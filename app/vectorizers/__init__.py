"""From texts to features. Catalogue by name; each vectorizer loads on first use."""

VECTORIZERS = {
    "tfidf": "app.vectorizers.tfidf:Tfidf",
    "union": "app.vectorizers.union:Union",
    "ready-made": "app.vectorizers.ready_made:ReadyMade",
    "sequences": "app.vectorizers.sequences:Sequences",
    "wordpieces": "app.vectorizers.wordpieces:Wordpieces",
}
