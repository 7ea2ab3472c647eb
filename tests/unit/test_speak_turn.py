"""What a policy reads about an event: statements 50 to 58 and 106 to 107, on a room without a loop."""

from datetime import timedelta

import pytest

from tests.unit.test_context import AT, answered, keep, room, said
from voiceagent.agent.turn import speak_turn
from voiceagent.judgment.policy import CutReply, SpeakTurn
from voiceagent.room.channel import Channel
from voiceagent.room.events import (
    ChannelBinding,
    ChannelType,
    EventSource,
    EventStatus,
    EventType,
    Participant,
    Role,
    RoomEvent,
    SystemContent,
    TextContent,
    ToolCallContent,
)
from voiceagent.room.live import WINDOW, LiveRoom
from voiceagent.room.seat import Seat
from voiceagent.values import JSON

ANA = Participant("ana", "Ana", connected_via=("web",))
BEN = Participant("ben", "Ben", connected_via=("web",))


def turn(in_room: LiveRoom, event: RoomEvent, window: int = 50) -> SpeakTurn:
    return speak_turn("assistant", event, in_room, window)


def texts(asked: SpeakTurn) -> list[str]:
    return [event.content.body for event in asked.recent]


def cut(in_room: LiveRoom, to: str | None, **fields: object) -> RoomEvent:
    told: dict[str, JSON] = {"interrupted": True, "answer_channel_id": "assistant", "answer_responds_to": to, "played_ms": 1_200}
    source = EventSource("voice", ChannelType.VOICE)
    return keep(in_room, source, TextContent("It is noon and"), visibility="internal", metadata=told, **fields)


def seat(in_room: LiveRoom, channel_id: str, kind: ChannelType, visibility: str = "all") -> None:
    binding = ChannelBinding(channel_id, kind, visibility=visibility)
    in_room.take_seat(Seat(Channel(channel_id, kind), binding, in_room, lambda coroutine, name: None))  # type: ignore[arg-type, return-value]


def test_s07_050_recent_are_the_messages_before_the_event_that_the_agent_may_know() -> None:
    r = room(ANA, BEN)
    first = said(r, "one")
    said(r, "refused", status=EventStatus.BLOCKED)
    answered(r, "own refused", first.id, status=EventStatus.BLOCKED)
    for hidden in ("none", "internal", "transport", "web", "voice,web"):
        said(r, f"for {hidden}", visibility=hidden)
    answered(r, "own", first.id)
    answered(r, "own whisper", first.id, visibility="web")
    keep(r, EventSource("assistant", ChannelType.AI), ToolCallContent("c", "look"), type=EventType.TOOL_CALL_START)
    keep(r, EventSource("assistant", ChannelType.AI), ToolCallContent("c", "look", "{}", "seen"), type=EventType.TOOL_CALL_END)
    keep(r, EventSource("system", ChannelType.SYSTEM), SystemContent("Ana joined"), type=EventType.SYSTEM)
    said(r, "for agents", "ben", visibility="intelligence")
    said(r, "for it", "ben", visibility="assistant")
    event = said(r, "now")
    said(r, "later")
    assert texts(turn(r, event)) == ["one", "own", "own whisper", "for agents", "for it"]


def test_s07_050_recent_goes_no_further_back_than_the_agents_context() -> None:
    r = room(ANA)
    for number in range(10):
        said(r, str(number))
        said(r, "hidden", visibility="none")
    event = said(r, "now")
    assert texts(turn(r, event, window=3)) == ["7", "8", "9"]
    for number in range(WINDOW + 10):
        said(r, f"later {number}")
    assert texts(turn(r, event)) == []


def test_s07_051_by_agent_holds_for_its_own_answers_alone() -> None:
    r = room(ANA)
    seat(r, "other", ChannelType.AI)
    first = said(r, "one")
    answered(r, "own", first.id)
    keep(r, EventSource("other", ChannelType.AI), TextContent("another agent's"), responds_to=first.id)
    asked = turn(r, said(r, "now"))
    assert [asked.by_agent(event) for event in asked.recent] == [False, True, False]
    assert not asked.by_agent(asked.event)


