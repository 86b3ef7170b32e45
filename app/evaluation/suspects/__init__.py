"""Which labels of a data set are probably missing, and which are probably wrong."""
