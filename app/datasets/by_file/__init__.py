"""A data set read file by file, each somewhere, and put together again."""
