"""A reply that was stopped while it sounded: the facts, what hooks are told of them, and the record the room keeps."""

from dataclasses import dataclass

from voiceagent.audio.frame import to_ms
from voiceagent.values import JSON


@dataclass(frozen=True, slots=True)
class BargeIn:
    """Payload of ON_BARGE_IN: a person's speech stops a reply. `text` is what it had handed to speech."""

    room_id: str
    session_id: str
    participant_id: str
    speech_id: str
    text: str
    played_ms: int


@dataclass(frozen=True, slots=True)
class TtsCancelled:
    """Payload of ON_TTS_CANCELLED: a reply was stopped before its end, for whatever reason; the room's record is written."""

    room_id: str
    session_id: str
    speech_id: str
    text: str
    played_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class CutReply:
    """Where a reply stopped, for the listener whose call is `session_id`. Sound in 16 kHz samples.

    `samples` is the reply's whole length, None while its synthesis had not ended. `channel_id` is None for words that are
    no agent's answer.
    """

    speech_id: str
    session_id: str
    channel_id: str | None
    responds_to: str | None
    text: str
    played: int
    samples: int | None
    spoken_chars: int
    reason: str

    @property
    def played_ms(self) -> int:
        """How long it was heard."""
        return to_ms(self.played)

    @property
    def worth_a_record(self) -> bool:
        """Whether anything was left unheard of words that had been handed to speech."""
        return bool(self.text.strip()) and (self.samples is None or self.played < self.samples)

    def metadata(self) -> dict[str, JSON]:
        """Of the record that the voice channel writes."""
        entries: dict[str, JSON] = {"interrupted": True, "played_ms": self.played_ms, "voice_session_id": self.session_id}
        if self.samples is not None:
            entries["played_percentage"] = round(min(100.0, 100.0 * self.played / max(1, self.samples)), 1)
        if self.channel_id is not None:
            entries["answer_channel_id"] = self.channel_id
            entries["answer_responds_to"] = self.responds_to
        return entries
