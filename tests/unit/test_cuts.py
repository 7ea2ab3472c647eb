"""Which records of a cut are believed: statements 100 to 103."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.agent.cuts import cuts_of
from voiceagent.room.events import ChannelBinding, ChannelType, EventSource, RoomEvent, TextContent
from voiceagent.values import JSON

AT = datetime(2026, 1, 1, tzinfo=UTC)
VOICE = EventSource("voice", ChannelType.VOICE)
BINDINGS = (
    ChannelBinding("voice", ChannelType.VOICE),
    ChannelBinding("video", ChannelType.AUDIO_VIDEO),
    ChannelBinding("web", ChannelType.TEXT),
    ChannelBinding("assistant", ChannelType.AI),
)


def record(index: int = 5, *, source: EventSource = VOICE, visibility: str = "internal", **metadata: JSON) -> RoomEvent:
    told: dict[str, JSON] = {
        "interrupted": True,
        "played_ms": 1200,
        "answer_channel_id": "assistant",
        "answer_responds_to": "q",
        **metadata,
    }
    return RoomEvent(
        f"e{index}", "r", source, TextContent("It is noon and"), AT, index=index, visibility=visibility, metadata=told
    )


def believed(*events: RoomEvent) -> list[str | None]:
    return list(cuts_of("assistant", events, BINDINGS))


def test_a_channels_own_record_is_believed() -> None:
    cut = cuts_of("assistant", [record()], BINDINGS)["q"]
    assert (cut.answered, cut.text, cut.played_ms, cut.index) == ("q", "It is noon and", 1200, 5)
    assert believed(record(answer_responds_to=None)) == [None]


def test_s07_112_a_picture_phone_cuts_as_well() -> None:
    assert believed(record(source=EventSource("video", ChannelType.AUDIO_VIDEO))) == ["q"]


@pytest.mark.parametrize(
    "source",
    [EventSource("web", ChannelType.TEXT), EventSource("assistant", ChannelType.AI), EventSource("system", ChannelType.SYSTEM)],
)
def test_s07_100_a_record_from_a_channel_without_sound_is_ignored(source: EventSource) -> None:
    assert believed(record(source=source)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        record(visibility="all"),
        record(visibility="none"),
        record(visibility="voice"),
        record(source=replace(VOICE, participant_id="ana")),
        record(source=EventSource("gone", ChannelType.VOICE)),
        record(source=EventSource("web", ChannelType.VOICE)),
        record(answer_channel_id="another"),
        record(answer_channel_id=None),
        record(answer_channel_id=["assistant"]),
        record(answer_responds_to=7),
        record(answer_responds_to=["q"]),
        record(answer_responds_to={}),
        record(interrupted=1),
        record(interrupted="true"),
        record(interrupted=None),
        replace(record(), metadata={}),
    ],
    ids=lambda event: f"{event.source.channel_id}-{event.visibility}-{dict(event.metadata)}"[:80],
)
def test_s07_101_whatever_else_claims_to_be_a_record_is_ignored(wrong: RoomEvent) -> None:
    assert believed(wrong) == []


@pytest.mark.parametrize("played", ["1200", -5, True, None, [], {}, float("nan"), float("inf"), -0.5, 2**60])
def test_s07_102_a_played_time_that_is_none_reads_0(played: JSON) -> None:
    assert cuts_of("assistant", [record(played_ms=played)], BINDINGS)["q"].played_ms == 0


@pytest.mark.parametrize(("played", "read"), [(0, 0), (7, 7), (1200.9, 1200)])
def test_s07_102_a_played_time_is_read_in_whole_milliseconds(played: JSON, read: int) -> None:
    assert cuts_of("assistant", [record(played_ms=played)], BINDINGS)["q"].played_ms == read


def test_s07_103_the_latest_record_of_an_answer_counts() -> None:
    first, second = record(5, played_ms=100), record(9, played_ms=900)
    other = record(7, answer_responds_to="another")
    cuts = cuts_of("assistant", [first, other, second], BINDINGS)
    assert {answered: cut.played_ms for answered, cut in cuts.items()} == {"q": 900, "another": 1200}


def test_s07_104_a_cut_announcement_is_no_cut_answer() -> None:
    bare = record()
    announced = {key: value for key, value in bare.metadata.items() if not key.startswith("answer_")}
    assert believed(replace(bare, metadata=announced)) == []


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
KEYS = ("interrupted", "played_ms", "answer_channel_id", "answer_responds_to")


@given(st.fixed_dictionaries({}, optional={key: json | st.sampled_from([True, "assistant", "q"]) for key in KEYS}))
def test_s07_101_no_metadata_raises(metadata: dict[str, JSON]) -> None:
    cuts = cuts_of("assistant", [replace(record(), metadata=metadata)], BINDINGS)
    for answered, cut in cuts.items():
        assert answered is None or isinstance(answered, str)
        assert isinstance(cut.played_ms, int)
        assert cut.played_ms >= 0
