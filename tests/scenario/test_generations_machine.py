"""Whatever happens to a room, in whatever order: every input is settled once, every generation ends once, as promised."""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.scenario.promises import hold
from tests.scenario.rooms import ROOM, Door, message, seat
from voiceagent.agent.channel import AIChannel
from voiceagent.clock import VirtualLoop
from voiceagent.errors import LanguageModelError
from voiceagent.judgment.policy import SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.llm.model import Chunk, Done, Message, Prompt, Steered, TextDelta, ToolCall
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, RoomEvent
from voiceagent.room.feed import FeedEvent
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.room.sqlite import SqliteStore

_T = TypeVar("_T")
TURNS = st.sampled_from(["words", "tool", "long", "fails", "raises", "applied", "lost", "empty"])
PEOPLE = st.sampled_from(["ana", "ben"])
WAITS = st.sampled_from([0, 0, 10, 200, 5_000])


class Wild:
    """A model whose next turns a test draws; it takes input live when it is told to."""

    name = "wild"

    def __init__(self) -> None:
        self.turns: list[str] = []
        self.live: list[bool | None] = []
        self.steered: list[str] = []
        self.calls = 0

    async def steer_live(self, input_id: str, message: Message) -> bool:
        answer = self.live.pop(0) if self.live else False
        await asyncio.sleep(0.005)
        if answer is None:
            raise RuntimeError("lost")
        self.steered.append(input_id)
        return answer

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        self.calls += 1
        turn = self.turns.pop(0) if self.turns else "words"
        yield TextDelta("" if turn == "empty" else "Well, ")
        await asyncio.sleep(2 if turn == "long" else 0.02)
        if turn == "fails":
            raise LanguageModelError("broken", "server")
        if turn == "raises":
            raise ValueError("broken")
        if turn == "tool" and prompt.tools:
            yield ToolCall(f"c{self.calls}", "look", "{}")
        if turn in ("applied", "lost") and self.steered:
            input_id = self.steered.pop()
            yield Steered(input_id, "accepted", f"r{self.calls}")
            yield Steered(input_id, "applied" if turn == "applied" else "failed", f"n{self.calls}")
            yield TextDelta("and so on.")
        yield Done()


class Moody(SpeakPolicy):
    """Speaks or not as a test draws, at once or a while later."""

    def __init__(self) -> None:
        self.silent = False
        self.delay_ms = 0

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        decision = SpeakDecision("silent" if self.silent else "speak")
        await asyncio.sleep(self.delay_ms / 1000)
        return decision


class Slow(Channel):
    """An agent that hears one thing at a time."""

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        await asyncio.sleep(0.05)
        if "3" in event.content.body:
            raise RuntimeError("three is too much")
        return None


