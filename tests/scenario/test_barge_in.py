"""Talk over the agent: who cuts, when, what is left of it (statements 113, 114, 117, 118, 121, 122)."""

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
    """Asks, then at 2000 ms, 400 ms into the answer, does what `spans` say."""
    return ScriptedCall("s1", [*TURN, (1_000, 0), *spans], until_ms=until_ms)


def thinking(*turns: str | Sequence[Step]) -> AIChannel:
    """The real agent, with a model that says these turns."""
    return AIChannel("assistant", provider=ScriptedModel(turns), system_prompt="")


async def speech_of(here: House) -> list[str]:
    return [line for line in await here.log() if "speech." in line and "queued" not in line]


async def test_speech_that_lasts_cuts_the_answer_and_leaves_its_record() -> None:
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
            "2300 speech.cut 700 barge_in",
            "3400 speech.started",
            "3660 speech.finished Rain.",
        ]
        (record,) = await here.records()
        asked = next(e for e in await here.engine.store.list_events(ROOM, limit=100) if e.source.participant_id == "ann")
        assert record.metadata == {
            "interrupted": True,
            "played_ms": 700,
            "played_percentage": round(100 * 700 / SECONDS, 1),
            "voice_session_id": "s1",
            "answer_channel_id": "assistant",
            "answer_responds_to": asked.id,
        }
        assert (record.content.body, record.visibility, record.source.channel_id) == (LONG, "internal", "voice")
        assert record.source.participant_id is None
        speech_id = here.agent.replies[0].id
        assert told == [
            BargeIn(ROOM, "s1", "ann", speech_id, LONG, 700),
            TtsCancelled(ROOM, "s1", speech_id, LONG, 700, "barge_in"),
        ]
        assert here.agent.replies[0].cancelled == "barge_in"
        assert ("ann", "and the weather") in await here.messages()
    assert call.heard_ms(AGENT_LEVEL) == 700 + 260


async def test_immediate_cuts_at_the_onset() -> None:
    async with house(strategy(InterruptionStrategy.IMMEDIATE), answers=[LONG]) as here:
        await here.receive(over((200, OVER)))
        assert await speech_of(here) == ["1600 speech.started", "2120 speech.cut 520 barge_in"]


@pytest.mark.parametrize(
    "spans",
    [
        [(100, OVER)],
        [(260, OVER)],
        [(200, OVER), (1_000, 0), (200, OVER)],
        [(2_000, 400)],
    ],
    ids=["cough", "blip", "two blips", "noise that is no voice"],
)
async def test_a_blip_or_noise_does_not_cut(spans: Sequence[tuple[int, int]]) -> None:
    call = over(*spans)
    async with house(answers=[LONG], stt=ScriptedStt({ANN: "hello there"})) as here:
        await here.receive(call)
        assert await speech_of(here) == ["1600 speech.started", f"{1_600 + SECONDS + 10} speech.finished {LONG}"]
        assert await here.records() == []
        assert len(await here.messages()) == 2
    assert call.heard_ms(AGENT_LEVEL) == SECONDS + 10


async def test_choppy_speech_still_cuts() -> None:
    async with house(answers=[LONG]) as here:
        await here.receive(over(*([(100, OVER), (80, 0)] * 6)))
        assert (await speech_of(here))[1].split()[1:] == ["speech.cut", "860", "barge_in"]


async def test_a_short_word_is_heard_without_cutting_and_answered_behind() -> None:
    async with house(answers=[LONG, "Good."], stt=ScriptedStt({ANN: "hello there", OVER: "yes"})) as here:
        await here.receive(over((200, OVER)))
        ends = 1_600 + SECONDS + 10
        assert await speech_of(here) == [
            "1600 speech.started",
            f"{ends} speech.finished {LONG}",
            f"{ends + 20} speech.started",
            f"{ends + 280} speech.finished Good.",
        ]
        assert ("ann", "yes") in await here.messages()


async def test_disabled_holds_what_is_said_and_replays_it_in_order() -> None:
    stt = ScriptedStt({ANN: "hello there", 600: "one", 700: "two"})
    call = over((400, 600), (600, 0), (400, 700))
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
    call = over((300, 600), (1_000, 0), (600, 700))
    async with house(strategy(InterruptionStrategy.DISABLED), answers=[LONG], stt=stt) as here:
        await here.receive(call)
        assert here.agent.read[1:] == [(4_760, "one"), (4_900, "two")]
        assert f"4760 speech.finished {LONG}" in await here.log()


