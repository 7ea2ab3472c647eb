"""Where a call meets its room: it is let in, greeted, heard to its end, and leaves nothing behind."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from voiceagent.audio.frame import Samples, to_ms, to_samples
from voiceagent.errors import SpeechError
from voiceagent.room.channel import Channel, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, Participant
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.room.reply import Reply
from voiceagent.speech.engines import TextToSpeech
from voiceagent.speech.rejection import reject
from voiceagent.speech.settings import SpeakingSettings
from voiceagent.speech.traits import TraitsReader
from voiceagent.transport.call import Call
from voiceagent.values import JSON
from voiceagent.voice.channel import VoiceChannel
from voiceagent.voice.detector import InterruptionDetector
from voiceagent.voice.floor import VOICE_CHANNEL, Floor
from voiceagent.voice.hearing import Hearing
from voiceagent.voice.mouth import Speaking
from voiceagent.voice.questions import SpokenQuestions
from voiceagent.voice.settings import VoiceSettings
from voiceagent.voice.who import Company, Who

__all__ = ["CallMark", "Hearing", "Reception", "Voices"]

log = logging.getLogger(__name__)

HANG_UP_MS: Final = 2_000
"""How long a line may take to close before nobody waits for it."""


@dataclass(frozen=True, slots=True)
class CallMark:
    """Payload of ON_CALL_STARTED and ON_CALL_ENDED."""

    room_id: str
    session_id: str
    participant_id: str


class Floors(Channel):
    """The one registered voice channel: hands each reply to the floor of its room."""

    def __init__(self, on_unbound: Callable[[Floor], None]) -> None:
        """`on_unbound` is told of a floor that the engine took its room away from."""
        super().__init__(VOICE_CHANNEL, ChannelType.VOICE)
        self._on_unbound = on_unbound
        self._floors: dict[str, Floor] = {}

    def open(self, floor: Floor) -> None:
        """A room has a floor from now on."""
        self._floors[floor.room_id] = floor

    def shut(self, floor: Floor) -> bool:
        """It has none any more; False when this floor was not the room's."""
        if self._floors.get(floor.room_id) is not floor:
            return False
        del self._floors[floor.room_id]
        return True

    def on_reply(self, reply: Reply, context: RoomContext) -> None:
        """Queues the reply on its room's floor."""
        floor = self._floors.get(reply.room_id)
        if floor is not None:
            floor.take(reply)

    def on_draft(self, draft: Reply) -> None:
        """Has its room's floor get its beginning ready."""
        floor = self._floors.get(draft.room_id)
        if floor is not None:
            floor.rehearse(draft)

    def snapshot(self, room_id: str) -> Mapping[str, JSON]:
        """What sounds in the room."""
        floor = self._floors.get(room_id)
        return {} if floor is None else {"speeches": floor.speeches()}

    def on_detach(self, room_id: str) -> None:
        """Unbound: whatever waits to sound there is let go."""
        floor = self._floors.get(room_id)
        if floor is not None:
            floor.drop("unbound")
            self._on_unbound(floor)

    def cancel_generation(self, room_id: str, generation_id: str, reason: str) -> bool:
        """Stops an answer that is made and sounds, or waits to; False when it does neither."""
        floor = self._floors.get(room_id)
        return floor is not None and floor.cancel(generation_id, reason)

    async def close(self) -> None:
        """Every floor closes."""
        for floor in tuple(self._floors.values()):
            floor.close("closed")


@dataclass(slots=True, eq=False)
class _Venue:
    """A room with calls in it, or about to be: `expected` counts them from their arrival to their end.

    `gone`: the room was closed under them.
    """

    expected: int = 0
    floor: Floor | None = None
    running: asyncio.Task[None] | None = None
    questions: SpokenQuestions | None = None
    calls: list[VoiceChannel] = field(default_factory=list)
    gone: bool = False
    company: Company | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Voices:
    """What tells people on one line apart: the reader of their traits, and what makes a room's company."""

    reader: TraitsReader
    company: Callable[[], Company]


