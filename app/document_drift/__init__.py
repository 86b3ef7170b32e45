"""Whether documents are still like those that a model was tuned on: histograms, no texts."""
