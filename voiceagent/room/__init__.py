"""Facts in order, and who is told."""
