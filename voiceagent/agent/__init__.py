"""The agent in a room: what it reads, how it answers, how it is stopped."""
