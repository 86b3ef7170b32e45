"""Vectorizing on the workers of an engine: some megabytes of text a task."""
