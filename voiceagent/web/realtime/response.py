"""One response: the events of an answer, or of a part of one that ends where a function is called."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from voiceagent.audio.frame import to_ms
from voiceagent.values import JSON
from voiceagent.web.realtime import items as made
from voiceagent.web.realtime.items import Event, Item, Items


@dataclass(frozen=True, slots=True)
class Style:
    """How responses of one session look: `aloud` as sound with a transcript, or as text; `output` is the sound's shape."""

    conversation_id: str
    aloud: bool
    output: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a response ended."""

    status: str
    reason: str | None = None
    error: Mapping[str, JSON] | None = None

    def details(self) -> JSON:
        """What `status_details` says."""
        details: dict[str, JSON] = {"type": self.status}
        if self.reason is not None:
            details["reason"] = self.reason
        if self.error is not None:
            details["error"] = dict(self.error)
        return details


COMPLETED = Outcome("completed")
TURN_DETECTED = Outcome("cancelled", "turn_detected")
CLIENT_CANCELLED = Outcome("cancelled", "client_cancelled")


def failed(code: str) -> Outcome:
    """It broke off, or was never made; `code` says why in a word."""
    return Outcome("failed", error={"type": "server_error", "code": code, "message": f"the answer failed: {code}"})


@dataclass(slots=True, eq=False)
class Response:
    """Makes the events of one response, in the protocol's order. `sent` counts 16 kHz samples that left for its message;
    `banded`: it is the conversation's own, beside which others are out of band."""

    id: str
    style: Style
    items: Items
    metadata: Mapping[str, str]
    banded: bool
    text: str = ""
    sent: int = 0
    item_id: str | None = None
    over: bool = False
    usage: Mapping[str, JSON] = field(default_factory=dict)
    _outputs: list[str] = field(default_factory=list)

    @property
    def sent_ms(self) -> int:
        """How much sound has left."""
        return to_ms(self.sent)

    def created(self) -> list[Event]:
        """It begins."""
        return [{"type": "response.created", "response": self._json("in_progress", None, [])}]

    def opened(self) -> list[Event]:
        """Its message begins; nothing when it has."""
        if self.item_id is not None:
            return []
        self.item_id = f"item_{self.id.removeprefix('resp_')}"
        self._outputs.append(self.item_id)
        item = made.answer(self.item_id, "in_progress", None, aloud=self.style.aloud)
        return [
            {**self._place("response.output_item.added", self.item_id), "item": dict(item)},
            self.items.add(item),
            {**self._content("response.content_part.added"), "part": made.part("", aloud=self.style.aloud)},
        ]

    def said(self, text: str) -> list[Event]:
        """More of its words."""
        events = self.opened()
        self.text += text
        name = "output_audio_transcript" if self.style.aloud else "output_text"
        return [*events, {**self._content(f"response.{name}.delta"), "delta": text}]

    def sound(self, delta: str) -> Event:
        """More of its sound."""
        return {**self._content("response.output_audio.delta"), "delta": delta}

    def called(self, call_id: str, name: str, arguments: str) -> list[Event]:
        """It calls a function."""
        item_id = f"item_{call_id}"
        self._outputs.append(item_id)
        begun = made.call(item_id, "in_progress", call_id, name, "")
        whole = made.call(item_id, "completed", call_id, name, arguments)
        added = self.items.add(begun)
        self.items.change(item_id, status="completed", arguments=arguments)
        of_call: Event = {"call_id": call_id}
        return [
            {**self._place("response.output_item.added", item_id), "item": begun},
            added,
            {**self._place("response.function_call_arguments.delta", item_id), **of_call, "delta": arguments},
            {**self._place("response.function_call_arguments.done", item_id), **of_call, "name": name, "arguments": arguments},
            {**self._place("response.output_item.done", item_id), "item": whole},
            *self.items.done(item_id),
        ]

    def ended(self, outcome: Outcome) -> list[Event]:
        """It is over; nothing when it was."""
        if self.over:
            return []
        self.over = True
        events = self._message_done("completed" if outcome.status == "completed" else "incomplete")
        output: list[JSON] = [self.items.get(item_id) for item_id in self._outputs if item_id in self.items]
        return [*events, {"type": "response.done", "response": self._json(outcome.status, outcome.details(), output)}]

    def _message_done(self, status: str) -> list[Event]:
        if self.item_id is None:
            return []
        item = made.answer(self.item_id, status, self.text, aloud=self.style.aloud)
        self.items.change(self.item_id, status=status, content=item["content"])
        name, key = ("output_audio_transcript", "transcript") if self.style.aloud else ("output_text", "text")
        sound = [self._content("response.output_audio.done")] if self.style.aloud else []
        return [
            *sound,
            {**self._content(f"response.{name}.done"), key: self.text},
            {**self._content("response.content_part.done"), "part": made.part(self.text, aloud=self.style.aloud)},
            {**self._place("response.output_item.done", self.item_id), "item": item},
            *self.items.done(self.item_id),
        ]

    def _place(self, type: str, item_id: str) -> Event:
        return {"type": type, "response_id": self.id, "output_index": self._outputs.index(item_id), "item_id": item_id}

    def _content(self, type: str) -> Event:
        return {**self._place(type, self.item_id or ""), "content_index": 0}

    def _json(self, status: str, details: JSON, output: list[JSON]) -> JSON:
        whole: Item = {
            "id": self.id,
            "object": "realtime.response",
            "status": status,
            "status_details": details,
            "conversation_id": self.style.conversation_id if self.banded else None,
            "output": output,
            "output_modalities": ["audio"] if self.style.aloud else ["text"],
            "metadata": dict(self.metadata),
            "usage": dict(self.usage) if status != "in_progress" else None,
        }
        if self.style.aloud:
            whole["audio"] = {"output": {"format": dict(self.style.output), "voice": "voiceagent"}}
        return whole
