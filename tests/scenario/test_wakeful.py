"""A line that sleeps, as a call: what the room hears of it, and what a stop does to a reply."""

import numpy as np
import pytest

from tests.scenario.scripted import ROOM, ScriptedCall, ScriptedDetector, ScriptedStt, house
from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, AudioFrame, Samples, to_ms
from voiceagent.room.engine import RoomEngine
from voiceagent.speech.settings import WakeSettings
from voiceagent.speech.wake import WakeFilter
from voiceagent.voice.stopping import StopListener
from voiceagent.voice.wakeful import WakefulCall

WORD, WEATHER, STOP, CHAT = 700, 1_000, 2_000, 3_000
WORDS = {WORD: "okay nabu", WEATHER: "what about the weather", STOP: "stop", CHAT: "pass me the salt"}
LONG = "A very long answer that goes on for quite some time, and then for longer still, as answers may."


class ByLevel:
    """The phrase is over when what is as loud as WORD is."""

    def __init__(self) -> None:
        self._heard = False

    def hear(self, frame: Samples) -> float:
        before, self._heard = self._heard, int(np.abs(frame).max()) == WORD
        return 1.2 if before and not self._heard else 0.0


async def announce(engine: RoomEngine) -> None:
    await engine.say(ROOM, LONG)


class Room:
    """A sleeping line in a house; `states` is when it woke and slept."""

    def __init__(self, *spans: tuple[int, int], until_ms: int, stops: bool = True, settings: WakeSettings | None = None) -> None:
        self.line = ScriptedCall("line", spans, until_ms=until_ms)
        self.states: list[tuple[int, bool]] = []
        self.recognizer = ScriptedStt(WORDS, delay_ms=70)
        wake = WakeFilter(settings or WakeSettings(), ByLevel(), ByLevel(), lambda frame: bool(frame.any()))
        self.call = WakefulCall(
            self.line,
            wake,
            stops=StopListener(self.recognizer, ScriptedDetector()) if stops else None,
            on_change=lambda awake: self.states.append((clock.now() - self.began, awake)),
        )
        self.began = 0

    async def open(self, *answers: str) -> list[str]:
        """Runs it; what was said to the room, in order."""
        async with house(stt=ScriptedStt(WORDS, delay_ms=70), answers=answers) as here:
            self.began = clock.now()
            await here.receive(self.call)
            self.cuts = [event.data for event in await here.read() if event.type == "speech.cut"]
            return [text for who, text in await here.messages() if who == "ann"]


async def test_asleep_the_room_hears_nothing() -> None:
    room = Room((2_000, CHAT), until_ms=6_000)
    assert await room.open("Never.") == []
    assert room.states == []
    assert (room.recognizer.finals, room.recognizer.partials) == (0, 0), "nor does anybody else, while nothing sounds"


async def test_the_words_that_follow_at_once_are_heard_from_their_first_sound() -> None:
    room = Room((500, 0), (600, WORD), (1_500, WEATHER), until_ms=8_000)
    assert await room.open("Fine.") == ["what about the weather"]
    assert room.states[0] == (1_120, True)


async def test_it_sleeps_again_and_wakes_again() -> None:
    settings = WakeSettings(follow_ms=2_000)
    room = Room(
        (600, WORD),
        (1_000, WEATHER),
        (9_000, 0),
        (2_000, CHAT),
        (400, WORD),
        (1_000, WEATHER),
        until_ms=22_000,
        settings=settings,
    )
    assert await room.open("Fine.", "As before.") == ["what about the weather"] * 2
    assert [awake for _, awake in room.states] == [True, False, True, False]


async def test_time_stays_the_same_for_the_room() -> None:
    """What is handed over at once on waking is made up for while it sleeps: frames stay a clock."""
    room = Room((400, WORD), (500, WEATHER), until_ms=20_000)
    frames: list[AudioFrame] = [frame async for frame in room.call.frames()]
    assert to_ms(frames[-1].at) + FRAME_MS == 20_000
    assert [frame.at for frame in frames] == [at * 320 for at in range(len(frames))]


async def test_a_stop_while_it_sleeps_silences_what_sounds_within_300_ms_and_wakes_it() -> None:
    spoken = 300
    room = Room((3_000, 0), (spoken, STOP), until_ms=12_000)

    async with house(stt=ScriptedStt(WORDS, delay_ms=70)) as here:
        room.began = clock.now()
        here.engine.host.spawn(announce(here.engine), "announcement")
        await here.receive(room.call)
        last = max(at for at, level in room.line.heard if level)
        events = await here.read()
    assert last - room.began <= 3_000 + spoken + 300
    assert [event.type for event in events if event.type in ("speech.cut", "speech.finished")] == ["speech.cut"]
    assert room.states[0][1] is True


@pytest.mark.parametrize("stops", [True, False])
async def test_other_talk_over_a_reply_does_not_reach_the_room_asleep(stops: bool) -> None:
    room = Room((3_000, 0), (800, CHAT), until_ms=12_000, stops=stops)
    async with house(stt=ScriptedStt(WORDS, delay_ms=70)) as here:
        room.began = clock.now()
        here.engine.host.spawn(announce(here.engine), "announcement")
        await here.receive(room.call)
        events = await here.read()
    assert [event.type for event in events if event.type.startswith("input.")] == []
    assert [event.type for event in events if event.type in ("speech.cut", "speech.ducked", "speech.finished")] == [
        "speech.finished"
    ]
    assert room.states == []


async def test_a_key_wakes_it() -> None:
    room = Room((1_000, 0), (1_000, WEATHER), until_ms=8_000)
    room.call.wake()
    assert await room.open("Fine.") == ["what about the weather"]


async def test_to_the_reception_it_is_the_call_it_stands_around() -> None:
    room = Room(until_ms=1_000)
    frame = AudioFrame(np.full(320, 5, dtype=np.int16))
    assert (room.call.session_id, room.call.has_screen, room.call.behind) == ("line", True, 0)
    assert (room.call.play(frame), room.call.queued, room.call.clear()) == (0, 320, 320)
    await room.call.hang_up()
    assert room.line.hung_up
