"""Comparisons and leaderboards of kept evaluations, each in a process of its own."""
