"""Methods that learn nothing from documents: what a person wrote is all they have."""
