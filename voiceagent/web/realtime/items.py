"""The conversation as one client knows it: items by id, in order."""

from collections import OrderedDict
from typing import Final

from voiceagent.values import JSON

MOST: Final = 1_000
"""Items that are kept; the oldest is forgotten then, as if the client had deleted it."""

Event = dict[str, JSON]
"""A server event, which gets its `event_id` on its way out."""

Item = dict[str, JSON]


class Items:
    """One client's. What is returned is a copy: an event that has been made does not change."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, Item] = OrderedDict()

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._items

    @property
    def last(self) -> str | None:
        """The newest item's id."""
        return next(reversed(self._items), None)

    def add(self, item: Item) -> Event:
        """Puts an item at the end; the event that tells of it."""
        previous = self.last
        self._items[str(item["id"])] = item
        if len(self._items) > MOST:
            self._items.popitem(last=False)
        return {"type": "conversation.item.added", "previous_item_id": previous, "item": dict(item)}

    def done(self, item_id: str) -> list[Event]:
        """An item is whole; the event that tells so, none for one that was deleted meanwhile."""
        if item_id not in self._items:
            return []
        return [{"type": "conversation.item.done", "previous_item_id": self._before(item_id), "item": self.get(item_id)}]

    def get(self, item_id: str) -> Item:
        """An item as it stands. Raises KeyError."""
        return dict(self._items[item_id])

    def change(self, item_id: str, **fields: JSON) -> None:
        """Sets fields of an item; nothing when it was deleted."""
        if item_id in self._items:
            self._items[item_id] = {**self._items[item_id], **fields}

    def delete(self, item_id: str) -> bool:
        """Forgets an item; False when there is none."""
        return self._items.pop(item_id, None) is not None

    def _before(self, item_id: str) -> str | None:
        previous = None
        for other in self._items:
            if other == item_id:
                return previous
            previous = other
        return None


def heard(item_id: str, transcript: str | None = None) -> Item:
    """What the person said aloud."""
    content: JSON = [{"type": "input_audio", "audio": None, "transcript": transcript}]
    return _message(item_id, "user", "completed", content)


def typed(item_id: str, text: str, role: str = "user") -> Item:
    """What somebody wrote."""
    return _message(item_id, role, "completed", [{"type": "input_text", "text": text}])


def answer(item_id: str, status: str, text: str | None, *, aloud: bool) -> Item:
    """What the agent says; `text` None: nothing of it is known yet."""
    content: list[JSON] = [] if text is None else [part(text, aloud=aloud, in_item=True)]
    return _message(item_id, "assistant", status, content)


def part(text: str, *, aloud: bool, in_item: bool = False) -> JSON:
    """The one part of an answer; in an item its type has a longer name than in an event of its own."""
    prefix = "output_" if in_item else ""
    return {"type": f"{prefix}audio", "transcript": text} if aloud else {"type": f"{prefix}text", "text": text}


def call(item_id: str, status: str, call_id: str, name: str, arguments: str) -> Item:
    """A function that the agent calls."""
    whole: Item = {"id": item_id, "object": "realtime.item", "type": "function_call", "status": status}
    return {**whole, "call_id": call_id, "name": name, "arguments": arguments}


def output(item_id: str, call_id: str, text: str) -> Item:
    """What a function came to."""
    whole: Item = {"id": item_id, "object": "realtime.item", "type": "function_call_output", "status": "completed"}
    return {**whole, "call_id": call_id, "output": text}


def _message(item_id: str, role: str, status: str, content: JSON) -> Item:
    whole: Item = {"id": item_id, "object": "realtime.item", "type": "message", "role": role, "status": status}
    return {**whole, "content": content}
