"""What labelserve evaluate does with data in several files."""
