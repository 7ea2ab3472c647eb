"""What became of each answer with each person: queued, playing, heard, cut, never played, delivered, read."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.scenario.scripted import AGENT_LEVEL, ROOM, House, ScriptedCall, ScriptedStt, ToneTts, house
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.channel import Channel
from voiceagent.room.consumption.state import Consumption
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    ChannelType,
    Direction,
    EventSource,
    EventType,
    RoomEvent,
    TextContent,
)
from voiceagent.room.feed import FeedEvent
from voiceagent.room.store import EventFilter
from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy, VoiceSettings

ANN, OVER = 1_000, 2_000
TURN = [(200, 0), (800, ANN)]
LONG = "This is a long answer of which not all will be heard."
NEVER = VoiceSettings(greeting="", barge_in=BargeInSettings(strategy=InterruptionStrategy.DISABLED))
TERMINALS = ("speech.finished", "speech.cut", "speech.dropped")


def told(lines: Sequence[FeedEvent]) -> list[str]:
    """What the feed says of consumption, as `at_ms person channel state chars ms word`."""
    return [
        " ".join(
            str(part)
            for part in (
                line.at_ms,
                line.data["participant_id"],
                line.data["channel_id"],
                line.data["state"],
                line.data["heard_chars"],
                line.data["played_ms"],
                line.data.get("word", ""),
            )
        ).strip()
        for line in lines
        if line.type == "consumption.updated"
    ]


async def answers_of(engine: RoomEngine, room: str = ROOM) -> list[RoomEvent]:
    """The agent's messages, in order."""
    events = await engine.store.list_events(room, event_filter=EventFilter(channel_id="assistant"))
    return [event for event in events if event.type is EventType.MESSAGE]


async def states(engine: RoomEngine, event: RoomEvent) -> dict[str | None, str]:
    """What is stored of one answer, by person."""
    return {one.participant_id: one.state for one in await engine.consumption(event.id)}


def speeches(lines: Sequence[FeedEvent], *kinds: str) -> list[FeedEvent]:
    return [line for line in lines if line.type in {f"speech.{kind}" for kind in kinds}]


async def test_an_answer_is_queued_then_plays_and_is_heard_to_its_end() -> None:
    call = ScriptedCall("s1", [*TURN, (1_000, 0)], until_ms=5_000)
    async with house(answers=[LONG]) as here:
        await here.receive(call)
        (answer,) = await answers_of(here.engine)
        (one,) = await here.engine.consumption(answer.id)
        assert (one.channel_id, one.participant_id, one.state, one.heard_chars) == ("voice", "ann", "heard", len(LONG))
        assert one.played_ms == call.heard_ms(AGENT_LEVEL)
        lines = await here.read()
        assert told(lines) == ["1600 ann voice playing 0 0", f"4260 ann voice heard {len(LONG)} {one.played_ms}"]
        (finished,) = speeches(lines, "finished")
        assert finished.data == {
            "speech_id": here.agent.replies[0].id,
            "text": LONG,
            "heard_text": LONG,
            "exact": True,
            "played_ms": one.played_ms,
            "spoken_chars": len(LONG),
        }


async def test_a_cut_answer_names_the_word_and_the_feed_says_who_cut_it() -> None:
    call = ScriptedCall("s1", [*TURN, (1_500, 0), (800, OVER)], until_ms=4_000)
    async with house(answers=[LONG]) as here:
        await here.receive(call)
        (answer,) = await answers_of(here.engine)
        (one,) = await here.engine.consumption(answer.id)
        assert (one.state, one.heard_chars, one.word, one.played_ms) == ("cut", 21, "of", call.sound_ms)
        lines = await here.read()
        assert told(lines) == ["1600 ann voice playing 0 0", "2880 ann voice cut 21 1120 of"]
        began = [line.data["input_id"] for line in lines if line.type == "input.started"]
        (record,) = await here.records()
        (cut,) = speeches(lines, "cut")
        assert cut.data == {
            "speech_id": here.agent.replies[0].id,
            "text": LONG,
            "heard_text": "This is a long answer",
            "exact": False,
            "played_ms": 1_120,
            "total_ms": 50 * len(LONG),
            "played_percentage": round(100 * 1_120 / (50 * len(LONG)), 1),
            "spoken_chars": 22,
            "reason": "barge_in",
            "cut_by_input_id": began[1],
            "record_event_id": record.id,
        }
        assert cut.generation_id == cut.data["speech_id"]


