"""Scores of training documents by models that were not fitted to them."""
