"""`labelserve tune`: recipes tried within a budget of CPU time, the best of them trained."""
