"""One call in one room: every frame is heard, what is said becomes the room's, and talk over the agent cuts it."""

import asyncio
from collections import deque
from typing import Final

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, AudioFrame, Samples
from voiceagent.audio.level import Level
from voiceagent.room.events import Participant
from voiceagent.transport.call import Call
from voiceagent.voice.ear import Began, Ear, EarEvent, Finished, Hearing, Speaks
from voiceagent.voice.floor import Floor
from voiceagent.voice.inputs import Inputs
from voiceagent.voice.line import Line
from voiceagent.voice.turn import Cut, SpeechDecision, Turn
from voiceagent.voice.words import Words

LEVEL_FRAMES: Final = 5
QUIET_DBFS: Final = -60.0


class VoiceChannel:
    """One call. Its frame loop waits for nothing but the next frame; words and commits follow behind, in order."""

    def __init__(self, call: Call, participant: Participant, floor: Floor, hearing: Hearing) -> None:
        self.call = call
        self.participant = participant
        self.line = Line(call, participant.id, self._on_quiet)
        self._floor = floor
        self._hearing = hearing
        self._inputs = Inputs(floor.engine, floor.room_id, call.session_id, participant)
        self._turn = Turn(floor.settings.barge_in, floor.settings.held_segments)
        self._words = Words(self._inputs, floor, self.line, self._turn, self._tell_floor)
        self._ear: Ear | None = None
        self._lead: deque[Samples] = deque(maxlen=hearing.settings.min_speech_ms // FRAME_MS)
        self._level = Level()
        self._frames = 0
        self._loud = False
        self._said: str | None = None

    async def run(self) -> None:
        """Hears the call to its end, and commits what was said in it, also where the line breaks; that is raised then."""
        broke: Exception | None = None
        async with asyncio.TaskGroup() as tasks:
            ear = Ear(self._hearing, self._floor.settings, tasks, self._new_input, self._inputs.guessed)
            self._ear = ear
            tasks.create_task(self._words.run(), name=f"words of {self.call.session_id}")
            try:
                async for frame in self.call.frames():
                    self._hear(ear, frame)
            except Exception as error:  # noqa: BLE001 - raised below
                broke = error
            self.line.end()
            for event in ear.finish():
                self._on(event)
            self._words.end()
        if broke is not None:
            raise broke

    def _hear(self, ear: Ear, frame: AudioFrame) -> None:
        was_speaking = ear.speaking
        for event in ear.hear(frame.samples):
            self._on(event)
        if ear.speaking or was_speaking:  # the others hear it from its first sound, from before it was sure to be speech
            while self._lead:
                self._floor.talk(self.line, self._lead.popleft())
            self._floor.talk(self.line, frame.samples)
        else:
            self._lead.append(frame.samples)
        self._measure(frame.samples)

    def _on(self, event: EarEvent) -> None:
        match event:
            case Began():
                self._said = event.input_id
                self._inputs.started(event.input_id, event.start_ms)
                self._tell_floor()
                self._decide(self._turn.started(event.at_ms, event.voiced_ms, self._floor.sounding(self.line)))
            case Speaks():
                self._decide(self._turn.speaking(event.at_ms, event.voiced_ms, self._floor.sounding(self.line)))
            case Finished():
                self._inputs.ended(event.input_id, event.end_ms)
                self._words.take(event, clock.now() - (event.at_ms - event.end_ms))
                self._tell_floor()

    def _decide(self, decision: SpeechDecision) -> None:
        if isinstance(decision, Cut):
            self._floor.cut(self.line, self._said)

    def _tell_floor(self) -> None:
        """Whether this person speaks, or has spoken words that are not known yet."""
        self._floor.hearing(self.line, self._words.unsettled > 0 or (self._ear is not None and self._ear.speaking))

    def _measure(self, samples: Samples) -> None:
        """The line's level, ten times a second while there is something to see."""
        self._level.add(samples)
        self._frames += 1
        if self._frames % LEVEL_FRAMES:
            return
        loud = self._level.rms > QUIET_DBFS
        if loud or self._loud:
            self._inputs.level(self._level.rms)
        self._loud = loud

    def _new_input(self) -> str:
        return self._floor.engine.host.reserve_id(self._floor.room_id)

    def _on_quiet(self) -> None:
        self._words.quiet()
