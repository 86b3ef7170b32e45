"""From a text to the scores of linear weights, and the labels to answer with."""