async def test_disabled_keeps_the_last_eight() -> None:
    levels = [600 + 100 * n for n in range(10)]
    stt = ScriptedStt({ANN: "hello there", **{level: f"word {level}" for level in levels}})
    spans = [span for level in levels for span in ((200, level), (540, 0))]
    async with house(strategy(InterruptionStrategy.DISABLED), answers=[LONG * 4], stt=ScriptedStt({**stt.words})) as here:
        await here.receive(over(*spans, until_ms=14_000))
        assert [words for _, words in here.agent.read[1:]] == [f"word {level}" for level in levels[2:]]
        assert sum(event.data.get("reason") == "dropped" for event in await here.read()) == 2


async def test_a_slow_hook_delays_nothing_and_fires_once() -> None:
    async with house(answers=[LONG]) as here:
        fired: list[int] = []

        @here.engine.hook(HookTrigger.ON_BARGE_IN)
        async def slow(event: BargeIn) -> None:
            fired.append(event.played_ms)
            await asyncio.sleep(2)

        await here.receive(over((2_500, OVER)))
        assert fired == [700]
        assert "2300 speech.cut 700 barge_in" in await here.log()
        assert len(await here.records()) == 1


async def test_a_failing_hook_still_cuts() -> None:
    async with house(answers=[LONG]) as here:

        @here.engine.hook(HookTrigger.ON_BARGE_IN)
        async def fails(event: BargeIn) -> None:
            raise RuntimeError("no")

        await here.receive(over((800, OVER)))
        assert "2300 speech.cut 700 barge_in" in await here.log()
        assert len(await here.records()) == 1


async def test_the_length_is_not_known_while_words_still_come() -> None:
    async with house(answers=[Answer("Short one. And more of it follows here. " * 4, word_ms=300)]) as here:
        await here.receive(over((1_000, 0), (800, OVER)))
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
        assert "2300 speech.cut 700 barge_in" in await here.log()
        assert await here.records() == []


async def test_a_cut_greeting_is_nobodys_answer() -> None:
    async with house(VoiceSettings(greeting=LONG)) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=3_000))
        (record,) = await here.records()
        assert record.metadata == {
            "interrupted": True,
            "played_ms": 500,
            "played_percentage": round(100 * 500 / SECONDS, 1),
            "voice_session_id": "s1",
        }


async def test_what_waits_at_the_line_was_not_heard() -> None:
    call = over((800, OVER))
    call.delay_frames = 6
    async with house(answers=[LONG]) as here:
        await here.receive(call)
        (record,) = await here.records()
        assert record.metadata["played_ms"] == 700 - 120
    assert call.heard_ms(AGENT_LEVEL) == 700 - 120


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
        assert record.metadata["played_ms"] == call.heard_ms(AGENT_LEVEL)
        assert call.heard_ms(AGENT_LEVEL) == 700 - 300


async def test_one_who_goes_on_before_anything_was_heard_is_answered_once() -> None:
    call = ScriptedCall("s1", [*TURN, (600, 0), (800, OVER)], until_ms=6_000)
    async with house(agent=thinking([Pause(300), LONG], "Both.")) as here:
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
    call = ScriptedCall("s1", [*TURN, (600, 0), (800, OVER), (1_500, 0), (800, OVER)], until_ms=8_000)
    async with house(agent=thinking([Pause(300), LONG], [Pause(100), LONG], "Yes.")) as here:
        await here.receive(call)
        assert [line.split()[1] for line in await speech_of(here)] == [
            "speech.dropped",
            "speech.started",
            "speech.cut",
            "speech.started",
            "speech.finished",
        ]
        people = [e.id for e in await here.engine.store.list_events(ROOM, limit=100) if e.source.participant_id == "ann"]
        records = [(r.metadata["answer_responds_to"], r.metadata["played_ms"]) for r in await here.records()]
        assert records == [(people[0], 0), (people[1], call.heard_ms(AGENT_LEVEL) - 200)]


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
    """The cut is confirmed 300 ms after the onset, here around the moment of the last sample."""
    call = over((2_260 - 300 - early_ms, 0), (800, OVER), until_ms=8_000)
    async with house(answers=[LONG]) as here:
        await here.receive(call)
        heard_ms = call.heard_ms(AGENT_LEVEL)
        records = [record.metadata["played_ms"] for record in await here.records()]
        end = (await speech_of(here))[1].split()[1:3]
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
        assert record.metadata["played_ms"] == call.heard_ms(AGENT_LEVEL) == 300


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
