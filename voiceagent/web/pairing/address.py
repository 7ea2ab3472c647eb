"""Addresses of hosts: what may be called with a key."""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

LONGEST: Final = 500


def checked(address: str) -> str:
    """The address without a slash at its end. Raises ValueError for one to which no key may be sent."""
    address = address.strip()
    if len(address) > LONGEST or not address.isascii() or any(letter <= " " for letter in address):
        raise ValueError("an address has at most 500 letters of ASCII and no spaces: write https://talk.example.org")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("no address of a server: write https://talk.example.org")
    if not 1 <= (parts.port or 1) <= 65_535:
        raise ValueError("the address names no port")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("keys and answers would go over the network unsealed: use https")
    return address.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
