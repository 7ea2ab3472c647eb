"""What visitors could have the server write into its log, over and over, and what is therefore left out of it."""

import logging
from typing import Final

_ANSWERED: Final = "ASGI callable returned without completing handshake."
"""uvicorn says so of every WebSocket that is refused by an answer, which completes no handshake."""

_NO_TEXT: Final = "Invalid UTF-8 sequence received from client."
"""And so, with a traceback, of every frame that is no text; it ends that client's socket besides."""


class Quiet(logging.Filter):
    """Leaves out two messages of uvicorn's that tell of visitors and not of the server."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        return record.msg not in (_ANSWERED, _NO_TEXT)


QUIET: Final = Quiet()


def hush() -> None:
    """Has uvicorn leave them out, in this process; doing it again changes nothing."""
    logging.getLogger("uvicorn.error").addFilter(QUIET)
