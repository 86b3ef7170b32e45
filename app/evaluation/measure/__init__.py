"""Chunks of scores and truth in, figures out."""
