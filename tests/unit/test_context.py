"""What a model reads for a turn."""

from collections.abc import Iterable
from datetime import UTC, datetime

from voiceagent.agent.context import conversation
from voiceagent.llm.model import CUT_MARK, Message, ToolCall
from voiceagent.room.channel import Channel
from voiceagent.room.events import (
    ChannelBinding,
    ChannelType,
    EventSource,
    EventStatus,
    EventType,
    Participant,
    RoomEvent,
    SystemContent,
    TextContent,
    ToolCallContent,
)
from voiceagent.room.live import LiveRoom
from voiceagent.room.seat import Seat
from voiceagent.values import JSON

AT = datetime(2026, 1, 1, tzinfo=UTC)
AGENT = EventSource("assistant", ChannelType.AI)
CALL = ToolCallContent("c1", "look_up", '{"a": 1}')


def room(*people: Participant) -> LiveRoom:
    made = LiveRoom("r")
    for name, kind in (("voice", ChannelType.VOICE), ("web", ChannelType.TEXT), ("assistant", ChannelType.AI)):
        made.take_seat(Seat(Channel(name, kind), ChannelBinding(name, kind), made, lambda coroutine, name: None))  # type: ignore[arg-type, return-value]
    for person in people:
        made.put_person(person)
    return made


def said(in_room: LiveRoom, text: str, who: str | None = "ana", channel: str = "web", **fields: object) -> RoomEvent:
    source = EventSource(channel, ChannelType.TEXT if channel == "web" else ChannelType.VOICE, participant_id=who)
    return keep(in_room, source, TextContent(text), **fields)


def answered(in_room: LiveRoom, text: str, to: str, **fields: object) -> RoomEvent:
    return keep(in_room, AGENT, TextContent(text), responds_to=to, **fields)


def keep(in_room: LiveRoom, source: EventSource, content: object, **fields: object) -> RoomEvent:
    index = in_room.next_index
    event = RoomEvent(f"e{index}", "r", source, content, AT, index=index, **fields)  # type: ignore[arg-type]
    in_room.remember(event)
    return event


def lines(messages: Iterable[Message]) -> list[tuple[str, str | None, str]]:
    return [(m.role, m.name, m.content) for m in messages]


def read(in_room: LiveRoom, trigger: RoomEvent, window: int = 50) -> list[tuple[str, str | None, str]]:
    return lines(conversation("assistant", trigger, in_room, window))


ANA = Participant("ana", display_name="Ana")
BEN = Participant("ben", display_name="Ben")


def test_with_one_person_nobody_is_labelled() -> None:
    r = room(ANA)
    question = said(r, "hello")
    answered(r, "hi", question.id)
    assert read(r, said(r, "how are you?")) == [
        ("user", None, "hello"),
        ("assistant", None, "hi"),
        ("user", None, "how are you?"),
    ]


def test_with_several_people_everybody_is_labelled() -> None:
    r = room(ANA, BEN, Participant("nameless"))
    said(r, "hello", "ana")
    said(r, "hey", "ben")
    said(r, "me too", "nameless", "voice")
    assert read(r, said(r, "who?", None)) == [
        ("user", "Ana", "hello"),
        ("user", "Ben", "hey"),
        ("user", "@voice", "me too"),
        ("user", "@web", "who?"),
    ]


def cut(in_room: LiveRoom, to: str | None) -> RoomEvent:
    told: dict[str, JSON] = {"interrupted": True, "answer_channel_id": "assistant", "answer_responds_to": to, "played_ms": 5}
    source = EventSource("voice", ChannelType.VOICE)
    return keep(in_room, source, TextContent("half"), visibility="internal", metadata=told)


def test_s07_105_the_mark_follows_the_cut_answers_last_row() -> None:
    r = room(ANA)
    first = said(r, "one?")
    second = said(r, "two?")
    answered(r, "row one", first.id)
    answered(r, "whole", second.id)
    answered(r, "row two", first.id)
    cut(r, first.id)
    assert read(r, said(r, "go on"))[2:] == [
        ("assistant", None, "row one"),
        ("assistant", None, "whole"),
        ("assistant", None, f"row two\n{CUT_MARK}"),
        ("user", None, "go on"),
    ]


