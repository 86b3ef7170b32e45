"""How much of the machine is used, and what is refused because of it."""
