"""What to train, chosen by held-out documents: candidates, trials on shared folds, the choice."""
