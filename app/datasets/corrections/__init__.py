"""Label faults that a review found, put right when the data is read."""
