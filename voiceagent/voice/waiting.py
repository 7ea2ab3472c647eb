"""Replies that wait for their turn to sound: urgent ones first, then in order, and none behind one without words."""

from collections.abc import Iterator
from typing import Final

from voiceagent.room.reply import Reply

MOST: Final = 64
"""Replies that may wait in one room."""


class Waiting:
    """One room's queue. A reply whose agent is still thinking holds up none that has something to say."""

    def __init__(self) -> None:
        self._replies: list[Reply] = []

    def __iter__(self) -> Iterator[Reply]:
        return iter(self._replies)

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def full(self) -> bool:
        """Whether no more are taken."""
        return len(self._replies) >= MOST

    def add(self, reply: Reply) -> None:
        """Queues a reply behind those of its kind."""
        place = sum(other.urgent for other in self._replies) if reply.urgent else len(self._replies)
        self._replies.insert(place, reply)

    def take(self) -> Reply | None:
        """The next whose turn it can be: it has words, or will never have any. It waits no longer."""
        for reply in self._replies:
            if reply.text or reply.ended:
                self._replies.remove(reply)
                return reply
        return None

    def first(self) -> Reply | None:
        """The one that has words, of those that wait: its turn comes next."""
        return next((reply for reply in self._replies if reply.text and reply.cancelled is None), None)

    def find(self, reply_id: str) -> Reply | None:
        """The reply of this id, if it waits."""
        return next((reply for reply in self._replies if reply.id == reply_id), None)

    def clear(self) -> list[Reply]:
        """Takes out all."""
        gone, self._replies = self._replies, []
        return gone
