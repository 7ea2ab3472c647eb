"""Hosts' door: pages, signalling and streams for browsers."""
