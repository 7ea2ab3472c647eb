"""Whether the agent speaks, and what it has in mind."""
