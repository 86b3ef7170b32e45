"""Kernels for nearest neighbours by an inverted index."""
