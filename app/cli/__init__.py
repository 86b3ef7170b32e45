"""What the offline commands share: tables, progress, options."""
