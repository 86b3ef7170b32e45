"""Evaluations over HTTP: the query, handing in, what is answered about one, its events."""
