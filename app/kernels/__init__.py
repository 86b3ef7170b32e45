"""The compiled inner loops, each beside a plain version with the same results."""
