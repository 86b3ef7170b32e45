"""Processes that work on jobs, and what starts and watches them."""
