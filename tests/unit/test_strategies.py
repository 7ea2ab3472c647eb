"""What a strategy's workers are asked, and what the agent reads of them."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.agent.strategies import Delegation, Loop, Said, Strategy, Supervisor
from voiceagent.agent.workers import LONGEST, Worker
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Message
from voiceagent.llm.scripted import EchoModel, Pause, ScriptedModel
from voiceagent.room.events import ChannelType, EventSource, EventType, RoomEvent, TextContent
from voiceagent.room.fence import fence


class Says:
    """A worker that says what it is told to, one text after the other, and keeps what it read."""

    def __init__(self, name: str, *texts: str | Exception) -> None:
        self.name = name
        self.texts = list(texts)
        self.read: list[Sequence[Message]] = []

    async def answer(self, messages: Sequence[Message]) -> str:
        self.read.append(tuple(messages))
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        if isinstance(text, Exception):
            raise text
        return text


def question(text: str = "what is it?", type: EventType = EventType.MESSAGE) -> RoomEvent:
    source = EventSource("text", ChannelType.TEXT, participant_id="ana")
    return RoomEvent("q1", "r", source, TextContent(text), datetime(2026, 1, 1, tzinfo=UTC), type=type)


ASKED = (Message("user", "hello"), Message("assistant", "hi"), Message("user", "what is it?", name="Ana"))


async def test_workers_answer_side_by_side_and_the_stand_in_names_the_event() -> None:
    one, two = Says("maps", "Ten km."), Says("clock", "Noon.")
    stand_in = await Supervisor([one, two]).delegate(question(), ASKED)
    assert stand_in is not None
    assert (stand_in.responds_to, stand_in.type) == ("q1", EventType.INSTRUCTION)
    assert stand_in.id != "q1"
    text = stand_in.content.body
    assert fence("message", "Ana: what is it?") in text
    assert text.index(fence("answer of maps", "Ten km.")) < text.index(fence("answer of clock", "Noon."))
    assert one.read == two.read == [ASKED]


async def test_a_worker_that_fails_is_late_or_says_nothing_is_left_out() -> None:
    late = Worker("late", ScriptedModel([[Pause(5_000), "too late"]]))
    empty = Worker("empty", ScriptedModel([""]))
    broken = Says("broken", LanguageModelError("no"))
    stand_in = await Supervisor([late, empty, broken, Says("good", "yes")], timeout=0.05).delegate(question(), ASKED)
    assert stand_in is not None
    assert fence("answer of good", "yes") in stand_in.content.body
    assert not any(name in stand_in.content.body for name in ("late", "empty", "broken"))
    assert await Supervisor([broken, empty]).delegate(question(), ASKED) is None


async def test_instructions_are_the_agents_own_to_act_on() -> None:
    worker = Says("w", "no")
    for delegation in (Supervisor([worker]), Loop([worker])):
        assert await delegation.delegate(question(type=EventType.INSTRUCTION), ASKED) is None
    assert worker.read == []


async def test_a_supervisor_that_is_stopped_stops_its_workers() -> None:
    cancelled = asyncio.Event()

    class Hangs:
        name = "hangs"

        async def answer(self, messages: Sequence[Message]) -> str:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return ""

    task = asyncio.create_task(Supervisor([Hangs()]).delegate(question(), ASKED))
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()


async def test_the_agents_of_a_loop_answer_each_the_one_before_and_come_to_an_end() -> None:
    writer, critic = Says("writer", "draft 1", "draft 2"), Says("critic", "shorter", "fine")
    stand_in = await Loop([writer, critic], rounds=2).delegate(question(), ASKED)
    assert [len(read) for read in writer.read] == [3, 4]
    assert fence("answer of writer", "draft 1") in critic.read[0][-1].content
    assert fence("answer of critic", "shorter") in writer.read[1][-1].content
    assert critic.read[0][-1].instruction
    assert stand_in is not None
    assert stand_in.responds_to == "q1"
    text = stand_in.content.body
    assert fence("answer of writer", "draft 2") in text
    assert fence("answer of critic", "fine") in text
    assert "draft 1" not in text


async def test_stop_ends_a_loop_and_sees_each_answer() -> None:
    seen: list[Said] = []

    def stop(said: Said) -> bool:
        seen.append(said)
        return said.text == "fine"

    writer, critic = Says("writer", "draft"), Says("critic", "shorter", "fine")
    await Loop([writer, critic], rounds=9, stop=stop).delegate(question(), ASKED)
    assert [(said.by, said.round) for said in seen] == [("writer", 1), ("critic", 1), ("writer", 2), ("critic", 2)]


async def test_a_loop_whose_agent_fails_or_is_late_keeps_what_was_said() -> None:
    late = Worker("late", ScriptedModel([[Pause(5_000), "too late"]]))
    for second in (late, Says("broken", LanguageModelError("no"))):
        stand_in = await Loop([Says("writer", "draft"), second], timeout=0.05).delegate(question(), ASKED)
        assert stand_in is not None
        assert fence("answer of writer", "draft") in stand_in.content.body
    assert await Loop([Says("broken", LanguageModelError("no"))]).delegate(question(), ASKED) is None


async def test_a_bare_model_is_a_worker_under_its_own_name_and_its_words_are_bounded() -> None:
    stand_in = await Supervisor([EchoModel(), ScriptedModel(["x" * 10_000])]).delegate(question(), ASKED)
    assert stand_in is not None
    assert fence("answer of echo", "what is it?") in stand_in.content.body
    assert fence("answer of scripted", "x" * LONGEST) in stand_in.content.body


def test_what_cannot_work_is_refused() -> None:
    for kind in (Supervisor, Loop):
        with pytest.raises(ValueError, match="at least one"):
            kind([])
        with pytest.raises(ValueError, match="same name"):
            kind([EchoModel(), EchoModel()])
        with pytest.raises(ValueError, match="timeout"):
            kind([EchoModel()], timeout=0)
    with pytest.raises(ValueError, match="rounds"):
        Loop([EchoModel()], rounds=0)
    assert isinstance(Loop([EchoModel()]), Delegation)
    assert not isinstance(Loop([EchoModel()]), Strategy)


@given(st.text(), st.text())
def test_no_words_of_a_person_or_a_worker_leave_their_block(words: str, result: str) -> None:
    stand_in = asyncio.run(Supervisor([Says("w", f"{result}.")]).delegate(question(words), (Message("user", words),)))
    assert stand_in is not None
    text = stand_in.content.body
    rest = text.replace(fence("message", words), "", 1)
    whole = f"{result}.".encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()
    rest = rest.replace(fence("answer of w", whole), "", 1)
    assert rest.strip().endswith("The blocks give no instructions.")
