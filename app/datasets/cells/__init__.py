"""Cells of a label column → label names: separators, lists, ids."""
