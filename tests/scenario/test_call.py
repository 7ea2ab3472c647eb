"""One person and the agent: greeting, turns, states and waits, failing engines; to the millisecond."""

import asyncio

import pytest

from tests.scenario.scripted import AGENT_LEVEL, ROOM, Answer, ScriptedCall, ScriptedStt, ToneTts, house
from voiceagent.room.hooks import ErrorEvent, HookResult, HookTrigger
from voiceagent.voice.inputs import SpeechMark, Transcription
from voiceagent.voice.mouth import SpokenSentence
from voiceagent.voice.settings import VoiceSettings

ANN = 1_000
AGAIN = 2_000
TURN = [(200, 0), (800, ANN)]


async def test_two_turns() -> None:
    call = ScriptedCall("s1", [*TURN, (3_000, 0), (800, AGAIN)], until_ms=8_000)
    async with house(answers=["Good morning to you.", "It will rain."]) as here:
        await here.receive(call)
        assert await here.log() == [
            "320 input.started",
            "320 agent.state listening",
            "1500 input.accepted hello there",
            "1500 agent.state idle",
            "1500 speech.queued",
            "1500 agent.state thinking",
            "1600 speech.started",
            "1600 turn.latency 600",
            "1600 agent.state speaking",
            "1600 input.settled answered",
            "2600 speech.finished Good morning to you.",
            "2600 agent.state idle",
            "4120 input.started",
            "4120 agent.state listening",
            "5300 input.accepted and the weather",
            "5300 agent.state idle",
            "5300 speech.queued",
            "5300 agent.state thinking",
            "5400 speech.started",
            "5400 turn.latency 600",
            "5400 agent.state speaking",
            "5400 input.settled answered",
            "6060 speech.finished It will rain.",
            "6060 agent.state idle",
        ]
        assert await here.messages() == [
            ("ann", "hello there"),
            ("assistant", "Good morning to you."),
            ("ann", "and the weather"),
            ("assistant", "It will rain."),
        ]
    assert call.heard_ms(AGENT_LEVEL) == 1_000 + 660


async def test_an_utterance_is_committed_under_the_id_it_had_from_its_first_sound() -> None:
    async with house() as here:
        marks: list[tuple[str, SpeechMark]] = []

        @here.engine.hook(HookTrigger.ON_SPEECH_START)
        async def start(mark: SpeechMark) -> None:
            marks.append(("start", mark))

        @here.engine.hook(HookTrigger.ON_SPEECH_END)
        async def end(mark: SpeechMark) -> None:
            marks.append(("end", mark))

        await here.receive(ScriptedCall("s1", TURN, until_ms=2_000))
        ids = {event.data["input_id"] for event in await here.read() if event.type.startswith("input.")}
        stored = [event for event in await here.engine.store.list_events(ROOM, limit=100) if event.id in ids]
        assert len(ids) == 1
        assert stored[0].metadata == {
            "source": "voice",
            "voice_session_id": "s1",
            "start_ms": 200,
            "end_ms": 1_000,
            "audio_ms": 800,
            "replaces": True,
            "voiced_ms": 800,
        }
        assert [(what, mark.at_ms, mark.participant_id, mark.input_id in ids) for what, mark in marks] == [
            ("start", 200, "ann", True),
            ("end", 1_000, "ann", True),
        ]


async def test_the_greeting_is_said_at_once_and_answered_by_nobody() -> None:
    call = ScriptedCall("s1", [], until_ms=2_000)
    async with house(VoiceSettings(greeting="Welcome.")) as here:
        await here.receive(call)
        assert await here.log() == [
            "0 speech.queued Welcome.",
            "0 agent.state thinking",
            "0 speech.started",
            "0 agent.state speaking",
            "400 speech.finished Welcome.",
            "400 agent.state idle",
        ]
        assert await here.messages() == [("assistant", "Welcome.")]
    assert call.heard_ms(AGENT_LEVEL) == 400


async def test_a_silent_call_is_handed_nothing() -> None:
    call = ScriptedCall("s1", [], until_ms=60_000)
    async with house() as here:
        await here.receive(call)
        assert await here.log(droppable=True, leave_out=("participant.", "room.event")) == []
    assert call.heard == []


@pytest.mark.parametrize(("delay_ms", "accepted_at"), [(0, 1_500), (300, 1_500), (600, 1_700)])
async def test_words_are_decoded_while_the_end_is_still_waited_for(delay_ms: int, accepted_at: int) -> None:
    async with house(stt=ScriptedStt({ANN: "hello there"}, delay_ms=delay_ms)) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=3_000))
        assert f"{accepted_at} input.accepted hello there" in await here.log()


async def test_a_pause_is_no_end_and_what_was_decoded_ahead_is_thrown_away() -> None:
    stt = ScriptedStt({ANN: "hello there"}, delay_ms=50)
    call = ScriptedCall("s1", [*TURN, (400, 0), (800, ANN)], until_ms=4_000)
    async with house(VoiceSettings(greeting="", partial_every_ms=5_000), stt=stt) as here:
        await here.receive(call)
        assert await here.messages() == [("ann", "hello there")]
        assert "2700 input.accepted hello there" in await here.log()
    assert stt.finals == 2


