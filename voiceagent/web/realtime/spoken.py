"""What one client is told of what people say: its own person's sound as audio items, everybody else's words as text items."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from voiceagent.room.feed import FeedEvent
from voiceagent.web.realtime import items as made
from voiceagent.web.realtime.items import Event, Items

HELD: Final = "waits_for_response_create"
"""Why the words of an utterance are not the room's yet: the client wants to say itself when the agent answers."""

REMEMBERED: Final = 64


@dataclass(slots=True, eq=False)
class _Utterance:
    """`start_ms` and `end_ms` are places on the person's line; `told` once the client knows that it began, `told_text` the part
    of its words that was sent ahead."""

    id: str
    start_ms: int
    end_ms: int | None = None
    told: bool = False
    told_text: str = ""

    @property
    def seconds(self) -> float:
        return ((self.end_ms or self.start_ms) - self.start_ms) / 1000


class Spoken:
    """Pure: what the voice layer and the room tell in, events out.

    To a client `speech_started` means: stop playing. While the agent sounds it is therefore told of speech once that has cut
    the agent, or when the agent has ended by itself; a cough or an "mm-hm" that cuts nothing is never announced.
    """

    def __init__(self, items: Items, transcripts: Callable[[], bool]) -> None:
        """`transcripts` says whether the client wants its person's own words."""
        self._items = items
        self._transcripts = transcripts
        self._said: dict[str, _Utterance] = {}
        self._mine: set[str] = set()

    def knows(self, input_id: str) -> bool:
        """Whether this is speech of the client's own line."""
        return input_id in self._said

    def own(self, key: str) -> None:
        """An input of this key is one that the client has an item of already."""
        self._mine.add(key)

    def started(self, input_id: str, start_ms: int, *, sounding: bool) -> list[Event]:
        """The person begins to speak; `sounding`: over the agent."""
        self._said[input_id] = _Utterance(input_id, start_ms)
        if len(self._said) > REMEMBERED:
            del self._said[next(iter(self._said))]
        return [] if sounding else self.announced()

    def announced(self) -> list[Event]:
        """Tells of speech that goes on and was not told of."""
        events: list[Event] = []
        for one in self._said.values():
            if not one.told and one.end_ms is None:
                one.told = True
                events.append({"type": "input_audio_buffer.speech_started", "audio_start_ms": one.start_ms, "item_id": one.id})
        return events

    def stopped(self, input_id: str, end_ms: int) -> list[Event]:
        """The person has stopped; the words follow."""
        one = self._said.get(input_id)
        if one is None or one.end_ms is not None:
            return []
        one.end_ms = end_ms
        stop: list[Event] = []
        if one.told:
            stop = [{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": end_ms, "item_id": input_id}]
        return stop + self.committed(input_id)

    def committed(self, item_id: str) -> list[Event]:
        """What was said is an item."""
        commit: Event = {"type": "input_audio_buffer.committed", "previous_item_id": self._items.last, "item_id": item_id}
        added = self._items.add(made.heard(item_id))
        return [commit, added, *self._items.done(item_id)]

    def take(self, line: FeedEvent) -> list[Event]:
        """What the client is told for one line."""
        input_id = line.data.get("input_id")
        if not isinstance(input_id, str):
            return []
        one = self._said.get(input_id)
        if one is not None:
            return self._of_speech(one, line)
        if line.type == "input.accepted" and line.audience == "all":
            return self._of_others(input_id, line)
        return []

    def transcribed(self, item_id: str, text: str, seconds: float = 0) -> list[Event]:
        """The words of an audio item are known."""
        if item_id in self._items:
            self._items.change(item_id, content=made.heard(item_id, text)["content"])
        if not self._transcripts():
            return []
        usage: Event = {"type": "duration", "seconds": seconds}
        return [{**_transcription(item_id, "completed"), "transcript": text, "usage": usage}]

    def untranscribed(self, item_id: str, why: str) -> list[Event]:
        """Nobody knows the words of an audio item."""
        error: Event = {"type": "server_error", "code": why, "message": f"the words are not known: {why}"}
        return [{**_transcription(item_id, "failed"), "error": error}]

    def _of_speech(self, one: _Utterance, line: FeedEvent) -> list[Event]:
        match line.type:
            case "input.partial":
                return self._ahead(one, line)
            case "input.accepted":
                ended = self.stopped(one.id, one.start_ms) if one.end_ms is None else []
                return ended + self.transcribed(one.id, str(line.data.get("text", "")), one.seconds)
            case "input.settled":
                return self._settled(one, line)
        return []

    def _settled(self, one: _Utterance, line: FeedEvent) -> list[Event]:
        del self._said[one.id]
        disposition, reason = line.data.get("disposition"), line.data.get("reason")
        if one.id not in self._items or reason == HELD:
            return []
        if disposition == "failed" and reason == "stt":
            return self.untranscribed(one.id, "stt")
        unknown = _transcript_of(self._items.get(one.id)) is None
        return self.transcribed(one.id, "", one.seconds) if unknown else []

    def _ahead(self, one: _Utterance, line: FeedEvent) -> list[Event]:
        """Words that will not change, as far as they go on what was sent."""
        text, stable = line.data.get("text"), line.data.get("stable_chars")
        if not isinstance(text, str) or not isinstance(stable, int) or not self._transcripts():
            return []
        known = text[:stable]
        if not known.startswith(one.told_text) or known == one.told_text:
            return []
        delta, one.told_text = known[len(one.told_text) :], known
        return [{**_transcription(one.id, "delta"), "delta": delta}]

    def _of_others(self, input_id: str, line: FeedEvent) -> list[Event]:
        key, text = line.data.get("key"), line.data.get("text")
        if isinstance(key, str) and key in self._mine:
            self._mine.discard(key)
            return []
        if not isinstance(text, str) or input_id in self._items:
            return []
        added = self._items.add(made.typed(input_id, text))
        return [added, *self._items.done(input_id)]


def _transcription(item_id: str, what: str) -> Event:
    return {"type": f"conversation.item.input_audio_transcription.{what}", "item_id": item_id, "content_index": 0}


def _transcript_of(item: Event) -> str | None:
    content = item.get("content")
    first = content[0] if isinstance(content, list) and content else None
    transcript = first.get("transcript") if isinstance(first, dict) else None
    return transcript if isinstance(transcript, str) else None
