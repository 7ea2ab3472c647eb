"""One call in one room: every frame is heard, what is said becomes the room's, and talk over the agent cuts it."""

import asyncio
from collections import deque
from typing import Final

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, SILENCE, AudioFrame, Samples
from voiceagent.audio.level import Level
from voiceagent.room.events import Participant
from voiceagent.transport.call import Call
from voiceagent.voice.ahead import Ahead
from voiceagent.voice.barge import Barge
from voiceagent.voice.ear import Began, Candidate, Ear, EarEvent, Finished, Guess, Resumed, Speaks, Stir
from voiceagent.voice.expecting import expectation
from voiceagent.voice.floor import Floor
from voiceagent.voice.hearing import Hearing
from voiceagent.voice.inputs import Inputs
from voiceagent.voice.line import Line
from voiceagent.voice.who import Who
from voiceagent.voice.words import Words

LEVEL_FRAMES: Final = 5
QUIET_DBFS: Final = -60.0


class VoiceChannel:
    """One call. Its frame loop waits for nothing but the next frame; words and commits follow behind, in order."""

    def __init__(self, call: Call, participant: Participant, floor: Floor, hearing: Hearing, who: Who | None = None) -> None:
        """`who` names the speakers of a line that several people share; its `hearing` must then tell their traits."""
        self.call = call
        self.participant = participant
        self.line = Line(call, participant.id, self._on_quiet)
        self._floor = floor
        self._hearing = hearing
        self._inputs = Inputs(floor.engine, floor.room_id, call.session_id, participant)
        self._barge = Barge(floor, self.line, hearing.onset())
        self._who = who
        self._ahead = Ahead(self._inputs, floor, self.line, who)
        self._words = Words(self._inputs, floor, self.line, self._barge, ahead=self._ahead, on_settled=self._tell_floor, who=who)
        self._ear: Ear | None = None
        self._lead: deque[Samples] = deque(maxlen=hearing.settings.min_speech_ms // FRAME_MS)
        self._level = Level()
        self._frames = 0
        self._loud = False

    async def keyed(self, digits: str) -> None:
        """Keys were pressed on the telephone: digit n picks option n of the question that was said last, if one was. Raises
        StoreError."""
        answering = self._floor.engine.questions.answering
        for digit in digits:
            await answering.keyed(self._floor.room_id, self.participant.id, digit)

    async def run(self) -> None:
        """Hears the call to its end, and commits what was said in it, also where the line breaks; that is raised then."""
        try:
            await self._run()
        finally:
            self._ahead.close()

    async def _run(self) -> None:
        broke: Exception | None = None
        async with asyncio.TaskGroup() as tasks:
            ear = Ear(
                self._hearing,
                self._floor.settings,
                tasks,
                self._new_input,
                on_guess=self._guessed,
                on_candidate=self._candidate,
                expecting=lambda: expectation(self._floor.listeners.last_words(self.line)),
            )
            self._ear = ear
            self._barge.open(tasks)
            tasks.create_task(self._words.run(), name=f"words of {self.call.session_id}")
            try:
                async for frame in self.call.frames():
                    self._hear(ear, frame)
            except Exception as error:  # noqa: BLE001 - raised below
                broke = error
            self.line.end()
            last = ear.finish()
            for event in last:
                self._on(event)
            self._barge.hear(SILENCE, last)
            self._barge.end()
            self._words.end()
        if broke is not None:
            raise broke

    def _hear(self, ear: Ear, frame: AudioFrame) -> None:
        was_speaking = ear.speaking
        self.line.leak.heard(frame.samples, clock.now())
        events = ear.hear(frame.samples, own=self.line.leak.own)
        if self._who is not None:
            self._who.hear(
                voiced=any(isinstance(event, Stir) or (isinstance(event, Speaks) and event.voiced) for event in events)
            )
        for event in events:
            self._on(event)
        self._barge.hear(frame.samples, events)
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
                self._inputs.started(event.input_id, event.start_ms)
                self._tell_floor()
            case Finished():
                self._inputs.ended(event.input_id, event.end_ms)
                self._words.take(event, clock.now() - (event.at_ms - event.end_ms))
                self._tell_floor()
            case Resumed():
                self._ahead.drop(event.input_id)
            case _:
                pass

    def _guessed(self, guess: Guess) -> None:
        self._inputs.guessed(guess)
        self._barge.guessed(guess)

    def _candidate(self, candidate: Candidate) -> None:
        self._barge.candidate(candidate)
        self._ahead.candidate(candidate)

    def _tell_floor(self) -> None:
        """Whether this person speaks, or has spoken words that are not known yet."""
        self.line.hearing = self._words.unsettled > 0 or (self._ear is not None and self._ear.speaking)
        self._floor.changed()

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