class Reception:
    """Runs calls. Make one an engine: it registers the voice channel there."""

    def __init__(
        self,
        engine: RoomEngine,
        hearing: Hearing,
        tts: TextToSpeech,
        settings: VoiceSettings,
        speaking: SpeakingSettings | None = None,
        *,
        detector: InterruptionDetector | None = None,
        voices: Voices | None = None,
    ) -> None:
        """`speaking` says how text is cut and spelled for `tts`; `detector` is the host's own judge of who wants the turn;
        `voices` tells people on one line apart."""
        self._voices = voices
        self._engine = engine
        self._hearing = hearing
        self._speaking = Speaking(tts, speaking or SpeakingSettings())
        self._settings = settings
        self._detector = detector
        self._floors = Floors(self._unbound)
        self._closing: set[asyncio.Task[None]] = set()
        self._venues: dict[str, _Venue] = {}
        engine.register_channel(self._floors)

    @property
    def calls(self) -> int:
        """How many calls run."""
        return sum(len(venue.calls) for venue in self._venues.values())

    async def receive(self, call: Call, *, room_id: str, participant: Participant, shared: bool = False) -> None:
        """Runs a call in a room until its frames end. An error in it is logged with its id, and the call hung up; none is raised.

        The room is opened when it is not. A person who is in the room on another line has that one hung up. `shared`: whoever is
        near may speak on it, and each is named by their voice, if voices are told apart at all.
        """
        venue = self._venues.setdefault(room_id, _Venue())
        venue.expected += 1
        try:
            floor = await self._enter(venue, room_id)
            person = replace(participant, connected_via=tuple(dict.fromkeys((*participant.connected_via, VOICE_CHANNEL))))
            await self._run(venue, self._channel(venue, call, person, floor, shared=shared))
        except Exception as error:
            log.exception("call %s in room %s failed", call.session_id, room_id)
            self._engine.host.notify(HookTrigger.ON_ERROR, ErrorEvent(room_id, VOICE_CHANNEL, "call", error), room_id)
        finally:
            venue.expected -= 1
            await self._hang_up(call)
            await self._leave(venue, room_id, participant.id)

    def _channel(self, venue: _Venue, call: Call, person: Participant, floor: Floor, *, shared: bool) -> VoiceChannel:
        if not shared or self._voices is None:
            return VoiceChannel(call, person, floor, self._hearing)
        venue.company = venue.company or self._voices.company()
        return VoiceChannel(call, person, floor, self._hearing.attributing(self._voices.reader), Who(venue.company))

    async def words(self, sound: Samples) -> str:
        """The words of a recording, 16 kHz mono; none when nobody speaks in it. Raises SpeechError when they cannot be known."""
        said: list[str] = []
        longest = to_samples(self._hearing.settings.max_speech_ms)
        for at in range(0, sound.size, longest):
            part = sound[at : at + longest]
            async with asyncio.TaskGroup() as tasks:
                found = await self._hearing.recognition(tasks, self._settings).words(part)
            if isinstance(found, Exception):
                raise SpeechError("the recognizer failed") from found
            if reject(found, 1.0, to_ms(part.size)) is None:
                said.append(found.text.strip())
        return " ".join(said)

    async def keyed(self, session_id: str, digits: str) -> None:
        """Keys were pressed on a call; nothing when it is unknown. Raises StoreError."""
        for venue in tuple(self._venues.values()):
            for channel in tuple(venue.calls):
                if channel.call.session_id == session_id:
                    await channel.keyed(digits)

    async def hang_up(self, session_id: str) -> None:
        """Ends a call from this side, once what is being said is finished if the settings say so; nothing when it is unknown."""
        for venue in tuple(self._venues.values()):
            for channel in tuple(venue.calls):
                if channel.call.session_id == session_id and venue.floor is not None:
                    await self._finish(venue.floor)
                    await self._hang_up(channel.call)

    async def _enter(self, venue: _Venue, room_id: str) -> Floor:
        """The room's floor, laid when this is its first call."""
        async with venue.lock:
            if venue.floor is None:
                await self._engine.create_room(room_id)
                floor = Floor(self._engine, self._floors, room_id, self._speaking, self._settings, detector=self._detector)
                self._floors.open(floor)
                venue.floor = floor
                venue.running = self._engine.host.spawn(floor.run(), f"floor {room_id}")
                await floor.started()
                venue.questions = SpokenQuestions(self._engine, floor, self._speaking.settings.language)
                self._engine.host.spawn(venue.questions.run(), f"questions of {room_id}")
                await self._engine.attach_channel(room_id, VOICE_CHANNEL)
                if self._settings.greeting:
                    self._engine.host.spawn(self._greet(room_id), f"greeting {room_id}")
            return venue.floor

    async def _run(self, venue: _Venue, channel: VoiceChannel) -> None:
        floor = venue.floor
        assert floor is not None
        before = [other for other in venue.calls if other.participant.id == channel.participant.id]
        venue.calls.append(channel)
        floor.seat(channel.line)
        if venue.questions is not None:
            venue.questions.look()
        mark = CallMark(floor.room_id, channel.call.session_id, channel.participant.id)
        try:
            for other in before:
                await self._hang_up(other.call)
            await self._engine.join(floor.room_id, channel.participant)
            self._engine.host.notify(HookTrigger.ON_CALL_STARTED, mark, floor.room_id)
            await channel.run()
            if len(venue.calls) == 1:
                await self._finish(floor)
        finally:
            venue.calls.remove(channel)
            floor.leave(channel.line)
            self._engine.host.notify(HookTrigger.ON_CALL_ENDED, mark, floor.room_id)

    async def _leave(self, venue: _Venue, room_id: str, participant_id: str) -> None:
        """The person goes, unless on another line; the floor goes with the last call."""
        async with venue.lock:
            try:
                if not venue.gone and all(other.participant.id != participant_id for other in venue.calls):
                    await self._engine.leave(room_id, participant_id)
                if venue.expected == 0 and venue.floor is not None:
                    await self._close(venue, venue.floor)
            except Exception:
                log.exception("room %s was not left in order", room_id)
            if venue.expected == 0 and self._venues.get(room_id) is venue:
                del self._venues[room_id]

    async def _close(self, venue: _Venue, floor: Floor) -> None:
        """Takes up the floor: what it has to write is written before the voice channel leaves the room."""
        floor.close("hang_up")
        if venue.running is not None:
            await asyncio.wait((venue.running,))
        venue.floor = venue.running = venue.questions = None
        if self._floors.shut(floor):
            await self._engine.detach_channel(floor.room_id, VOICE_CHANNEL)

    def _unbound(self, floor: Floor) -> None:
        """A room that was closed under its calls: they end, and whoever calls next finds another floor."""
        if not self._engine.context(floor.room_id).closed:
            return
        self._floors.shut(floor)
        venue = self._venues.pop(floor.room_id)
        venue.gone = True
        for channel in venue.calls:
            self._engine.host.spawn(self._hang_up(channel.call), f"hang up {channel.call.session_id}")
        floor.close("closed")

    async def _finish(self, floor: Floor) -> None:
        """What is still unsaid is said, if the settings say so, within their bound."""
        if self._settings.goodbye_on_hang_up == "drop":
            return
        try:
            async with asyncio.timeout(self._settings.goodbye_max_ms / 1000):
                await floor.quiet()
        except TimeoutError:
            log.warning("room %s: what was left to say took longer than %d ms", floor.room_id, self._settings.goodbye_max_ms)

    async def _greet(self, room_id: str) -> None:
        await self._engine.say(room_id, self._settings.greeting, urgent=False)

    async def _hang_up(self, call: Call) -> None:
        """Closes a line; one that will not be closed in time is not waited for."""
        closing = asyncio.create_task(_closed(call), name=f"hang up {call.session_id}")
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        try:
            await asyncio.wait((closing,), timeout=HANG_UP_MS / 1000)
        finally:
            if not closing.done():
                log.error("call %s could not be hung up within %d ms", call.session_id, HANG_UP_MS)
                closing.cancel()


async def _closed(call: Call) -> None:
    try:
        await call.hang_up()
    except Exception:
        log.exception("call %s could not be hung up", call.session_id)