async def test_guesses_go_on_when_the_voice_comes_back() -> None:
    stt = ScriptedStt({ANN: "one two three four five six seven eight"})
    async with house(stt=stt) as here:
        await here.receive(ScriptedCall("s1", [(800, ANN), (300, 0), (1_200, ANN)], until_ms=4_000))
        told = [int(line.split()[0]) for line in await here.log(droppable=True) if "input.partial" in line]
        assert [at > 1_100 for at in told] == [False, True, True, True]


async def test_guesses_come_every_half_second_and_never_two_at_once() -> None:
    stt = ScriptedStt({ANN: "one two three four five six seven eight nine ten"}, delay_ms=100)
    async with house(stt=stt) as here:
        await here.receive(ScriptedCall("s1", [(2_400, ANN)], until_ms=4_000))
        lines = await here.log(droppable=True)
        assert [line for line in lines if "input.partial" in line] == [
            "480 input.partial one",
            "980 input.partial one two three",
            "1480 input.partial one two three four five",
            "1980 input.partial one two three four five six seven",
            "2480 input.partial one two three four five six seven eight nine",
        ]
    assert stt.most_running == 1


async def test_a_slow_recognizer_is_asked_for_fewer_guesses() -> None:
    stt = ScriptedStt({ANN: "one two three"}, delay_ms=900)
    async with house(stt=stt) as here:
        await here.receive(ScriptedCall("s1", [(6_000, ANN)], until_ms=9_000))
        assert await here.messages() == [("ann", "one two three")]
    assert (stt.partials, stt.most_running) == (3, 1)


@pytest.mark.parametrize("people", [1, 2, 3])
async def test_all_who_speak_take_a_third_of_the_recognizer_for_guesses_together(people: int) -> None:
    stt = ScriptedStt({ANN + one: f"number {one}" for one in range(people)}, delay_ms=200)
    async with house(stt=stt) as here:
        async with asyncio.TaskGroup() as calls:
            for one in range(people):
                calls.create_task(here.receive(ScriptedCall(f"s{one}", [(6_000, ANN + one)], until_ms=9_000), f"p{one}"))
        assert sorted(await here.messages()) == [(f"p{one}", f"number {one}") for one in range(people)]
    assert stt.most_partials == 1
    assert 9 <= stt.partials <= 0.35 * 6_500 / 200


async def test_noise_without_words_is_no_turn() -> None:
    async with house(answers=["What?"], stt=ScriptedStt({})) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=4_000))
        assert await here.log() == [
            "320 input.started",
            "320 agent.state listening",
            "1500 input.settled rejected",
            "1500 agent.state idle",
        ]
        assert await here.messages() == []


async def test_a_recognizer_that_raises_or_hangs_costs_that_utterance_only() -> None:
    stt = ScriptedStt({600: RuntimeError("no words today"), ANN: "hello there"})
    stt.hang = 700
    call = ScriptedCall("s1", [(800, 600), (1_000, 0), (800, 700), (3_000, 0), (800, ANN)], until_ms=20_000)
    async with house(stt=stt) as here:
        errors: list[tuple[str, str]] = []

        @here.engine.hook(HookTrigger.ON_ERROR)
        async def on_error(error: ErrorEvent) -> None:
            errors.append((error.stage, str(error.error)))

        await here.receive(call)
        assert await here.messages() == [("ann", "hello there")]
        settled = [line for line in await here.log() if "settled" in line or "accepted" in line]
        assert settled == [
            "1300 input.settled failed",
            "12700 input.settled failed",
            "12700 input.accepted hello there",
            "12700 input.settled listened",
        ]
        assert errors == [("stt", "no words today"), ("stt", "the recognizer gave no words within 10000 ms")]


async def test_transcription_hooks_change_and_block_words() -> None:
    async with house(stt=ScriptedStt({ANN: "secret plans", AGAIN: "darn"})) as here:

        @here.engine.hook(HookTrigger.ON_TRANSCRIPTION)
        async def edit(said: Transcription) -> HookResult[Transcription]:
            if "darn" in said.text:
                return HookResult.block("language")
            return HookResult.modify(here_said(said, said.text.upper()))

        await here.receive(ScriptedCall("s1", [*TURN, (1_000, 0), (800, AGAIN)], until_ms=5_000))
        assert await here.messages() == [("ann", "SECRET PLANS")]
        assert [line for line in await here.log() if "settled" in line] == [
            "1500 input.settled listened",
            "3300 input.settled rejected",
        ]


def here_said(said: Transcription, text: str) -> Transcription:
    return Transcription(text, said.room_id, said.session_id, said.participant_id, said.input_id, said.start_ms, said.end_ms)


