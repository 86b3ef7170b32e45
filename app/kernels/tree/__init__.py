"""Label trees: scored by beam search, grown by clustering."""
