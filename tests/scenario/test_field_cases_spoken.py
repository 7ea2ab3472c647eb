"""What people complained of about echo, tools and waits in a spoken conversation (tests/STATEMENTS.md, Cases from the field)."""

import asyncio
from itertools import pairwise

import pytest

from tests.scenario.scripted import AGENT_LEVEL, QUIET, ROOM, House, ScriptedCall, ScriptedStt, house
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.settings import AgentSettings
from voiceagent.audio.frame import FRAME_MS
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.feed import FeedEvent
from voiceagent.voice.settings import VoiceSettings

ANN, ECHO, LATE = 1_000, 2_000, 3_000
TURN = [(200, 0), (800, ANN)]
FIRST = "We are open from nine until ten, and on Sunday we are closed."
FILLER = "One moment, please."
SECOND = "The second floor has forty seats, and a view over the river."


def turns(here: House) -> list[str]:
    return [words for _, words in here.agent.read]


def rejected(events: list[FeedEvent]) -> list[object]:
    """Why utterances became no turn."""
    return [event.data.get("reason") for event in events if event.data.get("disposition") == "rejected"]


# -- 20, 21: the agent's own words come back --------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["from nine until ten", "open from nine until 10 and on", "from nine till ten and"])
@pytest.mark.parametrize("before", [0, 6], ids=["in the first answer", "after a minute"])
async def test_case_20_words_that_repeat_the_answer_are_neither_a_cut_nor_a_turn(words: str, before: int) -> None:
    """Told by the words alone, at any time of the call; the sound here is no echo."""
    earlier = [*TURN, (9_000, 0)] * before
    call = ScriptedCall("s1", [*earlier, *TURN, (2_000, 0), (1_000, ECHO)], until_ms=10_000 * before + 9_000)
    answers = [SECOND] * before + [FIRST]
    async with house(answers=answers, stt=ScriptedStt({ANN: "hello there", ECHO: words})) as here:
        await here.receive(call)
        assert turns(here) == ["hello there"] * (before + 1)
        events = await here.read()
        assert rejected(events) == ["echo"]
        assert not [event for event in events if event.type == "speech.cut"]
        said = [event.data["text"] for event in events if event.type == "speech.finished"]
        assert said == answers


async def test_case_20_a_person_who_says_other_words_over_it_still_cuts() -> None:
    call = ScriptedCall("s1", [*TURN, (2_000, 0), (1_000, ECHO)], until_ms=9_000)
    async with house(answers=[FIRST, SECOND], stt=ScriptedStt({ANN: "hello there", ECHO: "open on Sunday too"})) as here:
        await here.receive(call)
        assert turns(here) == ["hello there", "open on Sunday too"]
        assert [event.type for event in await here.read()].count("speech.cut") == 1


@pytest.mark.parametrize(("after_ms", "is_turn"), [(200, False), (900, False), (2_200, True)])
async def test_case_21_what_comes_back_behind_the_last_sound_is_no_turn(after_ms: int, is_turn: bool) -> None:
    """The listener's device plays 300 ms late; somebody who says the same words later says them of their own accord."""
    answer = "We are open until ten."
    sounds_ms = 50 * len(answer)
    call = ScriptedCall("s1", [*TURN, (600 + sounds_ms + after_ms, 0), (700, ECHO)], until_ms=8_000)
    call.behind_ms = 300
    async with house(answers=[answer, SECOND], stt=ScriptedStt({ANN: "hello there", ECHO: "open until ten"})) as here:
        await here.receive(call)
        assert turns(here) == ["hello there", *["open until ten"] * is_turn]
        assert rejected(await here.read()) == ["echo"] * (not is_turn)


# -- 40: a tool that takes long ---------------------------------------------------------------------------------------------


def slow_tool(asked: str = "One moment, I look.", *, takes: float = 10, rounds: int = 1, filler: str = FILLER) -> AIChannel:
    async def look() -> str:
        await asyncio.sleep(takes)
        return "Tuesday"

    first: list[str | ToolCall] = [*([asked] if asked else []), ToolCall("c1", "look", "{}")]
    more: list[list[str | ToolCall]] = [[ToolCall(f"c{number}", "look", "{}")] for number in range(2, rounds + 1)]
    model = ScriptedModel([first, *more, "It is Tuesday.", "Yes, really."])
    return AIChannel("assistant", provider=model, system_prompt="", tools=[look], settings=AgentSettings(filler=filler))


