"""Other people's words as a terminal or a picture may show them."""

from typing import Final

_JOINER: Final = "\u200d"  # families of emoji are written with it
_UNSEEN: Final = "\ufffd"


def legible(text: str) -> str:
    """The text on one line, with a sign in place of what would steer a terminal, turn the writing round, or cannot be written."""
    return "".join(
        one if one.isprintable() or one == _JOINER else " " if one.isspace() else _UNSEEN for one in text.replace("\r\n", "\n")
    )
