"""Texts cut, counted and weighed."""
