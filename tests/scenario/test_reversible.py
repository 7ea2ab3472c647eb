"""Spoken over, and back: what is lowered or paused comes back whole, or is cut for good (statements 115, 116, field cases)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

import numpy as np
import pytest

from tests.scenario.deciding import deciding
from tests.scenario.scripted import AGENT_LEVEL, ROOM, House, ScriptedCall, ScriptedStt, ToneTts, house
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.audio.frame import FRAME_MS, Samples, to_samples
from voiceagent.judgment.policy import MockSpeakPolicy
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import Pause, ScriptedModel
from voiceagent.room.feed import FeedEvent
from voiceagent.room.hooks import HookTrigger
from voiceagent.voice.backchannel import Backchannel
from voiceagent.voice.detector import Overlap
from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy, VoiceSettings

ANN, OVER = 1_000, 2_000
TURN = [(200, 0), (800, ANN)]
LONG = "This is a long answer of which not all will be heard."
SECONDS = 50 * len(LONG)
"""How long LONG sounds."""

SEMANTIC = VoiceSettings(greeting="", barge_in=BargeInSettings(strategy=InterruptionStrategy.SEMANTIC))
AS_LOUD = VoiceSettings(greeting="", barge_in=BargeInSettings(duck_db=0))
"""Lowered by nothing, so that a sample tells its place."""


class PlaceTts(ToneTts):
    """Each sample is its place in the sentence, in ms from 1 on."""

    async def speak(self, text: str) -> AsyncIterator[Samples]:
        at = 0
        async for piece in super().speak(text):
            yield ((np.arange(at, at + piece.size) // 16) + 1).astype(np.int16)
            at += piece.size


def over(*spans: tuple[int, int], until_ms: int = 9_000) -> ScriptedCall:
    """Asks, then at 2500 ms, 900 ms into the answer, does what `spans` say."""
    return ScriptedCall("s1", [*TURN, (1_500, 0), *spans], until_ms=until_ms)


def saying(words: str, *, delay_ms: int = 0) -> ScriptedStt:
    return ScriptedStt({ANN: "hello there", OVER: words}, delay_ms=delay_ms)


def steps(events: Sequence[FeedEvent]) -> list[str]:
    """What became of what sounds, in order, as `what why`."""
    kinds = ("ducked", "paused", "resumed", "cut", "finished")
    told = [event for event in events if event.type.startswith("speech.") and event.type.removeprefix("speech.") in kinds]
    return [f"{event.type.removeprefix('speech.')} {event.data.get('why', '')}".strip() for event in told]


def turns(here: House) -> list[str]:
    return [words for _, words in here.agent.read]


def says_the_truth(events: Sequence[FeedEvent], call: ScriptedCall) -> None:
    """Case 3: wherever the agent is said to speak, something of it was heard within the last 500 ms."""
    heard = [at for at, level in call.heard if level]
    states = [(event.at_ms, event.data["state"]) for event in events if event.type == "agent.state"]
    for (since, state), (until, _) in pairwise([*states, (states[-1][0], "")]):
        if state == "speaking":
            times = [since, *(at for at in heard if since <= at <= until), until]
            assert all(later - before <= 500 for before, later in pairwise(times))


def places(call: ScriptedCall) -> list[int]:
    """Where in the answer each frame came from that was heard, in ms."""
    return [level - 1 for _, level in call.heard if level]


@pytest.mark.parametrize(
    ("spans", "words", "delay_ms", "steps_told"),
    [
        ([(200, OVER)], "mm-hm", 0, ["ducked", "paused", "resumed backchannel", "finished"]),
        ([(200, OVER)], "Right.", 0, ["ducked", "paused", "resumed backchannel", "finished"]),
        ([(500, OVER)], "d'accord", 0, ["ducked", "paused", "resumed backchannel", "finished"]),
        ([(300, OVER)], "", 0, ["ducked", "paused", "resumed noise", "finished"]),
        ([(200, OVER)], "mm-hm", 5_000, ["ducked", "paused", "resumed no_words", "finished"]),
    ],
    ids=["mm-hm", "right", "d'accord", "no words", "words late"],
)
@pytest.mark.parametrize("tts", [PlaceTts(), PlaceTts(piece_ms=45)], ids=["the voice has ended", "the voice still makes it"])
async def test_case_01_15_a_reply_comes_back_whole_at_the_start_of_the_word(
    spans: Sequence[tuple[int, int]], words: str, delay_ms: int, steps_told: list[str], tts: ToneTts
) -> None:
    call, stt = over(*spans), saying(words)
    async with house(AS_LOUD, answers=[LONG], stt=stt, tts=tts) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(2)
        stt.delay_ms = delay_ms
        await running
        events = await here.read()
        assert steps(events) == steps_told
        says_the_truth(events, call)
        (back,) = (event for event in events if event.type == "speech.resumed")
        (paused,) = (event for event in events if event.type == "speech.paused")
        (ducked,) = (event for event in events if event.type == "speech.ducked")
        assert back.at_ms - ducked.at_ms <= 1_560
        assert await here.records() == []
        assert turns(here) == ["hello there"]
    again = int(str(back.data["position_ms"]))
    heard = places(call)
    until = heard.index(max(heard[: int(str(paused.data["position_ms"])) // FRAME_MS])) + 1
    assert heard[:until] == list(range(0, until * FRAME_MS, FRAME_MS))
    assert heard[until + 2 :] == list(range(again + 2 * FRAME_MS, SECONDS, FRAME_MS))
    assert 0 <= int(str(ducked.data["position_ms"])) - again <= 50 * len("answer ")
    assert min(heard[until : until + 2]) >= 0


async def test_case_15_it_comes_back_while_a_tool_runs() -> None:
    async def look() -> str:
        await asyncio.sleep(6)
        return "Tuesday"

    model = ScriptedModel([[LONG, ToolCall("c1", "look", "{}")], "It is Tuesday."])
    looking = AIChannel("assistant", provider=model, system_prompt="", tools=[look])
    call = ScriptedCall("s1", [*TURN, (1_500, 0), (200, OVER)], until_ms=12_000)
    async with house(agent=looking, stt=saying("mm-hm")) as here:
        await here.receive(call)
        events = await here.read()
        assert steps(events) == ["ducked", "paused", "resumed backchannel", "finished"]
        says_the_truth(events, call)
    assert call.sound_ms >= SECONDS + 50 * len("It is Tuesday.")
    assert max(later - before for before, later in pairwise(at for at, level in call.heard if level and at < 5_000)) <= 2_500


@pytest.mark.parametrize(
    ("ms", "words"),
    [(200, "Stop."), (1_500, "what about Montreal"), (200, "mm-hm"), (300, "")],
    ids=["stop", "words", "hum", "noise"],
)
async def test_case_03_it_is_not_said_to_speak_while_nothing_of_it_is_heard(ms: int, words: str) -> None:
    call = over((ms, OVER), until_ms=12_000)
    async with house(answers=[LONG, "Rain."], stt=saying(words)) as here:
        await here.receive(call)
        says_the_truth(await here.read(), call)


async def test_115_a_sign_of_listening_is_told_once_and_is_nobodys_turn() -> None:
    call = over((200, OVER))
    async with house(answers=[LONG], stt=saying("okay")) as here:
        told: list[Backchannel] = []

        @here.engine.hook(HookTrigger.ON_BACKCHANNEL)
        async def backchannel(event: Backchannel) -> None:
            told.append(event)

        await here.receive(call)
        assert [line for line in await here.log() if int(line.split()[0]) > 2_500] == [
            "2560 speech.ducked 960",
            "2620 input.started",
            "2820 speech.paused 1220",
            "2820 agent.state listening",
            "2900 speech.resumed 750 backchannel",
            "2900 agent.state speaking",
            "3200 input.settled backchannel",
            "4820 speech.finished " + LONG,
            "4820 agent.state idle",
        ]
        assert [(one.text, one.speech_id, one.participant_id) for one in told] == [("okay", here.agent.replies[0].id, "ann")]
        assert turns(here) == ["hello there"]


@pytest.mark.parametrize(("words", "cut_ms"), [("okay, and Montreal?", 1_000), ("Ou est la gare?", 1_000)])
async def test_115_what_goes_on_cuts(words: str, cut_ms: int) -> None:
    async with house(answers=[LONG, "Rain."], stt=saying(words)) as here:
        await here.receive(over((1_000, OVER)))
        events = await here.read()
        assert steps(events)[:3] == ["ducked", "paused", "cut"]
        (cut,) = (event for event in events if event.type == "speech.cut")
        assert cut.at_ms - 2_500 <= cut_ms
        assert turns(here) == ["hello there", words]


async def test_115_a_beginning_that_may_become_anything_is_waited_for() -> None:
    async with house(answers=[LONG], stt=saying("Ou")) as here:
        await here.receive(over((980, OVER)))
        events = await here.read()
        (cut,) = (event for event in events if event.type == "speech.cut")
        assert cut.at_ms >= 2_500 + 980 + 200


@pytest.mark.parametrize("settings", [None, SEMANTIC], ids=["confirmed", "semantic"])
@pytest.mark.parametrize("words", ["Stop.", "Arrête !", "wait"])
async def test_case_18_a_short_stop_always_cuts(words: str, settings: VoiceSettings | None) -> None:
    call = over((200, OVER))
    async with house(settings, answers=[LONG], stt=saying(words)) as here:
        await here.receive(call)
        events = await here.read()
        assert steps(events)[:3] == ["ducked", "paused", "cut"]
        (cut,) = (event for event in events if event.type == "speech.cut")
        assert cut.at_ms <= 2_500 + 200 + 200
        says_the_truth(events, call)


@pytest.mark.parametrize("settings", [None, SEMANTIC], ids=["confirmed", "semantic"])
async def test_case_09_it_is_silent_long_before_words_are_known(settings: VoiceSettings | None) -> None:
    call = over((1_500, OVER))
    async with house(settings, answers=[LONG], stt=saying("what about Montreal", delay_ms=700)) as here:
        await here.receive(call)
        events = await here.read()
        (ducked,), (paused,) = ([e for e in events if e.type == f"speech.{what}"] for what in ("ducked", "paused"))
        assert (ducked.data["after_ms"], paused.data["after_ms"]) == (60, 220)
        last = max(at for at, level in call.heard if level and at < 3_500)
    assert last - 2_500 <= 300


async def test_case_06_a_sign_of_listening_is_not_put_in_front_of_the_next_turn() -> None:
    stt = ScriptedStt({ANN: "hello there", OVER: "mhm", 3_000: "what time is it"})
    async with house(answers=[LONG, "Nine."], stt=stt) as here:
        await here.receive(over((200, OVER), (5_000, 0), (900, 3_000), until_ms=12_000))
        assert turns(here) == ["hello there", "what time is it"]
        settled = [event.data for event in await here.read() if event.type == "input.settled"]
        assert [one["text"] for one in settled if one["disposition"] == "backchannel"] == ["mhm"]


async def test_a_sign_of_listening_while_nobody_speaks_is_an_ordinary_turn() -> None:
    stt = ScriptedStt({ANN: "hello there", OVER: "okay"})
    async with house(answers=["Fine.", "Good."], stt=stt) as here:
        await here.receive(ScriptedCall("s1", [*TURN, (3_000, 0), (300, OVER)], until_ms=8_000))
        assert turns(here) == ["hello there", "okay"]


async def test_a_yes_to_what_the_agent_has_just_asked_is_an_answer() -> None:
    asks = "Shall I book it now? It is not expensive at all."
    call = ScriptedCall("s1", [*TURN, (1_900, 0), (300, OVER)], until_ms=8_000)
    async with house(answers=[asks, "Done."], stt=saying("yes")) as here:
        await here.receive(call)
        assert turns(here) == ["hello there", "yes"]
        assert steps(await here.read())[-2:] == ["cut", "finished"]


@pytest.mark.parametrize("delay_ms", [0, 2_000])
async def test_116_words_that_repeat_what_plays_neither_cut_nor_make_a_turn(delay_ms: int) -> None:
    call = over((600, OVER))
    async with house(answers=[LONG], stt=saying("is a long answer", delay_ms=0)) as here:
        await here.receive(call)
        events = await here.read()
        assert "cut" not in steps(events)
        assert steps(events)[-1] == "finished"
        assert turns(here) == ["hello there"]
        rejected = [event.data.get("reason") for event in events if event.data.get("disposition") == "rejected"]
        assert rejected == ["echo"]


@pytest.mark.parametrize("delay_ms", [0, 1_000, 5_000])
@pytest.mark.parametrize("words", ["mm-hm", "", "what about it"])
async def test_case_12_dead_air_after_a_false_interruption_is_bounded(delay_ms: int, words: str) -> None:
    call, stt = over((120, OVER), (150, 0), (120, OVER), (150, 0), (120, OVER)), saying(words)
    async with house(answers=[LONG], stt=stt) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(2)
        stt.delay_ms = delay_ms
        await running
        events = await here.read()
        says_the_truth(events, call)
        end = next(event.at_ms for event in events if event.type in ("speech.finished", "speech.cut"))
    sounds = [at for at, level in call.heard if level and at <= end]
    assert max(later - before for before, later in pairwise([*sounds, end])) <= 2_500


async def test_case_26_after_a_cut_nothing_old_is_heard_and_the_next_answer_at_once() -> None:
    call = over((800, OVER))
    call.delay_frames = 5
    async with house(AS_LOUD, answers=[LONG, "Rain today."], stt=saying("and the weather"), tts=PlaceTts()) as here:
        await here.receive(call)
        events = await here.read()
        cut = next(event for event in events if event.type == "speech.cut")
        began = [event.at_ms for event in events if event.type == "speech.started"][1]
        after = [(at, level - 1) for at, level in call.heard if level and at > cut.at_ms]
    assert [place for _, place in after][:3] == [0, 20, 40]
    assert after[0][0] - began <= 5 * FRAME_MS + 40
    assert int(str(cut.data["played_ms"])) == max(level for at, level in call.heard if at <= cut.at_ms) - 1 + FRAME_MS


async def test_case_02_a_blip_just_before_the_first_sound_does_not_keep_the_answer() -> None:
    call = ScriptedCall("s1", [*TURN, (500, 0), (100, OVER)], until_ms=8_000)
    async with house(answers=[LONG], stt=saying("")) as here:
        await here.receive(call)
        assert steps(await here.read())[-1] == "finished"
    assert call.sound_ms >= SECONDS


async def test_two_people_one_murmurs_and_each_has_heard_all() -> None:
    ann = ScriptedCall("a", TURN, until_ms=9_000)
    ben = ScriptedCall("b", [(2_500, 0), (200, OVER)], until_ms=9_000)
    async with house(AS_LOUD, answers=[LONG], stt=saying("mm-hm"), tts=PlaceTts()) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(ben, "ben"))
        (answer,) = [e for e in await here.engine.store.list_events(ROOM, limit=100) if e.source.channel_id == "assistant"]
        come = await here.engine.consumption(answer.id)
        assert {(one.participant_id, one.state, one.heard_chars) for one in come} == {
            ("ann", "heard", len(LONG)),
            ("ben", "heard", len(LONG)),
        }
        assert steps(await here.read()) == ["ducked", "paused", "resumed backchannel", "finished"]


async def test_who_hangs_up_holds_nothing_back() -> None:
    ann = ScriptedCall("a", TURN, until_ms=9_000)
    ben = ScriptedCall("b", [(2_500, 0), (5_000, OVER)], until_ms=2_900)
    async with house(answers=[LONG], stt=saying("mm-hm")) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(ben, "ben"))
        assert steps(await here.read()) == ["ducked", "paused", "resumed left", "finished"]


class Judge:
    """Thinks for so long, and then is of this opinion."""

    def __init__(self, opinion: bool | Exception | None, after_ms: int = 0) -> None:
        self.opinion = opinion
        self.after_ms = after_ms
        self.asked: list[Overlap] = []

    async def judge(self, overlap: Overlap) -> bool | None:
        self.asked.append(overlap)
        await clock.sleep_until(clock.now() + self.after_ms)
        if isinstance(self.opinion, Exception):
            raise self.opinion
        return self.opinion


@pytest.mark.parametrize(
    ("judge", "words", "last"),
    [
        (Judge(True), "mm-hm", "cut"),
        (Judge(False), "what about Montreal", "finished"),
        (Judge(None), "mm-hm", "finished"),
        (Judge(None), "what about Montreal", "cut"),
        (Judge(False, 5_000), "what about Montreal", "cut"),
        (Judge(RuntimeError("no")), "what about Montreal", "cut"),
        (Judge(False), "stop", "cut"),
    ],
    ids=["wants it", "does not", "none, murmur", "none, words", "too late", "fails", "a stop is a stop"],
)
async def test_case_08_a_detector_of_the_hosts_own_decides_or_words_do(judge: Judge, words: str, last: str) -> None:
    async with house(answers=[LONG], stt=saying(words), judge=judge) as here:
        await here.receive(over((700, OVER)))
        assert ("cut" in steps(await here.read())) == (last == "cut")
        assert last == "cut" or turns(here) == ["hello there"]
    assert words == "stop" or judge.asked
    assert all(overlap.playing_text == LONG and overlap.sound.size == to_samples(overlap.lasted_ms) for overlap in judge.asked)


async def test_case_04_speech_over_what_cannot_be_cut_raises_nothing(caplog: pytest.LogCaptureFixture) -> None:
    settings = VoiceSettings(greeting="", barge_in=BargeInSettings(strategy=InterruptionStrategy.DISABLED))
    async with house(settings, answers=[LONG, "Yes."], stt=saying("what about Montreal")) as here:
        await here.receive(over((800, OVER)))
        assert steps(await here.read()) == ["finished", "finished"]
        assert turns(here) == ["hello there", "what about Montreal"]
    assert not caplog.records


async def test_an_answer_cut_while_it_was_still_being_made_can_be_gone_on_with() -> None:
    policy = MockSpeakPolicy(("speak", "silent"))
    nova, _ = deciding(policy, ["It will rain in the morning, ", Pause(3_000), "and the sun comes out."], "Fine.")
    call = over((300, OVER), until_ms=9_000)
    async with house(agent=nova, stt=saying("stop")) as here:
        await here.receive(call)
        (record,) = await here.records()
        assert record.metadata["played_ms"] == call.sound_ms
        cut = policy.turns[-1].cut
        assert cut is not None
        assert (cut.played_ms, cut.text) == (call.sound_ms, record.content.body)


async def test_case_18_who_only_stops_an_answer_gets_none_whatever_a_policy_says() -> None:
    policy = MockSpeakPolicy(("speak", "speak"))
    nova, _ = deciding(policy, [LONG], "What do you want?")
    async with house(agent=nova, stt=saying("Stop.")) as here:
        await here.receive(over((300, OVER)))
        assert len(policy.turns) == 2
        said = [words for who, words in await here.messages() if who != "assistant"]
        assert said == ["hello there", "Stop."]
        assert "What do you want?" not in [words for _, words in await here.messages()]


async def test_people_stay_loud_while_the_agent_is_lowered() -> None:
    ann = ScriptedCall("a", TURN, until_ms=6_000)
    ben = ScriptedCall("b", [(2_500, 0), (160, OVER)], until_ms=6_000)
    async with house(answers=[LONG], stt=saying("mm-hm")) as here, asyncio.TaskGroup() as calls:
        calls.create_task(here.receive(ann, "ann"))
        calls.create_task(here.receive(ben, "ben"))
    low = round(AGENT_LEVEL * 10 ** (-18 / 20))
    assert OVER + low in ann.levels
