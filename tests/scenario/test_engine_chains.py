"""Several engines in a row, on the virtual clock: who steps in, when, and what is never done twice."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from tests.scenario.scripted import ScriptedCall, ScriptedStt, frame_of, house
from voiceagent import clock
from voiceagent.audio.frame import Samples, to_ms
from voiceagent.errors import LanguageModelError, SpeechError
from voiceagent.llm.chain import ModelChain
from voiceagent.llm.model import Chunk, Done, Message, Prompt, TextDelta
from voiceagent.speech.chain import RecognizerChain, VoiceChain
from voiceagent.speech.engines import Timing, Transcript, Word
from voiceagent.speech.streaming import Heard, SpeechStream
from voiceagent.voice.streamed import STUCK_MS

SOUND = frame_of(1_000)
PROMPT = Prompt((Message("user", "hi"),))


class Recognizer:
    def __init__(self, text: str = "", *, after_ms: int = 0, fails: bool = False) -> None:
        self.text, self.after_ms, self.fails = text, after_ms, fails
        self.asked: list[bool] = []

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        self.asked.append(partial)
        await clock.sleep_until(clock.now() + self.after_ms)
        if self.fails:
            raise SpeechError("broken")
        return Transcript(self.text)


async def test_a_late_or_broken_recognizer_is_replaced_within_the_same_words_and_comes_back() -> None:
    first, second = Recognizer("first", after_ms=5_000), Recognizer("second", after_ms=100)
    chain = RecognizerChain([first, second], late_ms=1_000, cool_down_ms=10_000)
    assert (await chain.transcribe(SOUND)).text == "second"
    assert clock.now() == 1_100
    assert (await chain.transcribe(SOUND)).text == "second"
    assert clock.now() == 1_200
    first.after_ms = 50
    await clock.sleep_until(11_001)
    assert (await chain.transcribe(SOUND)).text == "first"
    first.fails = second.fails = True
    with pytest.raises(SpeechError, match="broken"):
        await chain.transcribe(SOUND)


async def test_a_guess_is_asked_of_the_first_alone() -> None:
    first, second = Recognizer(fails=True), Recognizer("second")
    chain = RecognizerChain([first, second])
    with pytest.raises(SpeechError):
        await chain.transcribe(SOUND, partial=True)
    assert second.asked == []


class Voice:
    def __init__(self, level: int, *, after_ms: int = 0, breaks_after: int | None = None) -> None:
        self.level, self.after_ms, self.breaks_after = level, after_ms, breaks_after
        self.closed = 0

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        try:
            yield Timing((Word(text, 0, 60),))
            for piece in range(3):
                await clock.sleep_until(clock.now() + self.after_ms)
                if piece == self.breaks_after:
                    raise SpeechError("broken")
                yield frame_of(self.level)
        finally:
            self.closed += 1


async def levels(chain: VoiceChain) -> list[int | str]:
    return ["word" if isinstance(piece, Timing) else int(piece[0]) async for piece in chain.speak("hello")]


@pytest.mark.parametrize("first", [Voice(1, after_ms=5_000), Voice(1, breaks_after=0)])
async def test_another_voice_speaks_a_sentence_of_which_nothing_sounded(first: Voice) -> None:
    chain = VoiceChain([first, Voice(2)], late_ms=1_000)
    assert await levels(chain) == ["word", 2, 2, 2]
    assert first.closed == 1
    assert clock.now() <= 1_000


async def test_what_has_begun_to_sound_is_not_spoken_again_and_the_next_sentence_is_the_others() -> None:
    chain = VoiceChain([Voice(1, breaks_after=2), Voice(2)])
    pieces = chain.speak("hello")
    assert [isinstance(await anext(pieces), Timing) for _ in range(3)] == [True, False, False]
    with pytest.raises(SpeechError, match="broken"):
        await anext(pieces)
    assert await levels(chain) == ["word", 2, 2, 2]


async def test_a_sentence_that_is_let_go_closes_its_voice_and_blames_nobody() -> None:
    first = Voice(1)
    chain = VoiceChain([first, Voice(2)])
    pieces = chain.speak("hello")
    await anext(pieces)
    await pieces.aclose()  # type: ignore[attr-defined]
    assert first.closed == 1
    assert await levels(chain) == ["word", 1, 1, 1]


class Model:
    def __init__(self, name: str, *, after_ms: int = 0, breaks_after: int | None = None) -> None:
        self.name, self.after_ms, self.breaks_after = name, after_ms, breaks_after
        self.closed = 0

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        try:
            for piece in range(2):
                await clock.sleep_until(clock.now() + self.after_ms)
                if piece == self.breaks_after:
                    raise LanguageModelError("broken")
                yield TextDelta(self.name)
            yield Done()
        finally:
            self.closed += 1


@pytest.mark.parametrize("first", [Model("a", after_ms=9_000), Model("a", breaks_after=0)])
async def test_another_model_answers_what_nothing_was_said_to(first: Model) -> None:
    chain = ModelChain([first, Model("b")], late_ms=2_000)
    assert chain.name == "a"
    assert [chunk async for chunk in chain.stream(PROMPT)] == [TextDelta("b"), TextDelta("b"), Done()]
    assert chain.name == "b"
    assert first.closed == 1
    assert not chain.schemas


async def test_an_answer_that_has_begun_is_not_begun_again() -> None:
    second = Model("b")
    chain = ModelChain([Model("a", breaks_after=1), second])
    chunks = chain.stream(PROMPT)
    assert await anext(chunks) == TextDelta("a")
    with pytest.raises(LanguageModelError, match="broken"):
        await anext(chunks)
    assert second.closed == 0


class Along:
    """A recognizer that listens along: a word for each 250 ms of voice, all of them sure at the end unless it is `deaf`."""

    streams = True

    def __init__(self) -> None:
        self.opened: list[Listener] = []
        self.deaf = 0
        self.whole = 0

    def stream(self) -> SpeechStream:
        self.deaf -= 1
        self.opened.append(Listener(deaf=self.deaf >= 0))
        return self.opened[-1]

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        self.whole += 1
        raise SpeechError("it only listens along")


class Listener:
    interim = True

    def __init__(self, *, deaf: bool) -> None:
        self.sound: Samples = np.zeros(0, dtype=np.int16)
        self.closed_at: int | None = None
        self._deaf = deaf
        self._news: asyncio.Queue[Heard | None] = asyncio.Queue()
        self._words = 0

    def push(self, samples: Samples) -> None:
        self.sound = np.concatenate((self.sound, samples))
        words = to_ms(int((np.abs(self.sound) >= 500).sum())) // 250
        if words > self._words and not self._deaf:
            self._words = words
            self._news.put_nowait(Heard(self._said()))

    def finish(self) -> None:
        if not self._deaf:
            self._news.put_nowait(Heard(self._said(), sure=True))
            self._news.put_nowait(None)

    async def events(self) -> AsyncIterator[Heard]:
        while (heard := await self._news.get()) is not None:
            yield heard

    async def close(self) -> None:
        self.closed_at = clock.now()

    def _said(self) -> Transcript:
        return Transcript(" ".join(f"word{at}" for at in range(1, self._words + 1)))


async def test_a_call_is_heard_along_and_its_words_are_the_turns(no_leak: None) -> None:
    along = Along()
    async with house(stt=along, answers=["Good."]) as home:
        await home.receive(ScriptedCall("call", [(400, 0), (1_000, 1_000), (2_000, 0)], until_ms=5_000))
        assert (await home.messages())[0] == ("ann", "word1 word2 word3 word4")
        guesses = [str(event.data["text"]) for event in await home.read() if event.type == "input.partial"]
    assert all(listener.closed_at is not None for listener in along.opened)
    assert along.whole == 0
    assert guesses == ["word1", "word1 word2", "word1 word2 word3"]


async def test_field_047_a_dead_connection_costs_no_word_and_is_found_within_ten_seconds(no_leak: None) -> None:
    along = Along()
    along.deaf = 1
    async with house(stt=along, answers=["Good."]) as home:
        await home.receive(ScriptedCall("call", [(400, 0), (9_000, 1_000), (3_000, 0)], until_ms=14_000))
        said = (await home.messages())[0][1].split()
    found = along.opened[0].closed_at
    assert found is not None and found <= 400 + STUCK_MS + 500
    assert said == [f"word{at}" for at in range(1, 37)]
    assert to_ms(along.opened[1].sound.size) >= 9_000


async def test_the_next_recognizer_hears_the_turn_whose_words_the_first_owes(no_leak: None) -> None:
    along = Along()
    along.deaf = 9
    local = ScriptedStt({1_000: "tell me more", 2_000: "and then"})
    async with house(stt=RecognizerChain([along, local]), answers=["Good.", "Well."]) as home:
        spans = [(400, 0), (1_500, 1_000), (6_000, 0), (1_500, 2_000), (3_000, 0)]
        await home.receive(ScriptedCall("call", spans, until_ms=14_000))
        said = [words for who, words in await home.messages() if who == "ann"]
    assert said == ["tell me more", "and then"]
    assert len(along.opened) == 1, "while it cools down, nobody is connected to it"
