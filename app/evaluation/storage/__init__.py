"""What an evaluation reads from disk and keeps there."""
