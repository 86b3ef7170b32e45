"""One file for a URL's first word."""
