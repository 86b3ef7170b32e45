"""Whether a difference is one: intervals, tests."""