async def test_an_answer_that_never_sounds_was_never_played() -> None:
    call = ScriptedCall("s1", [], until_ms=4_000)
    async with house() as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(0.1)
        reply = await here.engine.say(ROOM, "First of all, a few words of welcome.", urgent=False)
        other = await here.engine.say(ROOM, "Nobody hears this.", urgent=False)
        await asyncio.sleep(0.3)
        other.cancel("asked to")
        await running
        lines = await here.read()
        first, second = (await answers_of(here.engine))[:2]
        assert reply.cancelled is None
        assert await states(here.engine, first) == {"ann": "heard"}
        assert await states(here.engine, second) == {"ann": "never_played"}
        states_of = [line.data["state"] for line in lines if line.data.get("event_id") == second.id]
        assert states_of == ["queued", "never_played"]
        (dropped,) = [line for line in speeches(lines, "dropped") if line.data["speech_id"] == other.id]
        assert dropped.data == {"speech_id": other.id, "reason": "asked to"}


async def test_each_of_several_people_has_heard_what_their_own_line_played() -> None:
    """Ann hears all, Ben hangs up in the middle, Cy comes then, Eve comes and goes, Dee's line takes no sound."""
    ann = ScriptedCall("a", TURN, until_ms=6_000)
    ben = ScriptedCall("b", [], until_ms=2_600)
    cy, eve = ScriptedCall("c", [], until_ms=3_000), ScriptedCall("e", [], until_ms=400)
    ben.delay_frames = 3

    class Deaf(ScriptedCall):
        def play(self, frame: object) -> int:
            raise ConnectionError("gone")

    async with house(NEVER, answers=[LONG]) as here:
        async with asyncio.TaskGroup() as calls:
            for name, call in (("ann", ann), ("ben", ben), ("dee", Deaf("d", [], until_ms=6_000))):
                calls.create_task(here.receive(call, name))
            await clock.sleep_until(clock.now() + 3_000)
            calls.create_task(here.receive(cy, "cy"))
            calls.create_task(here.receive(eve, "eve"))
        (answer,) = await answers_of(here.engine)
        found = {one.participant_id: one for one in await here.engine.consumption(answer.id)}
        ends = {name: one.state for name, one in found.items()}
        assert ends == {"ann": "heard", "ben": "cut", "cy": "heard", "dee": "cut", "eve": "cut"}
        assert found["ann"].played_ms == ann.heard_ms(AGENT_LEVEL)
        assert found["ben"].played_ms == ben.heard_ms(AGENT_LEVEL) == 920
        assert (found["ben"].heard_chars, found["ben"].word) == (18, "answer")
        assert found["cy"].played_ms == cy.heard_ms(AGENT_LEVEL) < 1_300
        assert found["eve"].played_ms == eve.heard_ms(AGENT_LEVEL) == 380
        assert (found["eve"].heard_chars, found["eve"].word) == (34, "all")
        assert (found["dee"].played_ms, found["dee"].heard_chars, found["dee"].word) == (0, 0, "This")
        lines = await here.read()
        assert [line.data["played_ms"] for line in speeches(lines, "finished")] == [found["ann"].played_ms]
        played = [line.data["played_ms"] for line in speeches(lines, "progress")]
        assert played == sorted(played)  # type: ignore[type-var]


async def test_who_goes_before_an_answer_begins_has_heard_nothing_of_it() -> None:
    ann = ScriptedCall("a", [], until_ms=6_000)
    ben = ScriptedCall("b", [], until_ms=1_000)
    async with house(NEVER) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(ben, "ben"))
            await asyncio.sleep(0.1)
            await here.engine.say(ROOM, LONG)
            await here.engine.say(ROOM, "And one more.", urgent=False)
        first, second = await answers_of(here.engine)
        assert await states(here.engine, first) == {"ann": "heard", "ben": "cut"}
        assert await states(here.engine, second) == {"ann": "heard", "ben": "never_played"}


async def test_the_last_to_hang_up_has_heard_what_was_played_though_words_were_still_awaited() -> None:
    call = ScriptedCall("s1", [*TURN, (700, 0), (3_000, OVER)], until_ms=2_000)
    stt = ScriptedStt({ANN: "hello there", OVER: "wait"}, delay_ms=0)
    async with house(NEVER, answers=[LONG], stt=stt) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(1.5)
        stt.delay_ms = 4_000
        await running
        (answer, *_) = await answers_of(here.engine)
        (one,) = await here.engine.consumption(answer.id)
        assert (one.state, one.played_ms) == ("cut", call.heard_ms(AGENT_LEVEL))


async def test_words_before_a_tool_and_those_behind_it_are_two_answers() -> None:
    async def look() -> str:
        await asyncio.sleep(2)
        return "Tuesday"

    model = ScriptedModel([["One moment.", ToolCall("c1", "look", "{}")], "It is Tuesday, I think.", "Yes."])
    looking = AIChannel("assistant", provider=model, system_prompt="", tools=[look])
    call = ScriptedCall("s1", [*TURN, (3_000, 0), (800, OVER)], until_ms=5_000)
    async with house(agent=looking) as here:
        await here.receive(call)
        first, second = (await answers_of(here.engine))[:2]
        (one,), (two,) = await here.engine.consumption(first.id), await here.engine.consumption(second.id)
        assert (one.state, one.heard_chars, one.played_ms) == ("heard", 11, 550)
        assert (two.state, two.word) == ("cut", "Tuesday,")
        heard_at = next(line.at_ms for line in await here.read() if line.data.get("state") == "heard")
        assert heard_at < 2_400  # while the tool still works
        assert one.played_ms + two.played_ms == call.sound_ms


