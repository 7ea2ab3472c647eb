"""A day in many rooms: people come, talk, cut in, steer, stop and leave; calls ring; rooms close, and the program starts anew."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random

from tests.scenario.rooms import Door
from tests.scenario.scripted import ScriptedCall, ScriptedDetector, ScriptedStt, ToneTts
from tests.scenario.town import agents, chance, hooks
from voiceagent.audio.frame import Samples
from voiceagent.errors import RoomError
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, Participant, TextContent
from voiceagent.room.feed import FeedEvent
from voiceagent.room.live import LiveRoom
from voiceagent.room.store import Store
from voiceagent.speech.engines import Transcript
from voiceagent.values import JSON
from voiceagent.voice.reception import Hearing, Reception
from voiceagent.voice.settings import VoiceSettings

PEOPLE = ("ana", "ben", "cem")
SAYINGS = (
    "what time is it",
    "and Tuesday?",
    "slowly please",
    "it is forbidden",
    "hush now",
    "broken",
    "odd",
    "mm-hm",
    "stop",
    "",
)
LEVELS = {1_000: "hello there", 2_000: "and the weather", 3_000: "no, wait", 4_000: "mm-hm", 6_000: "cannot be heard", 7_000: ""}
DEEDS = {
    "say": 50,
    "flurry": 8,
    "again": 4,
    "steer": 8,
    "instruct": 4,
    "announce": 3,
    "stop": 8,
    "cancel job": 4,
    "hear": 10,
    "come": 6,
    "go": 4,
    "seat": 3,
    "read": 3,
    "close": 3,
}
"""What people and the host do, and how often."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How big a day is: `calls` of the rooms have calls, `filed` lie in a file, each sees `acts` deeds a shift."""

    rooms: int = 200
    calls: int = 12
    filed: int = 50
    acts: int = 6
    shifts: int = 2
    idle_ms: int = 600_000


@dataclass
class Followed:
    """What a reader of one room's feed has taken, over every closing of the room: durable lines, and the words between them."""

    lines: list[FeedEvent] = field(default_factory=list)
    words: dict[tuple[str, int], str] = field(default_factory=dict)

    def take(self, line: FeedEvent) -> None:
        if line.seq is not None:
            self.lines.append(line)
            if line.type == "assistant.message":
                self._whole(line, str(line.data["text"]))
            return
        assert line.after is not None and (not self.lines or line.after >= (self.lines[-1].seq or 0)), line
        if line.type == "text.delta":
            key = (str(line.generation_id), int(str(line.data["segment"])))
            self.words[key] = self.words.get(key, "") + str(line.data["text"])

    def _whole(self, line: FeedEvent, text: str) -> None:
        """Words that came bit by bit are part of those that come whole; a reader may have missed some bits, never the whole."""
        heard = self.words.pop((str(line.generation_id), int(str(line.data["segment"]))), "")
        assert heard in text, (heard, text)


