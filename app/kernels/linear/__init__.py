"""From a text to the scores of linear weights, and on to the labels to answer with."""
