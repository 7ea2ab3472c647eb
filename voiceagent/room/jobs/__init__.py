"""Background jobs of agents as the room keeps them."""
