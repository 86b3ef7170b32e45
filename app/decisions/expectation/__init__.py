"""What cuts are expected to reach on new documents."""
