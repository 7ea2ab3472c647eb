"""What became of an answer, decided from what was told: per answer, channel and person, and never less than before."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.room.consumption.memory import MemoryConsumption
from voiceagent.room.consumption.state import RANKS, Consumption, Row, State, is_answer, word_at
from voiceagent.room.consumption.tracks import KEPT, MOST, Progress, Tracks, Update, letters
from voiceagent.room.events import ChannelType, Direction, EventSource, EventStatus, EventType, RoomEvent, TextContent
from voiceagent.voice.script import Script

AT = datetime(2026, 1, 1, tzinfo=UTC)
FIRST, SECOND = "One moment.", "It opens at nine."
WHOLE = letters(FIRST + SECOND)


def said(text: str, event_id: str = "e1", reply: str | None = "r") -> RoomEvent:
    source = EventSource("assistant", ChannelType.AI, Direction.OUTBOUND)
    return RoomEvent(event_id, "room", source, TextContent(text), AT, status=EventStatus.DELIVERED, correlation_id=reply)


def come(state: str, count: int = 0, *, missed: int = 0, ms: int = 0, missed_ms: int = 0, who: str = "ann") -> Progress:
    return Progress("voice", who, state, count, ms, missed, missed_ms)  # type: ignore[arg-type]


def shown(updates: list[Update]) -> list[tuple[str, str | None, State, int, int, str | None]]:
    return [
        (u.event.id, u.consumption.participant_id, u.consumption.state, *u.consumption.strength[1:], u.consumption.word)
        for u in updates
    ]


def test_an_answer_that_is_stored_while_its_reply_sounds_has_come_as_far_as_that() -> None:
    tracks = Tracks()
    assert tracks.told("r", come("queued"), AT) == []
    assert tracks.told("r", come("playing"), AT) == []
    assert shown(tracks.said(said(SECOND), AT)) == [("e1", "ann", "playing", 0, 0, None)]
    assert shown(tracks.told("r", come("heard", letters(SECOND), ms=900), AT)) == [("e1", "ann", "heard", 17, 900, None)]


def test_how_far_it_sounds_is_not_told_at_every_step() -> None:
    tracks = Tracks()
    tracks.said(said(SECOND), AT)
    assert shown(tracks.told("r", come("playing"), AT)) == [("e1", "ann", "playing", 0, 0, None)]
    assert tracks.told("r", come("playing", 5, ms=300), AT) == []
    assert shown(tracks.told("r", come("cut", 8, ms=500), AT)) == [("e1", "ann", "cut", 10, 500, "at")]


def test_each_answer_of_a_reply_has_its_share() -> None:
    tracks = Tracks()
    tracks.said(said(FIRST, "e1"), AT)
    tracks.told("r", come("playing"), AT)
    assert shown(tracks.said(said(SECOND, "e2"), AT)) == [("e2", "ann", "queued", 0, 0, None)]
    assert tracks.told("r", come("playing", 5, ms=500), AT) == []
    assert shown(tracks.told("r", come("playing", 10, ms=1_000), AT)) == [("e1", "ann", "heard", 11, 1_000, None)]
    assert shown(tracks.told("r", come("playing", 12, ms=1_200), AT)) == [("e2", "ann", "playing", 2, 200, None)]
    assert shown(tracks.told("r", come("cut", 15, ms=1_500), AT)) == [("e2", "ann", "cut", 6, 500, "opens")]


def test_marks_say_how_long_each_answer_of_a_reply_was_heard() -> None:
    tracks = Tracks()
    tracks.said(said(FIRST, "e1"), AT)
    tracks.said(said(SECOND, "e2"), AT)
    tracks.told("r", come("playing"), AT)
    slow = replace(come("cut", 17, ms=2_000), marks=((10, 1_500),))
    assert shown(tracks.told("r", slow, AT)) == [
        ("e1", "ann", "heard", 11, 1_500, None),
        ("e2", "ann", "cut", 8, 500, "at"),
    ]


def test_an_answer_that_the_cut_came_before_was_never_played() -> None:
    tracks = Tracks()
    tracks.said(said(FIRST, "e1"), AT)
    tracks.said(said(SECOND, "e2"), AT)
    tracks.told("r", come("playing"), AT)
    assert shown(tracks.told("r", come("cut", 4, ms=400), AT)) == [
        ("e1", "ann", "cut", 5, 400, "moment."),
        ("e2", "ann", "never_played", 0, 0, None),
    ]


def test_one_who_comes_later_has_heard_the_rest_and_nothing_of_what_was_over() -> None:
    tracks = Tracks()
    tracks.said(said(FIRST, "e1"), AT)
    tracks.said(said(SECOND, "e2"), AT)
    assert shown(tracks.told("r", come("playing", 12, ms=1_200, missed=12, missed_ms=1_200), AT)) == [
        ("e2", "ann", "playing", 2, 0, None)
    ]
    assert shown(tracks.told("r", come("heard", WHOLE, ms=1_800, missed=12, missed_ms=1_200), AT)) == [
        ("e2", "ann", "heard", 17, 600, None)
    ]


def test_one_who_goes_and_comes_again_hears_on() -> None:
    tracks = Tracks()
    tracks.said(said(SECOND), AT)
    tracks.told("r", come("playing"), AT)
    assert shown(tracks.told("r", come("cut", 3, ms=300), AT)) == [("e1", "ann", "cut", 4, 300, "opens")]
    assert tracks.told("r", come("playing", 5, ms=500, missed=5, missed_ms=500), AT) == []
    assert shown(tracks.told("r", come("cut", 9, ms=900, missed=5, missed_ms=500), AT)) == [
        ("e1", "ann", "cut", 11, 900, "nine.")
    ]


def test_what_is_over_is_forgotten_after_a_while_and_what_sounds_is_not() -> None:
    tracks = Tracks()
    for number in range(MOST // 4):
        tracks.told(f"waits{number}", come("queued"), AT)
    for number in range(MOST):
        tracks.told(f"over{number}", come("never_played"), AT)
    assert tracks.said(said(SECOND, reply="waits0"), AT) != []
    assert tracks.said(said(SECOND, reply=f"over{MOST - KEPT}"), AT) != []
    assert tracks.said(said(SECOND, reply="over0"), AT) == []
    for number in range(2 * MOST):
        tracks.told(f"also{number}", come("queued"), AT)
    assert tracks.said(said(SECOND, reply="waits1"), AT) == []


def test_what_belongs_to_no_reply_is_followed_nowhere() -> None:
    assert Tracks().said(said(SECOND, reply=None), AT) == []


@pytest.mark.parametrize(
    ("place", "word"), [(0, "It"), (1, "It"), (2, "opens"), (3, "opens"), (7, "opens"), (8, "at"), (16, "nine."), (17, None)]
)
def test_the_word_of_a_cut_is_the_first_that_was_not_heard_whole(place: int, word: str | None) -> None:
    assert word_at(SECOND, place) == word


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({}, True),
        ({"visibility": "text"}, True),
        ({"visibility": "none"}, False),
        ({"visibility": "internal"}, False),
        ({"status": EventStatus.BLOCKED}, False),
        ({"type": EventType.TOOL_CALL_START}, False),
        ({"source": EventSource("voice", ChannelType.VOICE)}, False),
    ],
)
def test_what_agents_say_to_people_is_an_answer(change: dict[str, object], counts: bool) -> None:
    assert is_answer(replace(said(SECOND), **change)) is counts  # type: ignore[arg-type]


REPORTS = st.lists(
    st.builds(
        Consumption,
        st.sampled_from(["voice", "text"]),
        st.sampled_from([None, "ann", "ben"]),
        st.sampled_from(list(RANKS)),
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(0, 9).map(lambda seconds: AT + timedelta(seconds=seconds)),
    ),
    max_size=12,
)


@given(REPORTS, st.randoms())
async def test_a_later_report_never_takes_back_a_stronger_one_and_order_does_not_matter(reports, random) -> None:  # type: ignore[no-untyped-def]
    once, again = MemoryConsumption(), MemoryConsumption()
    for one in reports:
        before = {(c.channel_id, c.participant_id): c for c in await once.of("e")}
        kept = await once.put([Row("room", "e", one)])
        after = {(c.channel_id, c.participant_id): c for c in await once.of("e")}
        assert all(after[place].strength >= known.strength for place, known in before.items())
        assert bool(kept) is (before.get((one.channel_id, one.participant_id)) != after[one.channel_id, one.participant_id])
    for one in random.sample(reports, len(reports)):
        await again.put([Row("room", "e", one)])
    strengths = [{(c.channel_id, c.participant_id): c.strength for c in await rows.of("e")} for rows in (once, again)]
    assert strengths[0] == strengths[1]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("said"), st.sampled_from([FIRST, SECOND, "Yes."])),
        st.tuples(
            st.just("told"),
            st.builds(
                come,
                st.sampled_from(["queued", "playing", "playing", "heard", "cut", "never_played"]),
                st.integers(0, 60),
                missed=st.integers(0, 60),
                ms=st.integers(0, 5_000),
                missed_ms=st.integers(0, 5_000),
                who=st.sampled_from(["ann", "ben"]),
            ),
        ),
    ),
    max_size=30,
)


@given(STEPS)
def test_whatever_is_told_in_whatever_order_each_state_grows(steps: list[tuple[str, str | Progress]]) -> None:
    tracks = Tracks()
    known: dict[tuple[str, str, str | None], Consumption] = {}
    for number, (_, step) in enumerate(steps):
        updates = tracks.told("r", step, AT) if isinstance(step, Progress) else tracks.said(said(step, f"e{number}"), AT)
        for update in updates:
            one, body = update.consumption, update.event.content.body
            assert one.says_more_than(known.get(update.row.key))
            assert 0 <= one.heard_chars <= len(body)
            assert one.state != "heard" or one.heard_chars == len(body)
            assert (one.word is None) is (one.state != "cut" or one.heard_chars >= len(body))
            known[update.row.key] = one


def spoken(*sentences: tuple[str, int]) -> Script:
    script = Script()
    for text, samples in sentences:
        script.read(text + " ")
        script.begin(text, text)
        script.sounded(samples)
        script.end_sentence()
    script.finish()
    return script


@pytest.mark.parametrize(
    ("played", "heard", "exact"),
    [
        (0, "", True),
        (1, "", False),
        (3_000, "One", False),
        (8_000, "One two.", True),
        (12_000, "One two. Three", False),
        (16_000, "One two. Three four.", True),
        (16_320, "One two. Three four.", True),
    ],
)
def test_heard_words_are_whole_and_exact_between_sentences(played: int, heard: str, exact: bool) -> None:
    script = spoken(("One two.", 8_000), ("Three four.", 8_000))
    assert (script.heard_text(played), script.exact(played)) == (heard, exact)


@given(st.lists(st.tuples(st.from_regex(r"[a-z]{1,6}( [a-z]{1,6}){0,4}\.", fullmatch=True), st.integers(1, 30_000)), max_size=5))
def test_heard_text_is_a_beginning_that_grows(sentences: list[tuple[str, int]]) -> None:
    script = spoken(*sentences)
    before = ""
    for played in range(0, script.samples + 1, 997):
        heard = script.heard_text(played)
        assert script.text.startswith(heard)
        assert len(heard) >= len(before)
        assert script.text[len(heard) :][:1] in ("", " ") or not heard
        before = heard
    assert script.heard_text(script.samples) == script.text
