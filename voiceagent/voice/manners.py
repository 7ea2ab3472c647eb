"""How what sounds gives way to who speaks over it: it is lowered, it pauses, and it comes back with nothing of it lost."""

from collections.abc import Sequence
from typing import Final

from voiceagent.audio.frame import to_ms
from voiceagent.voice.interruption import Back, Duck, Pause, Resume
from voiceagent.voice.line import Line
from voiceagent.voice.notices import Notices
from voiceagent.voice.saying import Saying

LONGEST_MS: Final = 2_400
"""How long anybody may keep a reply lowered or paused, whatever becomes of the one who does."""


class Manners:
    """Of one floor. `lines` are its seats, as they are at any time."""

    def __init__(self, lines: Sequence[Line], notices: Notices) -> None:
        self._lines = lines
        self._notices = notices

    def give_way(self, saying: Saying, line: Line, step: Duck | Pause | Resume, now: int) -> None:
        """What a person on `line` does to the reply that sounds, at `now` (clock.now())."""
        match step:
            case Duck() if saying.duck.press(line.session_id, saying.handed, now):
                self._notices.ducked(saying.reply, line.session_id, to_ms(saying.handed), step.after_ms)
            case Pause() if saying.duck.pause(line.session_id):
                for each in self._lines:
                    each.stop()
                self._notices.paused(saying.reply, line.session_id, to_ms(line.played()), step.after_ms)
            case Resume():
                self._let_go(saying, line, step.why, now)
            case _:
                pass

    def leave(self, saying: Saying, line: Line, now: int) -> None:
        """A call goes: it holds nothing back any more."""
        self._let_go(saying, line, "left", now)

    def rest(self, saying: Saying) -> None:
        """The reply has no sound for a while: there is nothing to be lowered."""
        saying.duck.restore(faded=False)

    def overdue(self, saying: Saying, now: int) -> bool:
        """Has a reply come back that was held for too long; says whether it was."""
        if not saying.duck.held_since(now - LONGEST_MS):
            return False
        self._come_back(saying, "no_words", now)
        return True

    def _let_go(self, saying: Saying, line: Line, why: Back, now: int) -> None:
        if saying.duck.release(line.session_id):
            self._come_back(saying, why, now)

    def _come_back(self, saying: Saying, why: Back, now: int) -> None:
        """Louder again; after a pause from the start of the word at which the ducking began, for who is furthest behind."""
        duck, position, saying.sounded_at = saying.duck, saying.handed, now
        if duck.paused:
            heard = (min(line.played(), duck.since) for line in self._lines if not line.deaf)
            position = saying.rewind(min(heard, default=duck.since))
            for line in self._lines:
                line.again(position, duck.since)
        duck.restore(faded=duck.paused)
        self._notices.resumed(saying.reply, to_ms(position), why)
