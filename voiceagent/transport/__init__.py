"""Lines to people."""
