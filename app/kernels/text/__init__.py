"""Texts segmented into tokens, counted as n-grams and weighed by tf-idf."""