def test_a_cut_greeting_is_not_marked() -> None:
    r = room(ANA)
    keep(r, AGENT, TextContent("Hello!"))
    cut(r, None)
    assert read(r, said(r, "hi")) == [("assistant", None, "Hello!"), ("user", None, "hi")]


def tool_row(in_room: LiveRoom, type: EventType, content: ToolCallContent, to: str, source: EventSource = AGENT) -> RoomEvent:
    return keep(in_room, source, content, type=type, responds_to=to)


def test_a_tools_call_and_result_come_together_or_not_at_all() -> None:
    r = room(ANA)
    question = said(r, "look")
    tool_row(r, EventType.TOOL_CALL_START, CALL, question.id)
    running = ToolCallContent("c2", "look_up")
    tool_row(r, EventType.TOOL_CALL_START, running, question.id)
    done = ToolCallContent("c1", "look_up", '{"a": 1}', result="found")
    said(r, "hurry")
    tool_row(r, EventType.TOOL_CALL_END, done, question.id)
    messages = conversation("assistant", said(r, "and?"), r, 50)
    assert lines(messages) == [
        ("user", None, "look"),
        ("assistant", None, ""),
        ("tool", None, "found"),
        ("user", None, "hurry"),
        ("user", None, "and?"),
    ]
    assert messages[1].tool_calls == (ToolCall("c1", "look_up", '{"a": 1}'),)
    assert messages[2].tool_call_id == "c1"


def test_another_agents_tools_are_its_own_affair() -> None:
    r = room(ANA)
    question = said(r, "look")
    other = EventSource("critic", ChannelType.AI)
    tool_row(r, EventType.TOOL_CALL_START, CALL, question.id, other)
    tool_row(r, EventType.TOOL_CALL_END, CALL, question.id, other)
    assert read(r, said(r, "and?")) == [("user", None, "look"), ("user", None, "and?")]


def test_what_was_refused_or_withheld_is_not_read() -> None:
    r = room(ANA)
    said(r, "refused", status=EventStatus.BLOCKED)
    answered(r, "own refused", "e0", status=EventStatus.BLOCKED)
    for hidden in ("none", "internal", "transport", "web"):
        said(r, f"for {hidden}", visibility=hidden)
    answered(r, "own whisper", "e0", visibility="web")
    said(r, "for agents", visibility="intelligence")
    keep(r, EventSource("system", ChannelType.SYSTEM), SystemContent("Ana joined"), type=EventType.SYSTEM)
    assert read(r, said(r, "now")) == [
        ("assistant", None, "own whisper"),
        ("user", None, "for agents"),
        ("user", None, "now"),
    ]


def test_an_instruction_is_no_persons_words_and_a_standalone_one_is_read_alone() -> None:
    r = room(ANA, BEN)
    said(r, "one", "ana")
    said(r, "two", "ben")
    source = EventSource("system", ChannelType.SYSTEM)
    instruction = RoomEvent("i", "r", source, TextContent("Say hello."), AT, type=EventType.INSTRUCTION)
    with_history = conversation("assistant", instruction, r, 50)
    alone = conversation("assistant", instruction.with_metadata(standalone=True), r, 50)
    assert [(m.content, m.instruction) for m in with_history] == [("one", False), ("two", False), ("Say hello.", True)]
    assert alone == [Message("user", "Say hello.", instruction=True)]


def test_the_window_keeps_the_newest_and_nothing_that_came_later() -> None:
    r = room(ANA)
    for number in range(10):
        said(r, str(number))
    trigger = said(r, "now")
    said(r, "later")
    assert [content for _, _, content in read(r, trigger, window=3)] == ["7", "8", "9", "now"]
