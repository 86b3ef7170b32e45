"""Bytes of files and streams as lines of text."""
