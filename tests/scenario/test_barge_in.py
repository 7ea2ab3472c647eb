"""Talk over the agent: who lowers it, pauses it, cuts it, when, and what is left of it (statements 113 to 122)."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from tests.scenario.scripted import AGENT_LEVEL, ROOM, Answer, House, ScriptedCall, ScriptedStt, ToneTts, house
from voiceagent.agent.channel import AIChannel
from voiceagent.audio.frame import Samples
from voiceagent.llm.scripted import Pause, ScriptedModel, Step
from voiceagent.room.hooks import HookTrigger
from voiceagent.voice.cut import BargeIn, TtsCancelled
from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy, VoiceSettings

ANN = 1_000
OVER = 2_000
TURN = [(200, 0), (800, ANN)]
LONG = "This is a long answer of which not all will be heard."
SECONDS = 50 * len(LONG)
"""How long LONG sounds: from 1600 ms on."""


def strategy(name: InterruptionStrategy, **more: int) -> VoiceSettings:
    return VoiceSettings(greeting="", barge_in=BargeInSettings(strategy=name, **more))


def over(*spans: tuple[int, int], until_ms: int = 7_000) -> ScriptedCall:
    """Asks, then at 2500 ms, 900 ms into the answer, does what `spans` say."""
    return ScriptedCall("s1", [*TURN, (1_500, 0), *spans], until_ms=until_ms)


def thinking(*turns: str | Sequence[Step]) -> AIChannel:
    """The real agent, with a model that says these turns."""
    return AIChannel("assistant", provider=ScriptedModel(turns), system_prompt="")


async def speech_of(here: House) -> list[str]:
    return [line for line in await here.log() if "speech." in line and "queued" not in line]


async def test_words_that_want_the_turn_cut_the_answer_and_leave_its_record() -> None:
    call = over((800, OVER))
    async with house(answers=[LONG, "Rain."]) as here:
        told: list[BargeIn | TtsCancelled] = []

        @here.engine.hook(HookTrigger.ON_BARGE_IN)
        async def cut(event: BargeIn) -> None:
            told.append(event)

        @here.engine.hook(HookTrigger.ON_TTS_CANCELLED)
        async def cancelled(event: TtsCancelled) -> None:
            assert len(await here.records()) == 1
            told.append(event)

        await here.receive(call)
        assert await speech_of(here) == [
            "1600 speech.started",
            "2560 speech.ducked 960",
            "2720 speech.paused 1120",
            "2880 speech.cut 1120 barge_in",
            "3900 speech.started",
            "4160 speech.finished Rain.",
        ]
        (record,) = await here.records()
        asked = next(e for e in await here.engine.store.list_events(ROOM, limit=100) if e.source.participant_id == "ann")
        assert record.metadata == {
            "interrupted": True,
            "played_ms": 1_120,
            "played_percentage": round(100 * 1_120 / SECONDS, 1),
            "heard_text": "This is a long answer",
            "heard_exact": False,
            "voice_session_id": "s1",
            "answer_channel_id": "assistant",
            "answer_responds_to": asked.id,
        }
        assert (record.content.body, record.visibility, record.source.channel_id) == (LONG, "internal", "voice")
        assert record.source.participant_id is None
        speech_id = here.agent.replies[0].id
        assert told == [
            BargeIn(ROOM, "s1", "ann", speech_id, LONG, 1_120),
            TtsCancelled(ROOM, "s1", speech_id, LONG, 1_120, "barge_in"),
        ]
        assert here.agent.replies[0].cancelled == "barge_in"
        assert ("ann", "and the weather") in await here.messages()
    assert call.sound_ms == 1_120 + 260


async def test_immediate_cuts_at_the_onset() -> None:
    async with house(strategy(InterruptionStrategy.IMMEDIATE), answers=[LONG]) as here:
        await here.receive(over((200, OVER)))
        assert await speech_of(here) == ["1600 speech.started", "2620 speech.cut 1020 barge_in"]


@pytest.mark.parametrize(
    ("spans", "steps"),
    [
        ([(40, OVER)], []),
        ([(100, OVER)], ["2560 speech.ducked 960", "2700 speech.resumed 1100 noise"]),
        ([(260, OVER)], ["2560 speech.ducked 960", "2720 speech.paused 1120", "3260 speech.resumed 750 noise"]),
        ([(2_000, 400)], []),
    ],
    ids=["click", "cough", "blip", "noise that is no voice"],
)
async def test_case_16_a_blip_or_noise_does_not_cut_and_costs_no_word(spans: Sequence[tuple[int, int]], steps: list[str]) -> None:
    call = over(*spans)
    async with house(answers=[LONG], stt=ScriptedStt({ANN: "hello there"})) as here:
        await here.receive(call)
        heard = await speech_of(here)
        assert heard[1:-1] == steps
        assert heard[-1].endswith(f"speech.finished {LONG}")
        assert await here.records() == []
        assert len(await here.messages()) == 2
    assert call.sound_ms == (1_120 + SECONDS - 750 if len(steps) == 3 else SECONDS + 10)


async def test_case_16_choppy_speech_still_cuts() -> None:
    async with house(answers=[LONG]) as here:
        await here.receive(over(*([(100, OVER), (80, 0)] * 6)))
        assert (await speech_of(here))[1:4] == [
            "2560 speech.ducked 960",
            "2720 speech.paused 1120",
            "2960 speech.cut 1120 barge_in",
        ]


async def test_case_16_choppy_speech_cuts_without_words_too() -> None:
    async with house(answers=[LONG], stt=ScriptedStt({ANN: "hello there"})) as here:
        await here.receive(over(*([(100, OVER), (80, 0)] * 11)))
        assert (await speech_of(here))[1:4] == [
            "2560 speech.ducked 960",
            "2720 speech.paused 1120",
            "4220 speech.cut 1120 barge_in",
        ]


async def test_disabled_holds_what_is_said_and_replays_it_in_order() -> None:
    stt = ScriptedStt({ANN: "hello there", 600: "one", 700: "two"})
    call = ScriptedCall("s1", [*TURN, (1_000, 0), (400, 600), (700, 0), (300, 700)], until_ms=7_000)
    async with house(strategy(InterruptionStrategy.DISABLED), answers=[LONG, "First.", "Second."], stt=stt) as here:
        await here.receive(call)
        ends = 1_600 + SECONDS + 10
        assert await speech_of(here) == [
            "1600 speech.started",
            f"{ends} speech.finished {LONG}",
            f"{ends + 100} speech.started",
            f"{ends + 400} speech.finished First.",
            f"{ends + 420} speech.started",
            f"{ends + 780} speech.finished Second.",
        ]
        assert here.agent.read[1:] == [(ends, "one"), (ends, "two")]
        assert await here.records() == []
    assert call.heard_ms(AGENT_LEVEL) == SECONDS + 10 + 300 + 360


async def test_what_was_held_waits_for_no_later_words_and_goes_before_them() -> None:
    stt = ScriptedStt({ANN: "hello there", 600: "one", 700: "two"}, delay_ms=800)
    call = ScriptedCall("s1", [*TURN, (1_000, 0), (300, 600), (1_000, 0), (600, 700)], until_ms=7_000)
    async with house(strategy(InterruptionStrategy.DISABLED), answers=[LONG], stt=stt) as here:
        await here.receive(call)
        assert here.agent.read[1:] == [(4_660, "one"), (4_800, "two")]
        assert f"4660 speech.finished {LONG}" in await here.log()


async def test_disabled_keeps_the_last_eight() -> None:
    names = ["Rome", "Bern", "Oslo", "Lima", "Cairo", "Paris", "Delhi", "Tunis", "Malmo", "Turin"]
    levels = [600 + 100 * n for n in range(10)]
    stt = ScriptedStt({ANN: "hello there", **dict(zip(levels, names, strict=True))})
    spans = [span for level in levels for span in ((200, level), (900, 0))]
    async with house(strategy(InterruptionStrategy.DISABLED), answers=[LONG * 6], stt=ScriptedStt({**stt.words})) as here:
        await here.receive(over(*spans, until_ms=20_000))
        assert [words for _, words in here.agent.read[1:]] == names[2:]
        assert sum(event.data.get("reason") == "dropped" for event in await here.read()) == 2


async def test_a_slow_hook_delays_nothing_and_fires_once() -> None:
    async with house(answers=[LONG]) as here:
        fired: list[int] = []

        @here.engine.hook(HookTrigger.ON_BARGE_IN)
        async def slow(event: BargeIn) -> None:
            fired.append(event.played_ms)
            await asyncio.sleep(2)

        await here.receive(over((2_500, OVER)))
        assert fired == [1_120]
        assert "2880 speech.cut 1120 barge_in" in await here.log()
        assert len(await here.records()) == 1


async def test_a_failing_hook_still_cuts() -> None:
    async with house(answers=[LONG]) as here:

        @here.engine.hook(HookTrigger.ON_BARGE_IN)
        async def fails(event: BargeIn) -> None:
            raise RuntimeError("no")

        await here.receive(over((800, OVER)))
        assert "2880 speech.cut 1120 barge_in" in await here.log()
        assert len(await here.records()) == 1


async def test_the_length_is_not_known_while_words_still_come() -> None:
    async with house(answers=[Answer("Short one. And more of it follows here. " * 4, word_ms=300)]) as here:
        await here.receive(over((500, 0), (800, OVER)))
        (record,) = await here.records()
        assert "played_percentage" not in record.metadata
        assert record.content.body == "Short one."
        assert here.agent.replies[0].cancelled == "barge_in"
        said = dict(await here.messages())["assistant"]
        assert said.startswith("Short one. And")
        assert len(said) < 80


async def test_no_record_when_the_settings_keep_none() -> None:
    async with house(VoiceSettings(greeting="", keep_partial_transcript=False), answers=[LONG]) as here:
        await here.receive(over((800, OVER)))
        assert "2880 speech.cut 1120 barge_in" in await here.log()
        assert await here.records() == []


async def test_a_cut_greeting_is_nobodys_answer() -> None:
    async with house(VoiceSettings(greeting=LONG)) as here:
        await here.receive(ScriptedCall("s1", [(1_200, 0), (800, ANN)], until_ms=4_000))
        (record,) = await here.records()
        assert record.metadata == {
            "interrupted": True,
            "played_ms": 1_420,
            "played_percentage": round(100 * 1_420 / SECONDS, 1),
            "heard_text": "This is a long answer of",
            "heard_exact": False,
            "voice_session_id": "s1",
        }


async def test_what_waits_at_the_line_was_not_heard() -> None:
    call = over((800, OVER))
    call.delay_frames = 6
    async with house(answers=[LONG]) as here:
        await here.receive(call)
        (record,) = await here.records()
        assert record.metadata["played_ms"] == 1_120 - 120
    assert call.sound_ms == 1_120 - 120


async def test_what_a_line_threw_away_was_not_heard() -> None:
    """The listener's side stands still from 1700 to 2000 ms: what it cannot hold meanwhile never sounds."""
    call = over((800, OVER))
    call.holds_frames = 10
    async with house(answers=[LONG]) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(1.7)
        call.delay_frames = 100
        await asyncio.sleep(0.3)
        call.delay_frames = 0
        await running
        (record,) = await here.records()
        assert record.metadata["played_ms"] == call.sound_ms == 1_120 - 300


