"""The figures as JSON, tables and a page."""
