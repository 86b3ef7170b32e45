"""Agreement of annotators: label sets of the same documents, none of which is the truth."""
