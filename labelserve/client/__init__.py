"""Asking a running service: nothing here imports `app`, numpy or scikit-learn."""
