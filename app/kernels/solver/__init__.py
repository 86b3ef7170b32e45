"""Dual coordinate descent for sixteen labels at once."""
