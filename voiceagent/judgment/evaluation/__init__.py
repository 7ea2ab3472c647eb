"""Measuring a speak policy on labelled turns."""
