"""Who is told of a feed's lines besides its readers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from voiceagent.room.line import FeedEvent


def _of_line(line: FeedEvent) -> None:
    """Nobody is told."""


def _of_publishing(line: FeedEvent, now: int) -> None:
    """Nobody is told."""


def _of_loss(lines: int) -> None:
    """Nobody is told."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Called at once, and so none of these may wait, or raise.

    `published`: a line and clock.now(), before it is stored. `stored`: a durable line, once it is, with its number. `dropped`:
    how many lines a reader did not get.
    """

    published: Callable[[FeedEvent, int], None] = _of_publishing
    stored: Callable[[FeedEvent], None] = _of_line
    dropped: Callable[[int], None] = _of_loss


UNWATCHED: Final = Watch()
