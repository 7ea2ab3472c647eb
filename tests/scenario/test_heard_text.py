"""What was heard of a cut answer, when its voice tells the times of its words: in the feed, in the record, for each listener."""

import asyncio
from collections.abc import AsyncIterator, Coroutine

import numpy as np
import pytest

from tests.scenario.scripted import AGENT_LEVEL, ROOM, Answer, House, ScriptedCall, house
from voiceagent import clock
from voiceagent.audio.frame import Samples, to_samples
from voiceagent.room.feed import FeedEvent
from voiceagent.speech.engines import Timing, Word
from voiceagent.voice.settings import VoiceSettings

WORD_MS = 200
GAP_MS = 50
ANSWER = "It costs $12.50 at the desk. Ask for Dr. Hart there."
ALOUD = "It costs twelve dollars and fifty cents at the desk. Ask for doctor Hart there."
SETTINGS = VoiceSettings(greeting=ANSWER)


class TimedTts:
    """Each word lasts WORD_MS, with GAP_MS behind it; all of a sentence's sound comes at once, its times before it."""

    def __init__(self, first_ms: int = 0) -> None:
        self._first_ms = first_ms

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        step, words = WORD_MS + GAP_MS, text.split()
        await clock.sleep_until(clock.now() + self._first_ms)
        yield Timing(tuple(Word(word, at * step, at * step + WORD_MS) for at, word in enumerate(words)))
        yield np.full(to_samples(step * len(words)), AGENT_LEVEL, dtype=np.int16)


def told(events: list[FeedEvent], what: str) -> list[tuple[object, object, object]]:
    return [(e.data["played_ms"], e.data["heard_text"], e.data["exact"]) for e in events if e.type == f"speech.{what}"]


async def said(here: House, text: str, *, cut_after_ms: int | None = None) -> None:
    """Said to whoever is there, and taken back so long after its first sound."""
    reply = await here.engine.say(ROOM, text, urgent=False)
    if cut_after_ms is not None:
        while not reply.heard:
            await clock.sleep_until(clock.now() + 10)
        await clock.sleep_until(clock.now() + cut_after_ms)
        assert reply.cancel("explicit")


async def listen(here: House, *saying: Coroutine[object, object, None]) -> list[FeedEvent]:
    """One call, in which these are said at once."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(here.receive(ScriptedCall("s1", [], until_ms=9_000)))
        await clock.sleep_until(clock.now() + 100)
        for each in saying:
            tasks.create_task(each)
    return await here.read()


@pytest.mark.parametrize(
    ("at_ms", "heard"),
    [
        (100, ""),
        (180, ""),
        (200, "It"),
        (700, "It costs"),
        (1_680, "It costs"),
        (1_720, "It costs $12.50"),
        (2_480, "It costs $12.50 at the desk."),
        (3_140, "It costs $12.50 at the desk. Ask for"),
        (3_200, "It costs $12.50 at the desk. Ask for Dr."),
    ],
)
async def test_the_words_that_were_over_are_told_and_recorded(at_ms: int, heard: str) -> None:
    async with house(tts=TimedTts()) as here:
        ((played, text, exact),) = told(await listen(here, said(here, ANSWER, cut_after_ms=at_ms)), "cut")
        assert (text, exact) == (heard, True)
        assert at_ms <= int(str(played)) <= at_ms + 40
        (record,) = await here.records()
        assert (record.metadata["heard_text"], record.metadata["heard_exact"]) == (heard, True)
        assert record.metadata["played_ms"] == played


async def test_sound_made_at_once_is_heard_at_its_own_pace_and_what_waits_behind_a_cut_is_not() -> None:
    """All of both answers is there within a tick; the first one is cut after a second, the second one in its first moments."""
    async with house(tts=TimedTts()) as here:
        first_one, second_one = said(here, ANSWER, cut_after_ms=1_000), said(here, "And another one.", cut_after_ms=60)
        events = await listen(here, first_one, second_one)
        (first, heard, _), (second, nothing, exact) = told(events, "cut")
        assert 1_000 <= int(str(first)) <= 1_040
        assert heard == "It costs"
        assert int(str(second)) <= 100
        assert (nothing, exact) == ("", True)


async def test_an_answer_that_is_stopped_before_its_first_sound_leaves_a_record_with_nothing_heard() -> None:
    async with house(answers=[Answer(ANSWER, after_ms=0)], tts=TimedTts(first_ms=400)) as here:
        call = ScriptedCall("s1", [(800, 1_000)], until_ms=4_000)
        calling = asyncio.create_task(here.receive(call))
        while not here.agent.replies or not here.agent.replies[0].text:
            await clock.sleep_until(clock.now() + 20)
        await clock.sleep_until(clock.now() + 100)
        here.agent.replies[0].cancel("explicit")
        await calling
        (record,) = await here.records()
        assert (record.metadata["played_ms"], record.metadata["heard_text"]) == (0, "")
        assert record.content.body == "It costs $12.50 at the desk."
        assert [event.type for event in await here.read() if event.type in ("speech.started", "speech.cut")] == []


async def test_who_comes_while_an_answer_sounds_and_who_goes_have_heard_their_own_words() -> None:
    async with house(SETTINGS, tts=TimedTts()) as here:
        ann, bob = ScriptedCall("s1", [], until_ms=6_000), ScriptedCall("s2", [], until_ms=700)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(here.receive(ann))
            tasks.create_task(here.receive(bob, "bob"))
        ((played, text, exact),) = told(await here.read(), "finished")
        assert (text, exact) == (ANSWER, True)
        assert 0 <= int(str(played)) - (WORD_MS + GAP_MS) * len(ALOUD.split()) < 20
