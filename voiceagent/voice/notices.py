"""What a room's feed is told of speech: replies queued, started, heard so far, finished, cut, dropped, and the agent's state."""

from typing import Literal

from voiceagent.audio.frame import to_ms
from voiceagent.room.feed import Feed
from voiceagent.room.line import audience_of
from voiceagent.room.reply import Reply
from voiceagent.values import JSON
from voiceagent.voice.cut import CutReply
from voiceagent.voice.interruption import Back
from voiceagent.voice.latency import TurnLatency
from voiceagent.voice.listeners import Listeners
from voiceagent.voice.script import Script

AgentState = Literal["idle", "listening", "thinking", "speaking"]


class Notices:
    """Publishes for one room, and has `listeners` tell how far each person has come.

    `spoken_chars` counts in the reply's own text, `text` and `heard_text` are words that were handed to speech; `played_ms` is
    what its listener has heard. `exact` is false where heard words are estimated, by share of letters, within a sentence.
    """

    def __init__(self, feed: Feed, channel_id: str, listeners: Listeners) -> None:
        self._feed = feed
        self._channel_id = channel_id
        self._listeners = listeners
        self._state: AgentState = "idle"

    def queued(self, reply: Reply) -> None:
        """A reply waits for its turn to sound; `text` is there when all of it is known already."""
        self._publish("queued", reply, {**({"text": reply.text} if reply.ended else {}), **_asked(reply)})
        self._listeners.wait(reply)

    def started(self, reply: Reply, script: Script) -> None:
        """Its first sound goes to the lines; `voice_session_id` is there when one call alone listens."""
        data: dict[str, JSON] = {"text": script.text}
        if self._listeners.only_session is not None:
            data["voice_session_id"] = self._listeners.only_session
        if script.complete:
            data["total_ms"] = to_ms(script.samples)
        self._publish("started", reply, data)
        self._listeners.hear(reply, script)

    def progress(self, reply: Reply, script: Script, played: int) -> None:
        """How far it has been heard; droppable."""
        heard, text = script.heard_text(played), script.text
        rest: dict[str, JSON] = {"remaining_text": text[len(heard) :].lstrip()}
        self._publish("progress", reply, {**_heard(script, played), "heard_text": heard, **rest}, durable=False)
        self._listeners.hear(reply, script)

    def finished(self, reply: Reply, script: Script, played: int) -> None:
        """All of it was heard."""
        data: dict[str, JSON] = {"text": script.text, "heard_text": script.heard_text(played), **_heard(script, played)}
        self._publish("finished", reply, {**data, "spoken_chars": len(script.source)})
        self._listeners.finish(reply, script)

    def ducked(self, reply: Reply, session_id: str, position_ms: int, after_ms: int) -> None:
        """It is lowered from `position_ms` of its sound on, `after_ms` after the first voice of whoever speaks over it."""
        self._publish("ducked", reply, {"position_ms": position_ms, "after_ms": after_ms}, session_id=session_id)

    def paused(self, reply: Reply, session_id: str, position_ms: int, after_ms: int) -> None:
        """Nothing of it is handed on for now; it may come back."""
        self._publish("paused", reply, {"position_ms": position_ms, "after_ms": after_ms}, session_id=session_id)

    def resumed(self, reply: Reply, position_ms: int, why: Back) -> None:
        """It sounds on as before, from `position_ms` of its sound."""
        self._publish("resumed", reply, {"position_ms": position_ms, "why": why})

    def cut(self, reply: Reply, cut: CutReply, script: Script) -> None:
        """It was stopped while it sounded."""
        data: dict[str, JSON] = {
            "text": cut.text,
            "played_ms": cut.played_ms,
            "spoken_chars": cut.spoken_chars,
            "heard_text": cut.heard_text,
            "exact": cut.exact,
            "reason": cut.reason,
        }
        known: dict[str, JSON] = {
            "total_ms": None if cut.samples is None else to_ms(cut.samples),
            "played_percentage": cut.played_percentage,
            "cut_by_input_id": cut.cut_by_input_id,
            "record_event_id": cut.record_event_id,
            "question_id": cut.question_id,
        }
        data |= {name: value for name, value in known.items() if value is not None}
        self._publish("cut", reply, data, session_id=cut.session_id or None)
        self._listeners.cut(reply, script)

    def dropped(self, reply: Reply, reason: str) -> None:
        """None of it will sound."""
        self._publish("dropped", reply, {"reason": reason})
        self._listeners.miss(reply)

    def latency(self, latency: TurnLatency) -> None:
        """A turn's waits are known."""
        data: dict[str, JSON] = {
            "input_id": latency.input_id,
            "end_of_speech_to_words_ms": latency.end_of_speech_to_words_ms,
            "words_to_first_token_ms": latency.words_to_first_token_ms,
            "first_token_to_first_sound_ms": latency.first_token_to_first_sound_ms,
            "total_ms": latency.total_ms,
        }
        self._feed.publish("turn.latency", data, channel_id=self._channel_id, responds_to=latency.input_id)

    def state(self, state: AgentState) -> None:
        """What the agent seems to do; said only when it changes."""
        if state != self._state:
            self._state = state
            self._feed.publish("agent.state", {"state": state}, channel_id=self._channel_id)

    def _publish(
        self, what: str, reply: Reply, data: dict[str, JSON], *, durable: bool = True, session_id: str | None = None
    ) -> None:
        self._feed.publish(
            f"speech.{what}",
            {"speech_id": reply.id, **data},
            durable=durable,
            channel_id=reply.channel_id or self._channel_id,
            session_id=session_id,
            generation_id=reply.id,
            responds_to=reply.responds_to,
            audience=audience_of(reply.visibility),
        )


def _asked(reply: Reply) -> dict[str, JSON]:
    return {} if reply.question_id is None else {"question_id": reply.question_id}


def _heard(script: Script, played: int) -> dict[str, JSON]:
    return {"played_ms": to_ms(played), "spoken_chars": script.spoken_chars(played), "exact": script.exact(played)}