class Room:
    """One room through one shift."""

    def __init__(self, kit: RoomEngine, room_id: str, draw: Random, followed: Followed, speaker: Door) -> None:
        self.kit = kit
        self.id = room_id
        self.draw = draw
        self.followed = followed
        self.speaker = speaker
        self.said = 0
        self.work: list[asyncio.Task[object]] = []
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Opens the room with its channels, and a reader who goes on where the last one stopped."""
        await self.kit.create_room(self.id)
        await self.over()
        lines = self.followed.lines
        reader = self.kit.feed(self.id).subscribe(after=lines[-1].seq if lines else 0)
        assert reader.gap is None, (self.id, reader.gap)

        async def read() -> None:
            async for line in reader.events():
                self.followed.take(line)

        self._reading = asyncio.create_task(read())
        for channel in ("text", "assistant", "speaker" if self.draw.random() < 0.5 else "text"):
            await self.kit.attach_channel(self.id, channel)
        if self.draw.random() < 0.15:
            await self.kit.attach_channel(self.id, "second")

    async def live(self, acts: int, idle_ms: int) -> None:
        """Deeds, some at once and some long after one another; then everything that people have begun has come to its end."""
        for _ in range(acts):
            deed = self.draw.choices(tuple(DEEDS), tuple(DEEDS.values()))[0]
            if deed == "close":
                await self.close()
                await asyncio.sleep(self.draw.choice((0, 0, 5, 500)))
                await self.open()
            else:
                self.work.append(asyncio.create_task(self.do(deed)))
            self.work = [one for one in self.work if not one.done() or one.exception() is not None]
            await asyncio.sleep(self.draw.choice((0, 0.01, 0.05, 0.5, 3, 40, idle_ms / 1000)))
        await asyncio.gather(*self.work)

    async def close(self) -> None:
        """Closes the room, if it is open."""
        with suppress(RoomError):
            await self.kit.close_room(self.id)

    async def over(self) -> None:
        """The reader has read to the end."""
        if self._reading is not None:
            await self._reading

    # -- deeds ----------------------------------------------------------------------------------------------------------

    async def do(self, deed: str) -> None:
        """One deed; a room that is closed meanwhile says so."""
        person = self.draw.choice(PEOPLE)
        steps: dict[str, Callable[[str], Awaitable[object]]] = {
            "say": self._say,
            "flurry": self._flurry,
            "again": self._again,
            "steer": self._steer,
            "instruct": lambda _: self.kit.deliver(self.id, f"Say the time, {self._new()}.", instruction=True),
            "announce": lambda _: self.kit.say(self.id, f"Attention, {self._new()}.", urgent=self.draw.random() < 0.5),
            "stop": self._stop,
            "cancel job": self._cancel_job,
            "hear": self._hear,
            "come": lambda person: self.kit.join(self.id, Participant(person, person.title())),
            "go": lambda person: self.kit.leave(self.id, person),
            "seat": self._seat,
            "read": self._read,
        }
        with suppress(RoomError):
            await steps[deed](person)

    def _new(self) -> str:
        self.said += 1
        return f"{self.said} in {self.id}"

    async def _say(self, person: str, key: str | None = None) -> None:
        words = f"{self.draw.choice(SAYINGS)} {self._new() if key is None else key}"
        message = InboundMessage("text", TextContent(words), person, idempotency_key=key)
        await self.kit.process_inbound(message, room_id=self.id)

    async def _flurry(self, person: str) -> None:
        for _ in range(self.draw.randint(2, 5)):
            await self._say(person)
            await asyncio.sleep(self.draw.choice((0, 0.02, 0.2)))

    async def _again(self, person: str) -> None:
        for _ in range(2):
            await self._say(person, f"key {self.said}")

    async def _steer(self, person: str) -> None:
        anchor = self._generation() if self.draw.random() < 0.5 else None
        who = person if self.draw.random() < 0.6 else None
        await self.kit.steer(self.id, f"rather {self._new()}", participant_id=who, generation_id=anchor, input_id=self._new())

    async def _stop(self, person: str) -> None:
        generation = self._generation()
        if generation is not None:
            self.kit.cancel_generation(self.id, generation)

    async def _cancel_job(self, person: str) -> None:
        jobs = self._listed("jobs")
        self.kit.cancel_job(self.id, str(jobs[0]["job_id"]) if jobs else "no such job")

    async def _hear(self, person: str) -> None:
        replies = [reply for reply in self.speaker.replies if reply.room_id == self.id and reply.cancelled is None]
        if replies:
            replies[-1].heard = self.draw.random() < 0.7
            if not replies[-1].heard or self.draw.random() < 0.5:
                replies[-1].cancel("barge_in")

    async def _seat(self, person: str) -> None:
        await self.kit.detach_channel(self.id, "assistant")
        await asyncio.sleep(self.draw.choice((0, 0.03, 2)))
        await self.kit.attach_channel(self.id, "assistant", muted=self.draw.random() < 0.1)

    async def _read(self, person: str) -> None:
        recent = self.kit.context(self.id).recent_events
        if recent:
            await self.kit.read(recent[-1].id, person, room_id=self.id)

    def _generation(self) -> str | None:
        return next((str(one["generation_id"]) for one in self._listed("generations")), None)

    def _listed(self, what: str) -> list[dict[str, JSON]]:
        listed = self.kit.snapshot(self.id)[what]
        assert isinstance(listed, list)
        return [one for one in listed if isinstance(one, dict)]


class Callers:
    """Calls that ring in a room while everything else goes on; lines break, engines fail."""

    def __init__(self, reception: Reception) -> None:
        self._reception = reception

    async def ring(self, room: Room, calls: int) -> None:
        """Calls one after the other, or two at once."""
        for number in range(calls):
            await asyncio.sleep(room.draw.uniform(0, 60))
            people = room.draw.sample(PEOPLE, room.draw.choice((1, 1, 2)))
            await asyncio.gather(*(self._call(room, person, f"{room.id} {number} {person}") for person in people))

    async def _call(self, room: Room, person: str, session_id: str) -> None:
        spans = [(200, 0)]
        for _ in range(room.draw.randint(1, 4)):
            spans += [(room.draw.choice((400, 800, 1_200)), room.draw.choice(tuple(LEVELS))), (room.draw.choice((600, 2_000)), 0)]
        call = ScriptedCall(session_id, spans, until_ms=room.draw.choice((3_000, 8_000, 12_000)))
        call.fail_at_ms = room.draw.choice((None, None, None, 2_500))
        await self._reception.receive(call, room_id=room.id, participant=Participant(person, person.title()))


class HardOfHearing(ScriptedStt):
    """Fails at some words, each time anew: an error that is kept keeps all that it has passed through."""

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        heard = await super().transcribe(sound, partial=partial)
        if "cannot" in heard.text:
            raise RuntimeError("what?")
        return heard


def reception(kit: RoomEngine) -> Reception:
    """Scripted ears and mouths, which fail at some words."""
    stt = HardOfHearing(LEVELS, delay_ms=60)
    stt.hang = 7_000
    tts = ToneTts(ms_a_letter=30)
    tts.fails, tts.hangs = "Mind the step", "Slowly now"
    return Reception(kit, Hearing(stt, ScriptedDetector), tts, VoiceSettings(greeting="Welcome."))


@asynccontextmanager
async def engine(store: Store, seed: int) -> AsyncIterator[tuple[RoomEngine, Door]]:
    """The program from its start to its end: everybody is told, whatever is under way."""
    async with RoomEngine(store=store, max_chain_depth=3) as kit:
        hooks(kit)
        speaker = Door("speaker", ChannelType.VOICE)
        channels: Sequence[Channel] = (Door(), speaker, *agents(seed))
        for channel in channels:
            kit.register_channel(channel)
        yield kit, speaker


def alive(kind: type[object]) -> int:
    """How many objects of a class there are."""
    gc.collect()
    return sum(type(one) is kind for one in gc.get_objects())


async def shift(store: Store, rooms: dict[str, Followed], scale: Scale, seed: int, *, calls: int) -> list[Room]:
    """One run of the program, which ends in the middle of the work of half of the rooms."""
    lived: list[Room] = []
    async with engine(store, seed) as (kit, speaker):
        callers = Callers(reception(kit))
        lived += [Room(kit, room_id, chance(seed, room_id), followed, speaker) for room_id, followed in rooms.items()]
        for room in lived:
            await room.open()
        work = [asyncio.create_task(room.live(scale.acts, scale.idle_ms)) for room in lived]
        work += [asyncio.create_task(callers.ring(room, 2)) for room in lived[:calls]]
        await asyncio.gather(*work)
        staying = [room for room in lived if room.draw.random() < 0.5]
        for room in lived:
            if room not in staying:
                await room.close()
        await asyncio.sleep(scale.idle_ms / 1000)
        assert kit.load == (len(staying), 0)
        assert alive(LiveRoom) == len(staying)
        for room in staying:
            await room.do("flurry")
    for room in lived:
        await room.over()
    return lived
