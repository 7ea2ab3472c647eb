"""What a person may have said, shown to the room's agents before it is sure, and taken back when they went on."""

from voiceagent.speech.cues import cue, dictates
from voiceagent.voice.ear import Candidate
from voiceagent.voice.floor import Floor
from voiceagent.voice.inputs import Inputs
from voiceagent.voice.line import Line
from voiceagent.voice.turn import Utterance
from voiceagent.voice.who import NOT_TOLD, Who


class Ahead:
    """One call's. Of each utterance the newest words are shown until it is over, one way or another."""

    def __init__(self, inputs: Inputs, floor: Floor, line: Line, who: Who | None = None) -> None:
        """`who` names the speakers of a line that several people share."""
        self._who = who
        self._inputs = inputs
        self._floor = floor
        self._line = line
        self._shown: set[str] = set()

    def candidate(self, heard: Candidate) -> None:
        """An utterance may be over. Nothing is shown of what wants to be gone on with, since a turn has one request to spare, nor
        of what is said while an answer sounds: it may not be for the agent."""
        text, language = heard.transcript.text.strip(), heard.transcript.language
        if not self._floor.settings.think_ahead or self._floor.sounding(self._line) is not None:
            return
        if cue(text, language) == "open" or dictates(text, language):
            return
        speaker = NOT_TOLD if self._who is None else self._who.guess(heard.transcript.traits)
        said = Utterance(heard.input_id, text, heard.start_ms, heard.end_ms, heard.voiced_ms, speaker)
        self._shown.add(heard.input_id)
        self._inputs.engine.host.ahead.foresee(self._inputs.room_id, self._inputs.message(said))

    def drop(self, input_id: str) -> None:
        """The person went on, their words become nobody's turn, or have come to everybody; nothing when they were not shown."""
        if input_id in self._shown:
            self._shown.discard(input_id)
            self._inputs.engine.host.ahead.forgo(self._inputs.room_id, input_id)

    def close(self) -> None:
        """The call is over."""
        for input_id in tuple(self._shown):
            self.drop(input_id)