async def test_one_who_goes_on_before_anything_was_heard_is_answered_once() -> None:
    call = ScriptedCall("s1", [*TURN, (600, 0), (800, OVER)], until_ms=6_000)
    async with house(agent=thinking([Pause(600), LONG], "Both.")) as here:
        await here.receive(call)
        assert await speech_of(here) == [
            "2900 speech.dropped superseded",
            "2900 speech.started",
            "3160 speech.finished Both.",
        ]
        (record,) = await here.records()
        assert record.metadata["played_ms"] == 0
    assert call.heard_ms(AGENT_LEVEL) == 260


async def test_an_answer_nobody_heard_and_one_that_was_cut_leave_one_record_each() -> None:
    call = ScriptedCall("s1", [*TURN, (600, 0), (800, OVER), (2_000, 0), (800, OVER)], until_ms=8_000)
    async with house(agent=thinking([Pause(600), LONG], [Pause(100), LONG], "Yes.")) as here:
        await here.receive(call)
        assert [line.split()[1] for line in await speech_of(here)] == [
            "speech.dropped",
            "speech.started",
            "speech.ducked",
            "speech.paused",
            "speech.cut",
            "speech.started",
            "speech.finished",
        ]
        people = [e.id for e in await here.engine.store.list_events(ROOM, limit=100) if e.source.participant_id == "ann"]
        records = [(r.metadata["answer_responds_to"], r.metadata["played_ms"]) for r in await here.records()]
        assert records == [(people[0], 0), (people[1], call.sound_ms - 200)]


