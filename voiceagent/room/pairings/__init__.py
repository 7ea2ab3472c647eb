"""The hosts that this one is paired with, kept beside the rooms."""
