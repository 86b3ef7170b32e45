"""What a training will need in memory, before it begins."""
