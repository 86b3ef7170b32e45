"""Sums that metrics are computed from, chunk by chunk."""
