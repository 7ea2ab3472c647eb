"""People who share a microphone, each by their voice: who is answered, who is only heard, and what the room calls them."""

import asyncio

import numpy as np
import pytest

from tests.scenario.deciding import Watch, deciding
from tests.scenario.scripted import LOUD, House, ScriptedCall, ScriptedStt, house
from voiceagent import clock
from voiceagent.audio.frame import Samples, to_ms
from voiceagent.errors import SpeechError
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.policy import MockSpeakPolicy
from voiceagent.speech.settings import HearingSettings, VoicesSettings
from voiceagent.speech.traits import Timbre, Traits
from voiceagent.speech.voicebook import Known
from voiceagent.voice.reception import Voices
from voiceagent.voice.who import Company

SYLVAIN, NEWS, WEATHER, GUEST = 1_000, 2_000, 3_000, 4_000
WORDS = {SYLVAIN: "what did they say", NEWS: "breaking news", WEATHER: "rain tomorrow", GUEST: "who is that"}


class ByLevel:
    """Whose voice it is stands in how loud it is; NEWS comes out of something narrow."""

    def __init__(self) -> None:
        self.fails = False
        self.delay_ms = 0
        self.read = self.whole = 0

    async def traits(self, sound: Samples) -> Traits | None:
        self.read += 1
        if self.fails:
            raise SpeechError("no voices today")
        await clock.sleep_until(clock.now() + self.delay_ms)
        self.whole += 1
        level = int(np.abs(sound).max())
        print = np.zeros(256, dtype=np.float32)
        print[level // 1_000] = 1.0
        return Traits(print, Timbre(-20.0, 3_400 if level == NEWS else 8_000), to_ms(int((np.abs(sound) >= LOUD).sum())))


def sylvain() -> Known:
    print = np.zeros(256, dtype=np.float32)
    print[SYLVAIN // 1_000] = 1.0
    return Known("Sylvain", (print,))


def voices(reader: ByLevel | None = None) -> Voices:
    return Voices(reader or ByLevel(), lambda: Company(lambda: [sylvain()], VoicesSettings()))


def call(*levels: int, each_ms: int = 1_000, until_ms: int | None = None) -> ScriptedCall:
    """One says something, then there are four seconds of silence, then the next does."""
    spans: list[tuple[int, int]] = []
    for level in levels:
        spans += [(each_ms, level), (4_000, 0)]
    return ScriptedCall("line", spans, until_ms=until_ms or len(levels) * (each_ms + 4_000))


async def names(here: House) -> list[tuple[str, str]]:
    """(name, words) of what was said on the line."""
    events = await here.engine.store.list_events("room", limit=100)
    return [
        (str(event.metadata.get("sender_name")), event.content.body)
        for event in events
        if event.source.participant_id == "living room" and event.metadata.get("source") == "voice"
    ]


async def receive(here: House, *levels: int, shared: bool = True) -> None:
    await here.receive(call(*levels), "living room", shared=shared)


async def test_people_on_one_microphone_are_told_apart() -> None:
    async with house(stt=ScriptedStt(WORDS), voices=voices()) as here:
        await receive(here, SYLVAIN, NEWS, GUEST, NEWS)
        assert await names(here) == [
            ("Sylvain", "what did they say"),
            ("voice 1", "breaking news"),
            ("voice 2", "who is that"),
            ("voice 1", "breaking news"),
        ]


async def test_answer_only_answers_the_enrolled_and_only_hears_the_television() -> None:
    inner = MockSpeakPolicy(["speak"])
    nova, _ = deciding(AnswerOnly(inner, people=["Sylvain"]))
    async with house(stt=ScriptedStt(WORDS), voices=voices(), agent=nova) as here:
        watch = Watch(here.engine)
        await receive(here, NEWS, WEATHER, SYLVAIN, NEWS)
        assert watch.modes == [
            ("silent", "only listened to"),
            ("silent", "only listened to"),
            ("speak", "scripted"),
            ("silent", "only listened to"),
        ]
        (turn,) = inner.turns
        assert turn.speakers[turn.event.id] == "Sylvain"
        assert [turn.speakers[said.id] for said in turn.recent] == ["voice 1", "voice 2"]
        assert list(turn.people) == ["Sylvain"]


async def test_an_answer_begun_ahead_for_a_named_voice_is_the_one_that_is_given() -> None:
    nova, model = deciding(MockSpeakPolicy(["speak"]))
    async with house(stt=ScriptedStt(WORDS), voices=voices(), agent=nova) as here:
        await receive(here, SYLVAIN)
        assert len(model.prompts) == 1, "what was foreseen had the same speaker as what came"


async def test_the_people_around_are_the_voices_once_there_are_several() -> None:
    inner = MockSpeakPolicy(["silent"])
    nova, _ = deciding(inner)
    async with house(stt=ScriptedStt(WORDS), voices=voices(), agent=nova) as here:
        await receive(here, SYLVAIN, GUEST)
        assert [list(turn.people) for turn in inner.turns][-1] == ["Sylvain", "voice 1"]


async def test_the_chance_of_a_loudspeaker_is_a_judgment_beside_the_others() -> None:
    nova, _ = deciding(AnswerOnly(MockSpeakPolicy(["speak"]), people=["Sylvain"]))
    async with house(stt=ScriptedStt(WORDS), voices=voices(), agent=nova) as here:
        watch = Watch(here.engine)
        await receive(here, NEWS, SYLVAIN)
        news, sylvain = (event.decision.judgments["loudspeaker"] for event in watch.decisions)
        assert news > 0.5 > sylvain
        told = [event.data["judgments"] for event in await here.read() if event.type == "input.decided"]
        assert told == [{"loudspeaker": news}, {"loudspeaker": sylvain}]


async def test_a_line_of_ones_own_names_nobody_by_voice() -> None:
    reader = ByLevel()
    async with house(stt=ScriptedStt(WORDS), voices=voices(reader)) as here:
        await receive(here, SYLVAIN, NEWS, shared=False)
        assert await names(here) == [("None", "what did they say"), ("None", "breaking news")]
        assert reader.read == 0


async def test_what_cannot_be_read_costs_the_name_only(caplog: pytest.LogCaptureFixture) -> None:
    reader = ByLevel()
    reader.fails = True
    async with house(stt=ScriptedStt(WORDS), voices=voices(reader)) as here:
        await receive(here, SYLVAIN)
        assert await names(here) == [("None", "what did they say")]
    assert "nobody is told apart by voice" in caplog.text


async def test_who_goes_on_after_a_pause_is_read_again_whole() -> None:
    reader = ByLevel()
    reader.delay_ms = 400
    async with house(stt=ScriptedStt(WORDS), voices=voices(reader)) as here:
        spans = [(1_000, GUEST), (300, 0), (1_000, GUEST), (200, 0), (600, GUEST), (4_000, 0)]
        await here.receive(ScriptedCall("line", spans, until_ms=8_000), "living room", shared=True)
        assert await names(here) == [("voice 1", "who is that")]
        assert (reader.read, reader.whole) == (3, 1), "each pause's reading but the last was let go"


async def test_numbers_stay_while_the_room_is_open_whatever_line_they_are_on() -> None:
    async with house(stt=ScriptedStt(WORDS), voices=voices()) as here:
        async with asyncio.TaskGroup() as lines:
            lines.create_task(here.receive(ScriptedCall("kitchen", [], until_ms=14_000), "kitchen"))
            await here.receive(call(NEWS, GUEST), "living room", shared=True)
            await here.receive(ScriptedCall("again", [(1_000, GUEST)], until_ms=4_000), "living room", shared=True)
        assert await names(here) == [("voice 1", "breaking news"), ("voice 2", "who is that"), ("voice 2", "who is that")]


async def test_endless_talk_holds_a_turn_open_no_longer_than_its_cap() -> None:
    """A television that never pauses, on a line that hears everybody: each turn is over by the longest there is."""
    endless = ScriptedCall("line", [(21_000, NEWS)], until_ms=25_000)
    capped = HearingSettings(max_speech_ms=5_000)
    async with house(stt=ScriptedStt(WORDS), voices=voices(), hearing=capped) as here:
        await here.receive(endless, "living room", shared=True)
        events = await here.engine.store.list_events("room", limit=100)
        lasted = [event.metadata["audio_ms"] for event in events if event.metadata.get("source") == "voice"]
        assert len(lasted) >= 4
        assert all(isinstance(ms, int) and ms <= 5_000 for ms in lasted)
