"""Versions that are tried on live traffic, and whether its documents are still the usual ones."""
