"""Two systems side by side."""
