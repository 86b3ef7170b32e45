"""Files to documents: one file a format. Catalogue by name."""
