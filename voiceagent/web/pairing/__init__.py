"""Paired hosts: two servers that show each other their questions and bring each other people's answers."""
