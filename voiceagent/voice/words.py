"""From finished speech to the room: words awaited, judged, asked about and committed, one utterance after the other."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from voiceagent import clock
from voiceagent.room.hooks import HookTrigger
from voiceagent.room.turns import Heard
from voiceagent.speech.rejection import hums, reject
from voiceagent.voice.ahead import Ahead
from voiceagent.voice.barge import Barge
from voiceagent.voice.ear import Finished
from voiceagent.voice.floor import Floor
from voiceagent.voice.inputs import Inputs
from voiceagent.voice.line import Line
from voiceagent.voice.turn import Commit, Drop, Hold, Utterance
from voiceagent.voice.who import NOT_TOLD, Who

log = logging.getLogger(__name__)

UNSETTLED: Final = 32
"""Utterances of one call that may wait for their words."""


@dataclass(frozen=True, slots=True, eq=False)
class _Spoken:
    """An utterance on its way; `ended_at` is when its last voice was heard, on clock.now()."""

    heard: Finished
    ended_at: int


class Words:
    """One call's. `take()` never waits; `run()` settles what was taken, in order, and one that fails costs none of the next."""

    def __init__(
        self,
        inputs: Inputs,
        floor: Floor,
        line: Line,
        barge: Barge,
        *,
        ahead: Ahead,
        on_settled: Callable[[], None],
        who: Who | None = None,
    ) -> None:
        """`on_settled` is called whenever an utterance has become the room's, or has not; `who` names the speakers of a line that
        several people share."""
        self._who = who
        self._inputs = inputs
        self._floor = floor
        self._line = line
        self._barge = barge
        self._ahead = ahead
        self._on_settled = on_settled
        self._todo: asyncio.Queue[_Spoken | None] = asyncio.Queue()
        self._held: deque[Commit] = deque()
        self._in_order = asyncio.Lock()
        self._tasks: asyncio.TaskGroup | None = None
        self.unsettled = 0
        self._undecided: set[str] = set()

    def take(self, heard: Finished, ended_at: int) -> None:
        """An utterance is over, its last voice was heard at `ended_at` (clock.now()); its words may still be on their way."""
        if self.unsettled >= UNSETTLED:
            heard.words.cancel()
            self._ahead.drop(heard.input_id)
            self._inputs.settled(heard.input_id, "rejected", "dropped")
            log.error("call %s: %d utterances wait for their words; one more is dropped", self._line.session_id, UNSETTLED)
            return
        self.unsettled += 1
        self._todo.put_nowait(_Spoken(heard, ended_at))

    def quiet(self) -> None:
        """A reply has ended: what it kept waiting is the room's now."""
        held = self._barge.quiet()
        if held and self._tasks is not None:
            self._held.extend(held)
            self._tasks.create_task(self._say_held(), name=f"held of {self._line.session_id}")

    def end(self) -> None:
        """Nothing more will be taken: run() ends behind what was."""
        self._todo.put_nowait(None)

    async def run(self) -> None:
        """Until end(); what is still held then is said."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            while (spoken := await self._todo.get()) is not None:
                try:
                    await self._settle(spoken)
                except Exception as error:  # noqa: BLE001 - costs this utterance
                    self._inputs.failed(spoken.heard.input_id, "input", error)
                if spoken.heard.input_id not in self._undecided:
                    self._ahead.drop(spoken.heard.input_id)
                self.unsettled -= 1
                self._on_settled()
            self.quiet()

    async def _settle(self, spoken: _Spoken) -> None:
        heard = spoken.heard
        words = await heard.words
        if isinstance(words, Exception):
            self._inputs.failed(heard.input_id, "stt", words)
            self._barge.dropped(heard.input_id)
            return
        why = reject(words, heard.voiced_ratio, heard.end_ms - heard.start_ms)
        if why is not None:
            self._rejected(heard, why)
            return
        text = await self._asked(heard, words.text.strip())
        if text is None:
            self._barge.dropped(heard.input_id)
            return
        await self._say_held()
        began_at = spoken.ended_at - (heard.end_ms - heard.start_ms)
        self._floor.turns.heard(heard.input_id, Heard(began_at, spoken.ended_at, clock.now()))
        speaker = NOT_TOLD if self._who is None else self._who.heard(words.traits)
        utterance = Utterance(heard.input_id, text, heard.start_ms, heard.end_ms, heard.voiced_ms, speaker)
        match self._barge.words(utterance):
            case Commit() as commit:
                await self._say(commit)
            case Drop(over_reply_id=str(reply_id), disposition="backchannel"):
                self._inputs.backchannel(heard.input_id, text, reply_id)
            case Drop(reason=why):
                self._inputs.settled(heard.input_id, "rejected", why)
            case Hold(instead=Utterance() as dropped):
                self._inputs.settled(dropped.input_id, "rejected", "dropped")
            case Hold():
                pass

    def _rejected(self, heard: Finished, why: str) -> None:
        """No turn; a hum over a reply is a sign of listening all the same. What a recognizer makes of one is nobody's words."""
        over = self._barge.hummed(heard.input_id) if hums(why, heard.voiced_ms) else None
        if over is not None:
            self._inputs.backchannel(heard.input_id, "", over)
            return
        self._inputs.settled(heard.input_id, "rejected", why)
        self._barge.dropped(heard.input_id)

    async def _asked(self, heard: Finished, text: str) -> str | None:
        """The words as ON_TRANSCRIPTION hooks leave them; None when one blocks, or leaves none."""
        said = self._inputs.transcription(heard.input_id, text, heard.start_ms, heard.end_ms)
        outcome = await self._inputs.engine.host.run_hooks(HookTrigger.ON_TRANSCRIPTION, said, self._inputs.room_id)
        left = outcome.payload.text.strip()
        if outcome.blocked_by is not None or not left:
            self._inputs.settled(heard.input_id, "rejected", outcome.reason or "blocked")
            return None
        return left

    async def _say_held(self) -> None:
        """What a reply that could not be cut kept waiting goes before anything said later."""
        async with self._in_order:
            while self._held:
                commit = self._held.popleft()
                try:
                    await self._say(commit)
                except Exception as error:  # noqa: BLE001 - costs this utterance
                    self._inputs.failed(commit.utterance.input_id, "input", error)

    async def _say(self, commit: Commit) -> None:
        said = commit.utterance
        message = self._inputs.message(said, replaces=commit.replaces, only_stops=self._barge.only_stops(commit))
        result = await self._inputs.engine.process_inbound(message, room_id=self._inputs.room_id)
        if result.blocked or result.event is None:
            self._inputs.settled(said.input_id, "rejected", result.reason or "blocked")
            return
        self._undecided.add(said.input_id)
        self._line.deciding = True
        self._floor.changed()
        self._inputs.decided(said.input_id, partial(self._on_decided, said.input_id))

    def _on_decided(self, input_id: str) -> None:
        """The room's agents know what they do about one more of the person's utterances."""
        self._undecided.discard(input_id)
        self._ahead.drop(input_id)
        if not self._undecided:
            self._line.deciding = False
            self._floor.changed()