async def test_noise_before_the_first_sound_holds_the_answer_and_lets_it_go() -> None:
    call = ScriptedCall("s1", [*TURN, (600, 0), (400, OVER)], until_ms=7_000)
    async with house(answers=[Answer(LONG, after_ms=300)], stt=ScriptedStt({ANN: "hello there"})) as here:
        await here.receive(call)
        assert await speech_of(here) == ["2500 speech.started", f"{2_500 + SECONDS + 10} speech.finished {LONG}"]


async def test_an_announcement_cuts_and_an_answer_waits() -> None:
    call = ScriptedCall("s1", TURN, until_ms=8_000)
    async with house(answers=[LONG]) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(2)
        await here.engine.say(ROOM, "Fire!")
        await here.engine.say(ROOM, "Not urgent.", urgent=False)
        await running
        assert await speech_of(here) == [
            "1600 speech.started",
            "2000 speech.cut 400 say",
            "2020 speech.started",
            "2280 speech.finished Fire!",
            "2300 speech.started",
            "2860 speech.finished Not urgent.",
        ]


async def test_unbinding_lets_go_of_what_waits() -> None:
    call = ScriptedCall("s1", TURN, until_ms=8_000)
    async with house(answers=[LONG]) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(2)
        await here.engine.say(ROOM, "Not urgent.", urgent=False)
        await here.engine.detach_channel(ROOM, "voice")
        await running
        assert await speech_of(here) == [
            "1600 speech.started",
            "2000 speech.cut 400 unbound",
            "2000 speech.dropped unbound",
        ]


