"""How cuts are found on held-out scores."""
