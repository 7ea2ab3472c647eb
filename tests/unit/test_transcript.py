"""What was said in a run, out of its feed: who, when, what it answers, whether it was cut, and when a run is at rest."""

from datetime import UTC, datetime

from voiceagent.cli.transcript import Chronicle, Row, latencies
from voiceagent.room.events import ChannelType, EventSource, EventStatus, EventType, RoomEvent, TextContent
from voiceagent.room.feed import FeedEvent
from voiceagent.values import JSON

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PERSON = EventSource("voice", ChannelType.VOICE, participant_id="caller-1")
AGENT = EventSource("assistant", ChannelType.AI)
NAMES = {"caller-1": "Ann", "assistant": "Nova"}


def fact(id: str, text: str, source: EventSource, **fields: object) -> FeedEvent:
    event = RoomEvent(id, "talk", source, TextContent(text), NOW, **fields)  # type: ignore[arg-type]
    return FeedEvent(1, 0, 0, "", "room.event", "talk", event=event)


def told(type: str, generation_id: str | None = None, **data: JSON) -> FeedEvent:
    return FeedEvent(1, 0, 0, "", type, "talk", generation_id=generation_id, data=data)


def chronicle(*events: tuple[int, FeedEvent]) -> Chronicle:
    made = Chronicle(NAMES)
    for at_ms, event in events:
        made.take(event, at_ms)
    return made


SPOKEN: dict[str, JSON] = {"start_ms": 300, "end_ms": 1200, "voice_session_id": "line-1"}
QUESTION = fact("q", "What time is it?", PERSON, metadata=SPOKEN)
ANSWER = fact("a", "Noon.", AGENT, responds_to="q", correlation_id="r1")


def test_a_question_and_its_answer_with_their_times() -> None:
    rows = chronicle(
        (1700, QUESTION),
        (1710, ANSWER),
        (1720, told("speech.started", speech_id="r1")),
        (2320, told("speech.finished", speech_id="r1", played_ms=580)),
    ).rows({"line-1": 5})
    assert rows == [
        Row("Ann", "What time is it?", 305, 1205, "q"),
        Row("Nova", "Noon.", 1720, 2320, "a", responds_to="q", cut=False, played_ms=580),
    ]


def test_a_cut_answer_says_how_much_was_heard() -> None:
    (row,) = chronicle(
        (10, ANSWER),
        (20, told("speech.started", speech_id="r1")),
        (220, told("speech.cut", speech_id="r1", played_ms=180)),
    ).rows({})
    assert (row.cut, row.played_ms, row.start_ms, row.end_ms) == (True, 180, 20, 220)


def test_an_answer_that_never_sounded_was_played_for_nothing() -> None:
    (row,) = chronicle((10, ANSWER), (30, told("speech.dropped", speech_id="r1", reason="closed"))).rows({})
    assert (row.cut, row.played_ms) == (True, 0)


def test_rows_are_in_order_of_their_start_not_of_their_commit() -> None:
    late: dict[str, JSON] = {"start_ms": 100, "end_ms": 200}
    rows = chronicle((1000, QUESTION), (2000, fact("p", "Well.", PERSON, metadata=late))).rows({})
    assert [row.event_id for row in rows] == ["p", "q"]


def test_typed_words_stand_at_the_time_of_their_commit() -> None:
    (row,) = chronicle((450, fact("t", "hi", PERSON))).rows({})
    assert (row.start_ms, row.end_ms) == (450, 450)


def test_only_what_was_said_for_all_to_know_is_a_row() -> None:
    refused = fact("x", "no", PERSON, status=EventStatus.BLOCKED)
    record = fact("y", "half of it", PERSON, visibility="internal")
    joined = fact("z", "Ann joined", PERSON, type=EventType.SYSTEM)
    assert chronicle((1, refused), (2, record), (3, joined)).rows({}) == []


def test_a_run_rests_when_nobody_is_heard_answered_or_sounding() -> None:
    made = chronicle()
    steps = [
        (told("input.started", input_id="q"), False),
        (told("input.accepted", input_id="q", event_id="q"), True),
        (told("generation.started", "r1"), False),
        (told("speech.queued", speech_id="r1"), False),
        (told("generation.finished", "r1"), False),
        (told("speech.started", speech_id="r1"), False),
        (told("speech.finished", speech_id="r1", played_ms=1), True),
        (told("input.started", input_id="n"), False),
        (told("input.settled", input_id="n", disposition="rejected"), True),
        (told("generation.started", "r2"), False),
        (told("generation.detached", "r2"), True),
    ]
    for at_ms, (event, rests) in enumerate(steps):
        made.take(event, at_ms)
        assert made.at_rest is rests, event.type


def test_waits_are_read_from_the_feed() -> None:
    assert latencies([told("turn.latency", input_id="q", total_ms=640), told("agent.state", state="idle")]) == [640]


def test_a_row_in_json_has_the_documented_fields() -> None:
    assert list(Row("Ann", "hi", 1, 2, "q").as_json()) == [
        "speaker",
        "text",
        "start_ms",
        "end_ms",
        "event_id",
        "responds_to",
        "cut",
        "played_ms",
    ]
