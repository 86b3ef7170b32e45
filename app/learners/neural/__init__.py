"""Networks: the only part that imports torch."""
