"""What hosts are told of one call's speech: utterances begun, guessed, taken or not, levels, and the hooks around them."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import InboundMessage, Participant, TextContent
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.room.ledger import ONLY_STOPS, Disposition
from voiceagent.values import JSON
from voiceagent.voice.backchannel import Backchannel
from voiceagent.voice.ear import Guess
from voiceagent.voice.floor import VOICE_CHANNEL
from voiceagent.voice.turn import Utterance

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpeechMark:
    """Payload of ON_SPEECH_START and ON_SPEECH_END; `at_ms` is the place of the first or last voice on the call's own line."""

    room_id: str
    session_id: str
    participant_id: str
    input_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Transcription:
    """Payload of ON_TRANSCRIPTION and ON_PARTIAL_TRANSCRIPTION: what was said. A SYNC hook on the former may change its text
    or block it. Times are milliseconds on the call's own line; a partial one has no end yet."""

    text: str
    room_id: str
    session_id: str
    participant_id: str
    input_id: str
    start_ms: int
    end_ms: int


class Inputs:
    """Tells of one call in one room."""

    def __init__(self, engine: RoomEngine, room_id: str, session_id: str, participant: Participant) -> None:
        self.engine = engine
        self.room_id = room_id
        self.session_id = session_id
        self.participant = participant
        self._feed = engine.feed(room_id)
        self._ledger = engine.host.ledger(room_id)

    def started(self, input_id: str, at_ms: int) -> None:
        """Somebody begins to speak."""
        self._tell("started", input_id, {"name": self.participant.display_name, "kind": "speech"})
        self._notify(HookTrigger.ON_SPEECH_START, input_id, at_ms)

    def ended(self, input_id: str, at_ms: int) -> None:
        """They have stopped; the words follow."""
        self._notify(HookTrigger.ON_SPEECH_END, input_id, at_ms)

    def guessed(self, guess: Guess) -> None:
        """Words of unfinished speech; droppable."""
        self._tell("partial", guess.input_id, {"text": guess.text, "stable_chars": guess.stable}, durable=False)
        said = self.transcription(guess.input_id, guess.text, guess.start_ms, guess.at_ms)
        self.engine.host.notify(HookTrigger.ON_PARTIAL_TRANSCRIPTION, said, self.room_id)

    def decided(self, input_id: str, call: Callable[[], None]) -> None:
        """Calls back once the room's agents have found a way for it, or an end."""
        self._ledger.when_decided(input_id, call)

    def message(self, said: Utterance, *, replaces: bool = False, only_stops: bool = False) -> InboundMessage:
        """What the room takes, under the id that the utterance has had since its first sound. `replaces`: an answer to it may
        take the place of the person's earlier ones that nobody has heard. `only_stops`: it cut one and asks for none."""
        told: dict[str, JSON] = {"sender_name": said.speaker.name, "loudspeaker": said.speaker.loudspeaker}
        return InboundMessage(
            channel_id=VOICE_CHANNEL,
            content=TextContent(said.text),
            sender_id=self.participant.id,
            reserved_id=said.input_id,
            metadata={
                "source": "voice",
                "voice_session_id": self.session_id,
                "start_ms": said.start_ms,
                "end_ms": said.end_ms,
                "voiced_ms": said.voiced_ms,
                "audio_ms": said.end_ms - said.start_ms,
                "replaces": replaces,
                **({ONLY_STOPS: True} if only_stops else {}),
                **{name: value for name, value in told.items() if value is not None},
            },
        )

    def settled(self, input_id: str, disposition: Disposition, reason: str | None = None, *, text: str = "") -> None:
        """It ends before it is the room's: rejected, or failed; `text` is told where it is worth knowing."""
        data: dict[str, JSON] = {"disposition": disposition, "generation_ids": [], "reason": reason}
        self._tell("settled", input_id, {**data, "text": text} if text else data)

    def backchannel(self, input_id: str, text: str, speech_id: str) -> None:
        """It ends as a sign of listening to a reply, and is in no turn."""
        self.settled(input_id, "backchannel", "over_the_agent", text=text)
        said = Backchannel(self.room_id, self.session_id, self.participant.id, input_id, text, speech_id)
        self.engine.host.notify(HookTrigger.ON_BACKCHANNEL, said, self.room_id)

    def failed(self, input_id: str, stage: str, error: Exception) -> None:
        """An error that costs this utterance only."""
        log.error("call %s: utterance %s failed at %s: %s", self.session_id, input_id, stage, error, exc_info=error)
        self.settled(input_id, "failed", stage)
        failure = ErrorEvent(self.room_id, VOICE_CHANNEL, stage, error, input_id)
        self.engine.host.notify(HookTrigger.ON_ERROR, failure, self.room_id)

    def level(self, dbfs: float) -> None:
        """How loud the person is, in dBFS; droppable."""
        data: dict[str, JSON] = {"participant_id": self.participant.id, "dbfs": round(dbfs, 1)}
        self._feed.publish("level", data, durable=False, session_id=self.session_id)

    def transcription(self, input_id: str, text: str, start_ms: int, end_ms: int) -> Transcription:
        """What hooks are asked or told about words of this call."""
        return Transcription(text, self.room_id, self.session_id, self.participant.id, input_id, start_ms, end_ms)

    def _tell(self, what: str, input_id: str, data: dict[str, JSON], *, durable: bool = True) -> None:
        named: dict[str, JSON] = {"input_id": input_id, "participant_id": self.participant.id, **data}
        self._feed.publish(f"input.{what}", named, durable=durable, session_id=self.session_id, channel_id=VOICE_CHANNEL)

    def _notify(self, trigger: HookTrigger, input_id: str, at_ms: int) -> None:
        mark = SpeechMark(self.room_id, self.session_id, self.participant.id, input_id, at_ms)
        self.engine.host.notify(trigger, mark, self.room_id)