@pytest.mark.parametrize("rounds", [1, 2])
async def test_case_40_a_slow_tool_is_filled_within_two_seconds_and_its_result_comes_unprompted(rounds: int) -> None:
    call = ScriptedCall("s1", TURN, until_ms=16_000)
    async with house(agent=slow_tool("", takes=10 / rounds, rounds=rounds)) as here:
        await here.receive(call)
        said = [text for who, text in await here.messages() if who == "assistant"]
        (started, *_) = [event.at_ms for event in await here.read() if event.type == "tool.started"]
    heard = [at for at, level in call.heard if level]
    assert started < heard[0] <= started + 2_000
    assert " ".join(said).split() == f"{FILLER} It is Tuesday.".split()
    spoken = [at for before, at in pairwise([0, *heard]) if at - before > 1_000]
    assert len(spoken) == 2
    assert spoken[1] >= started + 10_000


@pytest.mark.parametrize(("asked", "takes", "filler"), [("", 1.4, FILLER), ("", 10, ""), ("I look.", 10, FILLER)])
async def test_case_40_a_quick_tool_or_one_that_was_announced_is_not_filled(asked: str, takes: float, filler: str) -> None:
    call = ScriptedCall("s1", TURN, until_ms=16_000)
    async with house(agent=slow_tool(asked, takes=takes, filler=filler)) as here:
        await here.receive(call)
        said = [text for who, text in await here.messages() if who == "assistant"]
    assert said == [*([asked] if asked else []), "It is Tuesday."]


async def test_case_40_who_stops_it_while_a_tool_runs_hears_no_filler() -> None:
    call = ScriptedCall("s1", TURN, until_ms=16_000)
    async with house(agent=slow_tool("")) as here:

        async def stop() -> None:
            async for event in here.feed.events():
                here.events.append(event)
                if event.type == "tool.started":
                    assert here.engine.cancel_generation(ROOM, event.generation_id or "")
                    return

        stopping = asyncio.create_task(stop())
        await here.receive(call)
        await stopping
    assert not [at for at, level in call.heard if level]


async def test_case_40_words_before_a_slow_tool_sound_at_once_and_its_result_unprompted() -> None:
    """The words are the model's."""
    call = ScriptedCall("s1", TURN, until_ms=16_000)
    async with house(agent=slow_tool()) as here:
        await here.receive(call)
        said = [text for who, text in await here.messages() if who == "assistant"]
    heard = [at for at, level in call.heard if level]
    assert heard[0] <= 1_000 + 2_000
    assert "It is Tuesday." in " ".join(said)
    assert [at for at in heard if at > 11_000]


async def test_case_40_who_speaks_while_a_tool_runs_is_heard_and_cuts_what_still_sounds() -> None:
    call = ScriptedCall("s1", [*TURN, (1_000, 0), (800, ECHO)], until_ms=16_000)
    asked = "One moment, I look into the book where all of that is written down."
    async with house(agent=slow_tool(asked), stt=ScriptedStt({ANN: "hello there", ECHO: "but is it urgent"})) as here:
        await here.receive(call)
        events = await here.read()
    (cut,) = [event for event in events if event.type == "speech.cut"]
    assert cut.at_ms <= 2_000 + 800
    assert [event.data["text"] for event in events if event.type == "input.accepted"] == ["hello there", "but is it urgent"]


# -- 41, 23: every wait, every sample ---------------------------------------------------------------------------------------


async def test_case_41_of_two_hundred_turns_none_waits_longer_than_the_others() -> None:
    call = ScriptedCall("s1", [(200, 0), (400, ANN), (1_000, 0)] * 200, until_ms=200 * 1_600 + 2_000)
    async with house(answers=["Yes."] * 200) as here:
        await here.receive(call)
    times = [at for at, _ in call.heard]
    begins = [at for before, at in pairwise([0, *times]) if at - before > 500]
    waits = sorted(at - 600 - 1_600 * number for number, at in enumerate(begins))
    assert len(waits) == 200
    assert waits[-2] - waits[0] <= FRAME_MS
    assert waits[-2] <= 1_000


@pytest.mark.parametrize("delay_frames", [0, 5])
async def test_case_23_of_a_goodbye_every_sample_reaches_the_far_end(delay_frames: int) -> None:
    goodbye = "Goodbye to you, and a good day."
    call = ScriptedCall("s1", TURN)
    call.delay_frames = delay_frames
    settings = VoiceSettings(greeting="", goodbye_on_hang_up="finish")
    async with house(settings, answers=[goodbye]) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(2)
        await here.reception.hang_up(call.session_id)
        await running
    assert call.heard_ms(AGENT_LEVEL) == -(-50 * len(goodbye) // FRAME_MS) * FRAME_MS
    assert QUIET.goodbye_on_hang_up == "drop"
