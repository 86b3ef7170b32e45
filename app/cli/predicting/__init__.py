"""What labelserve predict does, for one file and for many."""