def test_s07_052_speakers_name_everybody_but_the_agent() -> None:
    r = room(ANA, Participant("nameless"))
    first = said(r, "one")
    own = answered(r, "own", first.id)
    second = said(r, "two", "nameless", "voice")
    event = said(r, "now", None)
    asked = turn(r, event)
    assert asked.speakers == {first.id: "Ana", second.id: "@voice", event.id: "@web"}
    assert own.id not in asked.speakers


def test_s07_053_look_alikes_are_told_apart_in_speakers() -> None:
    r = room(Participant("a", "Alice"), Participant("b", "ALICE"))
    first, second = said(r, "one", "a"), said(r, "two", "b", "voice")
    third = said(r, "three", "a", "voice")
    asked = turn(r, third)
    assert asked.speakers == {first.id: "Alice", second.id: "ALICE (2)", third.id: "Alice"}


def test_s07_054_somebody_called_you_is_a_participant() -> None:
    r = room(Participant("a", "Yоu"))
    event = said(r, "one", "a")
    assert turn(r, event).speakers == {event.id: "(a participant)"}


def test_s07_055_people_are_those_whose_words_reach_the_agent() -> None:
    r = room(
        ANA,
        Participant("adviser", "Adviser", Role.AGENT, ("web",)),
        Participant("bot", "Bot", Role.BOT, ("web",)),
        Participant("watcher", "Watcher", Role.OBSERVER, ("web",)),
        Participant("gone", "Gone", Role.MEMBER, ("web",), active=False),
        Participant("itself", "Itself", Role.MEMBER, ("assistant",)),
        Participant("away", "Away", Role.MEMBER, ("elsewhere",)),
        Participant("apart", "Apart", Role.MEMBER, ("side",)),
        Participant("near", "Near", Role.MEMBER, ("side", "voice")),
    )
    seat(r, "side", ChannelType.TEXT, visibility="transport")
    assert turn(r, said(r, "hello")).people == ["Ana", "Adviser", "Near"]


def test_s07_056_three_voices_on_one_microphone_are_three_people() -> None:
    r = room(Participant("mic", "Room 5", connected_via=("voice",)))
    for voice in ("Ana", "Ben"):
        said(r, f"{voice} speaks", "mic", "voice", metadata={"sender_name": voice})
    event = said(r, "Chloé speaks", "mic", "voice", metadata={"sender_name": "Chloé"})
    asked = turn(r, event)
    assert list(asked.people) == ["Ana", "Ben", "Chloé"]
    assert list(asked.speakers.values()) == ["Ana", "Ben", "Chloé"]


def test_s07_056_one_voice_on_the_microphone_is_one_person() -> None:
    r = room(Participant("mic", "Room 5", connected_via=("voice",)))
    event = said(r, "hello", "mic", "voice", metadata={"sender_name": "Ana"})
    assert turn(r, event).people == ["Room 5"]


def test_s07_056_another_agents_answers_make_no_person() -> None:
    r = room(ANA)
    seat(r, "other", ChannelType.AI)
    for voice in ("Eve", "Mallory"):
        keep(r, EventSource("other", ChannelType.AI), TextContent("hm"), metadata={"sender_name": voice})
    assert turn(r, said(r, "now")).people == ["Ana"]


def test_s07_057_a_nameless_sender_adds_nobody() -> None:
    r = room(ANA, Participant("nameless", None, connected_via=("web",)))
    said(r, "one", "nameless")
    said(r, "two", None, "voice")
    assert turn(r, said(r, "now")).people == ["Ana"]


def test_s07_058_an_agent_without_a_seat_sees_nobody() -> None:
    r = room(ANA)
    said(r, "one")
    event = said(r, "two")
    r.leave_seat("assistant")
    asked = turn(r, event)
    assert (list(asked.people), texts(asked), asked.speakers) == ([], [], {})


def test_s07_107_an_answer_that_sounds_already_counts_though_it_is_not_stored_yet() -> None:
    r = room(ANA)
    question = said(r, "when?")
    beside = said(r, "and where?")
    cut(r, question.id)
    since = said(r, "mm-hm")
    event = said(r, "yes")
    assert speak_turn("assistant", event, r, 50, [question, beside]).cut is not None
    assert speak_turn("assistant", event, r, 50, [since]).cut is None


