"""Hand-written rules: patterns over the words of a text that assign or forbid a label."""
