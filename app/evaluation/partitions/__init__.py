"""An evaluation file by file: each is measured on its own, somewhere, and all are put together."""