def test_s07_106_a_cut_is_offered_while_the_rest_of_the_answer_is_stored_after_its_record() -> None:
    r = room(ANA)
    question = said(r, "when?")
    record = cut(r, question.id)
    answered(
        r,
        "It is noon and the sun",
        question.id,
        metadata={"cancelled": True},
    )
    assert turn(r, said(r, "mm-hm")).cut == CutReply("It is noon and", 1_200, record.created_at)


def test_s07_106_the_clock_decides_nothing() -> None:
    r = room(ANA)
    question = said(r, "when?")
    answered(r, "It is noon and the sun", question.id)
    index = r.next_index
    told: dict[str, JSON] = {"interrupted": True, "answer_channel_id": "assistant", "answer_responds_to": question.id}
    early = RoomEvent(
        "early",
        "r",
        EventSource("voice", ChannelType.VOICE),
        TextContent("It is noon and"),
        AT - timedelta(hours=1),
        index=index,
        visibility="internal",
        metadata=told,
    )
    r.remember(early)
    assert turn(r, said(r, "mm-hm")).cut == CutReply("It is noon and", 0, early.created_at)


@pytest.mark.parametrize("other_first", [True, False])
def test_s07_106_another_answer_that_ran_beside_it_is_not_the_agents_next_word(other_first: bool) -> None:
    r = room(ANA, BEN)
    first, second = said(r, "one?"), said(r, "two?", "ben")
    if other_first:
        answered(r, "two!", second.id)
    cut(r, first.id)
    answered(r, "one, and", first.id)
    if not other_first:
        answered(r, "two!", second.id)
    asked = turn(r, said(r, "mm-hm"))
    assert asked.cut is not None
    assert asked.cut.text == "It is noon and"


@pytest.mark.parametrize("to", ["asked since", "announcement"])
def test_s07_107_no_cut_is_offered_once_the_agent_has_spoken_since(to: str) -> None:
    r = room(ANA)
    question = said(r, "when?")
    answered(r, "It is noon and the sun", question.id)
    cut(r, question.id)
    again = said(r, "what?")
    assert turn(r, again).cut is not None
    if to == "announcement":
        keep(r, EventSource("assistant", ChannelType.AI), TextContent("Ten minutes left."))
    else:
        answered(r, "Noon.", again.id)
    assert turn(r, said(r, "thanks")).cut is None


def test_s07_107_what_was_announced_before_the_cut_was_not_spoken_since() -> None:
    r = room(ANA)
    question = said(r, "when?")
    answered(r, "It is noon and the sun", question.id)
    keep(r, EventSource("assistant", ChannelType.AI), TextContent("Ten minutes left."))
    cut(r, question.id)
    assert turn(r, said(r, "mm-hm")).cut is not None


def test_s07_107_what_was_refused_was_not_spoken() -> None:
    r = room(ANA)
    question = said(r, "when?")
    cut(r, question.id)
    answered(r, "Noon.", said(r, "what?").id, status=EventStatus.BLOCKED)
    assert turn(r, said(r, "hm")).cut is not None


def test_s07_107_a_cut_has_no_age() -> None:
    r = room(ANA)
    question = said(r, "when?")
    cut(r, question.id)
    for number in range(150):
        said(r, f"talk {number}")
    assert turn(r, said(r, "go on"), window=10).cut is not None


def test_s07_107_the_agents_words_since_count_beyond_its_window() -> None:
    r = room(ANA)
    question = said(r, "when?")
    cut(r, question.id)
    answered(r, "Noon.", said(r, "what?").id)
    for number in range(50):
        said(r, f"talk {number}")
    assert turn(r, said(r, "go on"), window=10).cut is None


def test_s07_103_a_second_cut_replaces_the_first() -> None:
    r = room(ANA)
    first = said(r, "one?")
    cut(r, first.id)
    second = said(r, "two?")
    answered(r, "Two it", second.id)
    later = cut(r, second.id)
    asked = turn(r, said(r, "mm-hm"))
    assert asked.cut == CutReply("It is noon and", 1_200, later.created_at)
