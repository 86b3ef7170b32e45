"""What a service does beside answering: counting what has ended, removing what is too much."""
