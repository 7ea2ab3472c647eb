"""What a client has put into the conversation and nobody has answered: it becomes the room's with the next response."""

import asyncio
from dataclasses import dataclass
from typing import Final

MOST: Final = 256


@dataclass(slots=True, eq=False)
class Waiting:
    """An item whose words may still be on their way; empty words are nobody's."""

    item_id: str
    words: "asyncio.Future[str]"


class Pending:
    """One client's items, in order."""

    def __init__(self) -> None:
        self._items: list[Waiting] = []

    @property
    def full(self) -> bool:
        """Whether no more may wait."""
        return len(self._items) >= MOST

    def __bool__(self) -> bool:
        return bool(self._items)

    def text(self, item_id: str, words: str) -> None:
        """An item whose words are known."""
        known: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        known.set_result(words)
        self._items.append(Waiting(item_id, known))

    def sound(self, item_id: str) -> "asyncio.Future[str]":
        """An item whose words follow: set them on the future."""
        words: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._items.append(Waiting(item_id, words))
        return words

    def delete(self, item_id: str) -> None:
        """The client has thought better of it."""
        self._items = [one for one in self._items if one.item_id != item_id]

    async def take(self) -> list[tuple[str, str]]:
        """Id and words of all, once they are known; they wait no longer."""
        items, self._items = self._items, []
        said = [(one.item_id, (await one.words).strip()) for one in items]
        return [(item_id, words) for item_id, words in said if words]