class RoomMachine(RuleBasedStateMachine):
    """A room on a real file, its people, two agents, and everything that may go wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = VirtualLoop()
        asyncio.set_event_loop(self.loop)
        self.keys = 0
        self.sent: list[asyncio.Task[object]] = []
        self._do(self._open())

    def _do(self, work: Coroutine[object, object, _T]) -> _T:
        return self.loop.run_until_complete(work)

    async def _open(self) -> None:
        self.store = SqliteStore(Path(self.folder.name) / "rooms.db")
        self.kit = await RoomEngine(store=self.store).__aenter__()
        self.model, self.go = Wild(), asyncio.Event()
        self.policy = Moody()
        self.speaker = Door("speaker", ChannelType.VOICE)

        async def look() -> str:
            """Looks something up."""
            await self.go.wait()
            return "found"

        agent = AIChannel("assistant", provider=self.model, system_prompt="", tools=[look], speak_policy=self.policy)
        await seat(self.kit, Door(), agent, Slow("slow", ChannelType.AI))
        self.kit.register_channel(self.speaker)
        self.dawdle_ms = 0

        @self.kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def dawdle(event: RoomEvent) -> HookResult[RoomEvent]:
            await asyncio.sleep(self.dawdle_ms / 1000)
            return HookResult.allow()

    def _start(self, work: Coroutine[object, object, object]) -> None:
        self.sent.append(self.loop.create_task(work))

    def _room_is_open(self) -> bool:
        try:
            self.kit.context(ROOM)
        except Exception:  # noqa: BLE001 - closed
            return False
        return True

    # -- what happens ---------------------------------------------------------------------------------------------------

    @rule(silent=st.booleans(), delay_ms=st.sampled_from([0, 0, 30, 300]), dawdle_ms=st.sampled_from([0, 15, 40]))
    def mood(self, silent: bool, delay_ms: int, dawdle_ms: int) -> None:
        self.policy.silent, self.policy.delay_ms, self.dawdle_ms = silent, delay_ms, dawdle_ms

    @rule(person=PEOPLE, again=st.booleans())
    def says(self, person: str, again: bool) -> None:
        self.keys += not again
        said = message(f"words {self.keys}", sender=person)
        self._start(self.kit.process_inbound(said, room_id=ROOM))

    @rule(anchored=st.booleans(), person=st.none() | PEOPLE, again=st.booleans())
    def steers(self, anchored: bool, person: str | None, again: bool) -> None:
        self.keys += not again
        generation = self._a_generation() if anchored else None
        key = f"s{self.keys}"
        self._start(self.kit.steer(ROOM, key, generation_id=generation, input_id=key, participant_id=person))

    @rule()
    def instructs(self) -> None:
        if self._room_is_open() and self.kit.context(ROOM).seat("assistant") is not None:
            self._start(self.kit.deliver(ROOM, "Say the time.", instruction=True))

    @rule(turns=st.lists(TURNS, min_size=1, max_size=4), live=st.lists(st.sampled_from([True, False, None]), max_size=3))
    def will_say(self, turns: list[str], live: list[bool | None]) -> None:
        self.model.turns, self.model.live = turns, live

    @rule(wait=WAITS)
    def time_passes(self, wait: int) -> None:
        self._do(asyncio.sleep(wait / 1000))

    @rule(free=st.booleans())
    def tools(self, free: bool) -> None:
        if free:
            self.go.set()
        else:
            self.go.clear()
        self._do(asyncio.sleep(0))

    @rule(which=st.integers(0, 5), cut=st.booleans())
    def hears(self, which: int, cut: bool) -> None:
        replies = [reply for reply in self.speaker.replies if reply.cancelled is None]
        if which < len(replies):
            replies[-1 - which].heard = True
            if cut:
                replies[-1 - which].cancel("barge_in")
        self._do(asyncio.sleep(0))

    @rule()
    def gives_up(self) -> None:
        generation = self._a_generation()
        if generation is not None and self._room_is_open():
            self.kit.cancel_generation(ROOM, generation)

    @rule(channel=st.sampled_from(["assistant", "slow", "speaker"]), stays=st.booleans())
    def comes_and_goes(self, channel: str, stays: bool) -> None:
        if self._room_is_open():
            self._do(self.kit.attach_channel(ROOM, channel) if stays else self.kit.detach_channel(ROOM, channel))

    @rule()
    def closes(self) -> None:
        if self._room_is_open():
            self._do(self.kit.close_room(ROOM))
        self._do(self.kit.create_room(ROOM))
        for channel in ("text", "assistant", "slow"):
            self._do(self.kit.attach_channel(ROOM, channel))

    def _a_generation(self) -> str | None:
        if not self._room_is_open():
            return None
        listed = self.kit.snapshot(ROOM)["generations"]
        assert isinstance(listed, list)
        return next((str(one["generation_id"]) for one in listed if isinstance(one, dict)), None)

    # -- what holds -----------------------------------------------------------------------------------------------------

    def teardown(self) -> None:
        try:
            lines = self._do(self._end())
            hold(lines)
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()
            self.folder.cleanup()

    async def _end(self) -> list[FeedEvent]:
        await asyncio.wait_for(asyncio.gather(*self.sent, return_exceptions=True), 60)
        await self.kit.__aexit__(None, None, None)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not left, left
        lines = await self.store.feed_lines.after(ROOM, 0, 10_000)
        await self.store.close()
        return lines


def _run(runs: int, steps: int = 30) -> None:
    logging.disable(logging.CRITICAL)
    try:
        run_state_machine_as_test(
            RoomMachine,
            settings=settings(
                max_examples=runs, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
    finally:
        logging.disable(logging.NOTSET)


def test_every_input_is_settled_once_and_every_generation_ends_once() -> None:
    _run(200)


@pytest.mark.long
def test_ten_thousand_days() -> None:
    _run(10_000)
