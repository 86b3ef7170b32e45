"""What is decided: one file a rule."""
