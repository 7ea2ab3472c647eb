"""Who hears a reply, each by their own line, and what the room is told of how far each has come with it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from voiceagent.audio.frame import to_ms
from voiceagent.room.consumption.desk import ConsumptionDesk
from voiceagent.room.consumption.tracks import Progress, letters
from voiceagent.room.reply import Reply
from voiceagent.voice.line import Line
from voiceagent.voice.script import Script


class Listeners:
    """The people of one floor. `lines` are its seats, as they are at any time."""

    def __init__(self, desk: ConsumptionDesk, channel_id: str, lines: Sequence[Line]) -> None:
        self._desk = desk
        self._channel_id = channel_id
        self._lines = lines
        self._script: Script | None = None

    @property
    def lines(self) -> Sequence[Line]:
        """The calls that listen."""
        return tuple(self._lines)

    @property
    def only_session(self) -> str | None:
        """The one call that listens; None when there are several, or none."""
        return self._lines[0].session_id if len(self._lines) == 1 else None

    def wait(self, reply: Reply) -> None:
        """It waits for its turn."""
        for line in self._lines:
            self._tell(reply, line, "queued")

    def miss(self, reply: Reply, line: Line | None = None) -> None:
        """Nobody, or one person, will hear anything of it."""
        for each in self._lines if line is None else (line,):
            self._tell(reply, each, "never_played")

    def hear(self, reply: Reply, script: Script) -> None:
        """It sounds."""
        self._script = script
        for line in self._lines:
            self._come(reply, script, line, "playing")

    def rest(self, reply: Reply, script: Script) -> None:
        """All that has been said of it was heard, and more will be said; what is short of a frame waits for that."""
        for line in self._lines:
            if not line.deaf:
                self._come(reply, script, line, "playing", script.samples)

    def finish(self, reply: Reply, script: Script) -> None:
        """It has sounded to its end; a line that did not take all of it has cut it for its listener."""
        for line in self._lines:
            self._come(reply, script, line, "heard" if line.through() and not line.deaf else "cut")

    def cut(self, reply: Reply, script: Script, line: Line | None = None) -> None:
        """It has stopped for everybody, or for one person who goes while it sounds on for the others."""
        for each in self._lines if line is None else (line,):
            self._come(reply, script, each, "cut")

    @property
    def saying(self) -> str:
        """What was handed to speech of the reply that sounds, or did last."""
        return "" if self._script is None else self._script.text

    def last_words(self, line: Line) -> str:
        """What the agent said last, or is saying, as far as this line's listener has heard it."""
        return "" if self._script is None else self._script.heard_text(line.played())

    def _come(
        self, reply: Reply, script: Script, line: Line, state: Literal["playing", "heard", "cut"], at_least: int = 0
    ) -> None:
        played, source = max(at_least, line.played()), script.source
        chars = len(source) if state == "heard" else script.spoken_chars(played)
        come = Progress(
            self._channel_id,
            line.participant_id,
            state,
            letters(source[:chars]),
            to_ms(played),
            letters(source[: script.spoken_chars(line.began_at)]),
            to_ms(line.began_at),
            tuple(_marks(source, script.places(played))),
        )
        self._desk.heard(reply, come)

    def _tell(self, reply: Reply, line: Line, state: Literal["queued", "never_played"]) -> None:
        self._desk.heard(reply, Progress(self._channel_id, line.participant_id, state))


def _marks(source: str, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Places in a text and in its sound as (letters, ms)."""
    count = begin = 0
    for end, samples in places:
        count += letters(source[begin:end])
        begin = end
        yield count, to_ms(samples)