@pytest.mark.parametrize("early_ms", range(-60, 100, 20))
async def test_what_was_heard_to_its_end_is_finished_and_not_cut(early_ms: int) -> None:
    """It pauses 220 ms after the onset, here around the moment of the last sample, and is cut 160 ms later."""
    call = over((2_260 - 220 - early_ms, 0), (800, OVER), until_ms=8_000)
    async with house(answers=[LONG]) as here:
        await here.receive(call)
        heard_ms = call.sound_ms
        records = [record.metadata["played_ms"] for record in await here.records()]
        end = next(line for line in await speech_of(here) if "finished" in line or "cut" in line).split()[1:3]
        whole = heard_ms == SECONDS + 10
        assert records == ([] if whole else [heard_ms])
        assert end == (["speech.finished", "This"] if whole else ["speech.cut", str(heard_ms)])


async def test_an_answer_stopped_at_its_source_falls_silent() -> None:
    call = ScriptedCall("s1", TURN, until_ms=8_000)
    async with house(answers=[LONG]) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(2.01)
        here.agent.replies[0].cancel("asked to")
        await running
        assert (await speech_of(here))[-1] == "2020 speech.cut 420 asked to"
    assert call.heard_ms(AGENT_LEVEL) == 420


@pytest.mark.parametrize("tts", [ToneTts(first_ms=400, piece_ms=40)])
async def test_how_long_the_voice_takes_is_not_counted_as_heard(tts: ToneTts) -> None:
    call = over((800, OVER))
    async with house(answers=[LONG], tts=tts) as here:
        await here.receive(call)
        (record,) = await here.records()
        assert record.metadata["played_ms"] == call.sound_ms < 900


async def test_an_agent_that_still_thinks_holds_up_no_other_answer() -> None:
    call = ScriptedCall("s1", [*TURN, (600, 0), (200, OVER)], until_ms=12_000)
    stt = ScriptedStt({ANN: "hello there", OVER: "yes"})
    async with house(answers=[Answer("Slow one.", after_ms=5_000), "Quick one."], stt=stt) as here:
        await here.receive(call)
        finished = [line.split(" ", 2)[2] for line in await here.log() if "speech.finished" in line]
        assert finished == ["Quick one.", "Slow one."]


async def test_a_voice_that_gives_rubbish_costs_its_sentence_and_no_line() -> None:
    class Rubbish(ToneTts):
        async def speak(self, text: str) -> AsyncIterator[Samples]:
            async for piece in super().speak(text):
                yield piece.astype(np.float32) if "two" in text else piece

    call = ScriptedCall("s1", TURN, until_ms=6_000)
    async with house(answers=["Number one. Number two. Number three."], tts=Rubbish()) as here:
        await here.receive(call)
        assert (await speech_of(here))[-1] == "2800 speech.finished Number one. Number three."
