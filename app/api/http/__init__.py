"""What every request passes: bounds on bodies, its context, its log line."""
