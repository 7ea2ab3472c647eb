"""What became of answers with each person: heard, cut, never played, delivered, read."""
