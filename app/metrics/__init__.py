"""Quality of predictions, as pure functions of scores or decisions and truth."""
