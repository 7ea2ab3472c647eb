"""Words that come twice, late or not at all: one answer to what was said, and none left waiting (Cases from the field)."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.scenario.scripted import AGENT_LEVEL, House, ScriptedCall, ScriptedStt, house
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.audio.frame import Samples
from voiceagent.errors import SpeechError
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.speech.engines import Transcript
from voiceagent.speech.settings import HearingSettings
from voiceagent.speech.streaming import Heard, SpeechStream
from voiceagent.voice.recognition import deadline_ms

ANN, BEN = 1_000, 2_000
TURN = [(200, 0), (800, ANN)]
WAIT_MS = 500


class Twice:
    """A recognizer that listens along, and says its last words again `again_ms` after them, perhaps in other words."""

    streams = True

    def __init__(self, first: str, again: str, again_ms: int) -> None:
        self.first, self.again, self.again_ms = first, again, again_ms
        self.told = 0

    def stream(self) -> SpeechStream:
        return _Stream(self)

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        raise SpeechError("it only listens along")


class _Stream:
    interim = False

    def __init__(self, engine: Twice) -> None:
        self._engine = engine
        self._finished = asyncio.Event()

    def push(self, samples: Samples) -> None:
        pass

    def finish(self) -> None:
        self._finished.set()

    async def events(self) -> AsyncIterator[Heard]:
        await self._finished.wait()
        for words in (self._engine.first, self._engine.again):
            self._engine.told += 1
            yield Heard(Transcript(words), sure=True)
            await clock.sleep_until(clock.now() + self._engine.again_ms)
        await asyncio.Event().wait()

    async def close(self) -> None:
        pass


def turns(here: House) -> list[str]:
    return [words for _, words in here.agent.read]


async def spoken(here: House) -> list[object]:
    return [event.data["text"] for event in await here.read() if event.type == "speech.finished"]


@pytest.mark.parametrize("again", ["tell me more", "Tell me more, please."])
@pytest.mark.parametrize("again_ms", [20, 200, 900])
async def test_case_37_two_finals_in_one_turn_are_one_turn_and_one_answer(again: str, again_ms: int) -> None:
    stt = Twice("tell me more", again, again_ms)
    async with house(stt=stt, answers=["We open at nine.", "And once more."]) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=8_000))
        assert len(turns(here)) == 1
        assert turns(here)[0] in ("tell me more", again)
        assert await spoken(here) == ["We open at nine."]


@pytest.mark.parametrize("again", ["tell me more", "tell me more please"])
async def test_case_37_an_answer_begun_ahead_is_given_once_though_the_words_come_twice(again: str) -> None:
    agent = AIChannel("assistant", provider=ScriptedModel(["We open at nine."] * 4), system_prompt="")
    async with house(stt=Twice("tell me more", again, 200), agent=agent) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=8_000))
        assert await spoken(here) == ["We open at nine."]


async def test_case_37_the_words_of_a_turn_that_come_after_the_next_has_begun_are_answered_once_each() -> None:
    """The first one's words are 1.5 s late; its person has gone on long before."""
    stt = ScriptedStt({ANN: "tell me more", BEN: "and the price"}, delay_ms=1_500)
    call = ScriptedCall("s1", [*TURN, (700, 0), (800, BEN)], until_ms=12_000)
    async with house(stt=stt, answers=["First.", "Second."], hearing=HearingSettings(max_wait_ms=WAIT_MS)) as here:
        await here.receive(call)
        assert turns(here) == ["tell me more", "and the price"]
        said = await spoken(here)
    assert said in (["First.", "Second."], ["Second."])


@pytest.mark.parametrize(
    ("sound_ms", "allowed"), [(0, 10_000), (600, 10_000), (10_000, 10_000), (24_000, 24_000), (30_000, 30_000)]
)
def test_a_recognizer_has_its_deadline_for_ten_seconds_of_sound_and_for_more_in_proportion(sound_ms: int, allowed: int) -> None:
    assert deadline_ms(sound_ms, 10_000) == allowed


@pytest.mark.parametrize(
    ("speaks_ms", "late_ms", "is_turn"), [(24_000, 20_000, True), (24_000, 26_000, False), (800, 11_000, False)]
)
async def test_words_of_long_speech_may_take_as_long_as_it_did(speaks_ms: int, late_ms: int, is_turn: bool) -> None:
    """A loaded machine decodes half a minute late; that costs a wait, and not what was said. A short word is given up sooner."""
    stt = ScriptedStt({ANN: "all that I had to say"}, delay_ms=late_ms)
    call = ScriptedCall("s1", [(200, 0), (speaks_ms, ANN)], until_ms=speaks_ms + 36_000)
    async with house(stt=stt, answers=["I see."]) as here:
        await here.receive(call)
        assert turns(here) == ["all that I had to say"] * is_turn
    assert bool(call.heard_ms(AGENT_LEVEL)) is is_turn


async def test_nobody_is_left_without_an_answer_behind_words_that_never_came() -> None:
    stt = ScriptedStt({ANN: "hello there", BEN: ""})
    stt.hang = BEN
    call = ScriptedCall("s1", [(200, 0), (800, BEN), (3_000, 0), (800, ANN)], until_ms=20_000)
    async with house(stt=stt, answers=["Good day."]) as here:
        await here.receive(call)
        (read,) = here.agent.read
    assert read[0] <= 200 + 800 + 10_000 + WAIT_MS
    assert call.heard_ms(AGENT_LEVEL) > 0
