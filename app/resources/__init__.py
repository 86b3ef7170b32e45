"""What the machine has: how much memory is left, and files that stand in for it."""
