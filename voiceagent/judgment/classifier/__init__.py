"""Narrow questions about a turn, answered in one call."""
