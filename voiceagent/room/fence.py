"""Blocks of untrusted text that the text itself cannot close."""

import hashlib
import re

_LABEL = re.compile(r"[^A-Za-z0-9_ -]")


def fence(label: str, text: str) -> str:
    """`text` between two marks that it cannot contain, for use in notes and instructions that a model reads.

    The marks carry a digest of the text, extended until the text holds no such mark: words of a person can therefore not end
    the block and pass for the host's. `label` names what the block holds; only its letters, digits, spaces, `_` and `-` are kept.
    """
    name = _LABEL.sub("", label).strip() or "text"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    folded = text.casefold()
    size = 8
    while digest[:size] in folded:
        size += 8
        if size > len(digest):
            digest = hashlib.sha256(digest.encode()).hexdigest()
            size = 8
    mark = f"{name} {digest[:size]}"
    return f"<<<{mark}\n{text}\n{mark}>>>"
