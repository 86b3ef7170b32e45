"""Learning curves: quality against the number of training documents, and what more would give."""