class Quick(Channel):
    """Answers speech before anybody knows its words, as a model that hears does."""

    def __init__(self) -> None:
        super().__init__("assistant", ChannelType.AI)
        self.stored: list[tuple[int, RoomEvent]] = []

    def follow(self, here: House) -> asyncio.Task[None]:
        return asyncio.create_task(self._follow(here))

    async def _follow(self, here: House) -> None:
        reader = here.engine.feed(ROOM).subscribe()
        async for line in reader.events():
            if line.type == "input.started":
                source = EventSource(self.channel_id, ChannelType.AI, Direction.OUTBOUND)
                said = TextContent("Quite so.")
                event = RoomEvent("", ROOM, source, said, clock.utc(), responds_to=str(line.data["input_id"]), addressed_to=())
                result = await self.host.answer(event, None)
                assert result.event is not None
                self.stored.append((clock.now(), result.event))


async def test_an_answer_made_before_its_transcript_is_stored_names_it() -> None:
    quick = Quick()
    stt = ScriptedStt({ANN: "hello there"}, delay_ms=1_500)
    async with house(agent=quick, stt=stt) as here:
        following = quick.follow(here)
        began = clock.now()
        await here.receive(ScriptedCall("s1", TURN, until_ms=4_000))
        following.cancel()
        ((at, answer),) = quick.stored
        assert at - began < 500
        events = await here.engine.store.list_events(ROOM)
        (utterance,) = [event for event in events if event.source.participant_id == "ann"]
        assert (utterance.content.body, answer.responds_to) == ("hello there", utterance.id)
        assert (answer.index or 0) < (utterance.index or 0)
        found = await here.engine.store.list_events(ROOM, event_filter=EventFilter(responds_to=utterance.id))
        assert [event.id for event in found] == [answer.id]


@pytest.mark.parametrize("seed", range(8))
async def test_each_speech_has_one_end_and_each_state_only_grows_whoever_comes_and_goes(seed: int) -> None:
    """People come, talk over the agent, hang up; announcements cut and wait; one is taken back. The feed is what is stored."""
    at = [(seed * 7 + n * 13) % 29 * 100 for n in range(6)]
    calls = [
        ScriptedCall("a", [*TURN, (400 + at[0], 0), (700, OVER), (900, 0), (900, ANN)], until_ms=6_000 + at[1]),
        ScriptedCall("b", [(900 + at[2], 0), (800, OVER)], until_ms=3_000 + at[3]),
        ScriptedCall("c", [(at[4], 0), (500, ANN)], until_ms=2_000 + at[5]),
    ]
    stt = ScriptedStt({ANN: "hello there", OVER: "but no"})
    async with house(answers=[LONG, "Yes.", LONG, "No.", LONG], stt=stt, tts=ToneTts(first_ms=40 * (seed % 3))) as here:
        async with asyncio.TaskGroup() as tasks:
            for n, call in enumerate(calls):
                tasks.create_task(here.receive(call, f"p{n}"))
                await clock.sleep_until(clock.now() + at[n] // 3)
            await here.engine.say(ROOM, "A word from the house.", urgent=bool(seed % 2))
            taken_back = await here.engine.say(ROOM, "Never mind this one.", urgent=False)
            await clock.sleep_until(clock.now() + at[5])
            taken_back.cancel("asked to")
        lines = await here.read()
        ids = {str(line.data["speech_id"]) for line in lines if line.type.startswith("speech.")}
        for speech in ids:
            kinds = [line.type for line in lines if line.data.get("speech_id") == speech]
            assert sum(kind in TERMINALS for kind in kinds) == 1
            assert kinds[-1] in TERMINALS
            if "speech.progress" in kinds or "speech.finished" in kinds or "speech.cut" in kinds:
                assert kinds.index("speech.started") == 1
        known: dict[tuple[str, ...], Consumption] = {}
        for line in lines:
            if line.type == "consumption.updated":
                key = tuple(str(line.data[name]) for name in ("event_id", "channel_id", "participant_id"))
                one = next(c for c in await here.engine.consumption(key[0]) if (c.channel_id, str(c.participant_id)) == key[1:])
                shown = (line.data["state"], line.data["heard_chars"], line.data["played_ms"])
                before = known.get(key)
                grown = Consumption(key[1], key[2], *shown, at=one.at)  # type: ignore[arg-type]
                assert grown.says_more_than(before)
                known[key] = grown
        assert known
        for key, last in known.items():
            one = next(c for c in await here.engine.consumption(key[0]) if (c.channel_id, str(c.participant_id)) == key[1:])
            assert last.strength == one.strength
            assert last.state in ("heard", "cut", "never_played")
