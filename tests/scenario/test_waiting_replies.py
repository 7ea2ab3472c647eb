"""A reply that waits while another sounds has its beginning ready when its turn comes, and nothing beyond it."""

import asyncio
from typing import Any

from tests.scenario.scripted import ROOM, House, ScriptedCall, ToneTts, house
from voiceagent import clock
from voiceagent.room.channel import RoomContext
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.voice.mouth import SpokenSentence
from voiceagent.voice.settings import VoiceSettings

GREETING = "This is the first answer of them all."
"""1,850 ms of sound."""
SECOND, MORE = "Here is the second one.", "It has more."
VOICE_MS = 300
SETTINGS = VoiceSettings(greeting=GREETING)


async def say(here: House, text: str, at_ms: int) -> None:
    await clock.sleep_until(clock.now() + at_ms)
    await here.engine.say(ROOM, text, urgent=False)


async def run(here: House, *said: tuple[str, int]) -> list[tuple[int, int]]:
    """A listener who says nothing; returns from when to when anything was heard."""
    call = ScriptedCall("s1", [], until_ms=8_000)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(here.receive(call))
        for text, at_ms in said:
            tasks.create_task(say(here, text, at_ms))
    heard = [at for at, level in call.heard if level]
    starts = [at for at in heard if at - 20 not in heard]
    return [(start, next(at for at in heard if at >= start and at + 20 not in heard)) for start in starts]


async def test_the_reply_that_waits_begins_at_once_when_its_turn_comes() -> None:
    tts = ToneTts(first_ms=VOICE_MS)
    async with house(SETTINGS, tts=tts) as here:
        spans = await run(here, (f"{SECOND} {MORE}", 700))
        assert len(spans) == 1 or spans[1][0] - spans[0][1] <= 40
        assert tts.spoken == [GREETING, SECOND, MORE]


async def test_only_the_beginning_of_the_next_one_is_made_before_its_turn() -> None:
    tts = ToneTts(first_ms=VOICE_MS)
    async with house(SETTINGS, tts=tts) as here:
        seen: list[list[str]] = []

        async def look() -> None:
            await clock.sleep_until(clock.now() + 1_800)
            seen.append(list(tts.spoken))

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(look())
            tasks.create_task(run(here, (f"{SECOND} {MORE}", 500), ("A third one.", 600)))
        assert seen == [[GREETING, SECOND]]
        assert sorted(tts.spoken) == sorted([GREETING, SECOND, MORE, "A third one."])


async def test_a_hook_that_changes_the_words_has_the_last_one() -> None:
    tts = ToneTts(first_ms=VOICE_MS)
    async with house(SETTINGS, tts=tts) as here:
        asked: list[tuple[int, str]] = []

        async def instead(sentence: SpokenSentence, room: RoomContext) -> HookResult[Any]:
            asked.append((clock.now(), sentence.text))
            if sentence.text != SECOND:
                return HookResult.allow()
            return HookResult.modify(SpokenSentence("Other words.", ROOM, sentence.speech_id, None, None))

        here.engine.hook(HookTrigger.BEFORE_TTS, name="instead")(instead)
        spans = await run(here, (SECOND, 700))
        finished = [event.data["heard_text"] for event in await here.read() if event.type == "speech.finished"]
        assert finished == [GREETING, "Other words."]
        assert tts.spoken == [GREETING, SECOND, "Other words."]
        assert asked[1][0] >= spans[0][1] - 40


async def test_a_waiting_reply_that_is_taken_back_is_not_heard_and_the_one_behind_it_is() -> None:
    tts = ToneTts(first_ms=VOICE_MS)
    async with house(SETTINGS, tts=tts) as here:

        async def take_back() -> None:
            await clock.sleep_until(clock.now() + 500)
            reply = await here.engine.say(ROOM, SECOND, urgent=False)
            await clock.sleep_until(clock.now() + 600)
            assert reply.cancel("host")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(take_back())
            spans = await run(here, ("A third one.", 600))
        finished = [event.data["heard_text"] for event in await here.read() if event.type == "speech.finished"]
        assert finished == [GREETING, "A third one."]
        assert len(spans) == 1 or spans[1][0] - spans[0][1] <= 40
