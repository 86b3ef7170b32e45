"""Kernels for learners that ask whether a term is there: decision trees."""
