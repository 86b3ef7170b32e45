"""Which terms tell labels apart: feature selection of Yang and Pedersen (ICML 1997)."""