async def test_what_is_being_said_when_the_line_ends_is_still_the_rooms() -> None:
    async with house() as here:
        await here.receive(ScriptedCall("s1", [(200, 0), (5_000, ANN)], until_ms=1_000))
        assert await here.messages() == [("ann", "hello there")]


async def test_a_failing_sentence_is_left_out_and_the_rest_is_said() -> None:
    tts = ToneTts()
    tts.fails = "two"
    call = ScriptedCall("s1", TURN, until_ms=8_000)
    async with house(answers=["Number one. Number two. Number three."], tts=tts) as here:
        await here.receive(call)
        assert tts.spoken == ["Number one.", "Number two.", "Number three."]
        assert [line for line in await here.log() if "finished" in line] == ["2800 speech.finished Number one. Number three."]
    assert call.heard_ms(AGENT_LEVEL) == 550 + 650


async def test_a_voice_that_hangs_costs_its_sentence() -> None:
    tts = ToneTts()
    tts.hangs = "two"
    async with house(answers=["Number one. Number two. Number three."], tts=tts) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=20_000))
        assert [line for line in await here.log() if "finished" in line] == ["12280 speech.finished Number one. Number three."]


@pytest.mark.parametrize("how", ["raises", "blocks"])
async def test_a_before_tts_hook_that_fails_or_blocks_drops_that_sentence_only(how: str) -> None:
    tts = ToneTts()
    async with house(answers=["Number one. Number two. Number three."], tts=tts) as here:

        @here.engine.hook(HookTrigger.BEFORE_TTS, fail_closed=True)
        async def watch(sentence: SpokenSentence) -> HookResult[SpokenSentence]:
            if "two" in sentence.text and how == "raises":
                raise RuntimeError("cannot tell")
            return HookResult.block("no twos") if "two" in sentence.text else HookResult.allow()

        await here.receive(ScriptedCall("s1", TURN, until_ms=8_000))
        assert tts.spoken == ["Number one.", "Number three."]
        assert [line for line in await here.log() if "finished" in line] == ["2800 speech.finished Number one. Number three."]


async def test_an_answer_of_a_hundred_thousand_characters_is_made_no_more_than_ten_seconds_ahead() -> None:
    tts = ToneTts()
    text = "This sentence is said over and over again. " * 2_400
    call = ScriptedCall("s1", TURN, until_ms=30_000)
    async with house(answers=[text], tts=tts) as here:
        await here.receive(call)
        heard = call.heard_ms(AGENT_LEVEL)
        assert heard == 30_000 - 1_600
        assert heard < tts.made / 16 <= heard + 10_000 + 100
        assert len(tts.spoken) < 20


async def test_an_answer_without_words_ends_unheard() -> None:
    async with house(answers=[Answer(""), "Yes."]) as here:
        await here.receive(ScriptedCall("s1", [*TURN, (1_000, 0), (800, AGAIN)], until_ms=6_000))
        lines = await here.log()
        assert "1600 speech.dropped nothing_to_say" in lines
        assert "3600 speech.finished Yes." in lines


async def test_words_said_right_behind_the_agents_last_sample_are_not_lost() -> None:
    for gap_ms in (0, 20, 40, 100, 500):
        call = ScriptedCall("s1", [*TURN, (1_600 + gap_ms, 0), (800, AGAIN)], until_ms=6_000)
        async with house(answers=["Good morning to you."]) as here:
            await here.receive(call)
            assert await here.messages() == [
                ("ann", "hello there"),
                ("assistant", "Good morning to you."),
                ("ann", "and the weather"),
            ]
            assert await here.records() == []
        assert call.heard_ms(AGENT_LEVEL) == 1_000


async def test_spoken_characters_grow_to_the_whole_text() -> None:
    async with house(answers=["Good morning to you. It is late."]) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=5_000))
        events = [event for event in await here.read() if event.type in ("speech.progress", "speech.finished")]
        spoken = [int(str(event.data["spoken_chars"])) for event in events]
        assert spoken == sorted(spoken)
        assert spoken[0] == 1
        assert spoken[-1] == len("Good morning to you. It is late.")


async def test_levels_are_told_ten_times_a_second_while_there_is_something_to_see() -> None:
    async with house() as here:
        await here.receive(ScriptedCall("s1", [(1_000, 0), (1_000, ANN)], until_ms=10_000))
        levels = [event for event in await here.read() if event.type == "level"]
        assert 10 <= len(levels) <= 20
        assert {event.data["participant_id"] for event in levels} == {"ann"}


async def test_the_frame_loop_waits_for_no_hook() -> None:
    call = ScriptedCall("s1", [*TURN, (1_000, 0), (800, AGAIN)], until_ms=4_000)
    async with house() as here:

        @here.engine.hook(HookTrigger.ON_TRANSCRIPTION)
        async def slow(said: Transcription) -> None:
            await asyncio.sleep(5)

        await here.receive(call)
        assert await here.messages() == [("ann", "hello there"), ("ann", "and the weather")]
        starts = [line for line in await here.log() if "started" in line]
        assert starts == ["320 input.started", "2120 input.started"]
