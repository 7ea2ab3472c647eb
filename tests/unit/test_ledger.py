"""What becomes of each input, without a room around it."""

from datetime import UTC, datetime
from itertools import permutations

import pytest

from voiceagent.room.events import ChannelType, EventSource, EventStatus, EventType, RoomEvent, TextContent
from voiceagent.room.feed import Feed, FeedEvent
from voiceagent.room.ledger import PRECEDENCE, REMEMBERED, UNANSWERED, WAITING, Disposition, Ledger, is_input

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Told(Feed):
    """A feed that writes down what is published."""

    def __init__(self) -> None:
        super().__init__("r")
        self.said: list[tuple[str, str | None]] = []

    def publish(self, type: str, data: object, **_: object) -> None:
        assert isinstance(data, dict)
        self.said.append((type, data.get("disposition")))


def said(event_id: str = "i1", **changes: object) -> RoomEvent:
    event = RoomEvent(event_id, "r", EventSource("text", ChannelType.TEXT, participant_id="ana"), TextContent("hello"), AT)
    return RoomEvent(**{**{name: getattr(event, name) for name in event.__slots__}, **changes})


def made() -> tuple[Ledger, Told]:
    feed = Told()
    return Ledger(feed), feed


@pytest.mark.parametrize(
    ("event", "counts"),
    [
        (said(), True),
        (said(type=EventType.INSTRUCTION), True),
        (said(type=EventType.SYSTEM), False),
        (said(status=EventStatus.BLOCKED), False),
        (said(visibility="internal"), False),
        (said(source=EventSource("assistant", ChannelType.AI)), False),
    ],
)
def test_what_an_input_is(event: RoomEvent, counts: bool) -> None:
    assert is_input(event) is counts


@pytest.mark.parametrize("order", list(permutations(PRECEDENCE, 2)))
def test_the_strongest_verdict_stands_whoever_gives_it_first(order: tuple[Disposition, Disposition]) -> None:
    ledger, feed = made()
    ledger.accept(said(), ["a", "b"])
    for channel_id, disposition in zip("ab", order, strict=True):
        assert [type for type, _ in feed.said] == ["input.accepted"]
        assert ledger.settle("i1", channel_id, disposition)
    assert feed.said[-1] == ("input.settled", min(order, key=PRECEDENCE.index))


def test_a_verdict_counts_once_and_only_of_those_who_were_asked() -> None:
    ledger, feed = made()
    ledger.accept(said(), ["a"])
    assert not ledger.settle("i1", "b", "answered")
    assert not ledger.settle("i2", "a", "answered")
    assert ledger.settle("i1", "a", "failed")
    assert not ledger.settle("i1", "a", "answered")
    ledger.left("a", "detached")
    ledger.close("room_closed")
    assert feed.said == [("input.accepted", None), ("input.settled", "failed")]
    with pytest.raises(ValueError, match="use one of"):
        ledger.settle("i1", "a", "done")  # type: ignore[arg-type]


def test_one_who_leaves_holds_what_it_had_not_taken_in_and_is_unsure_of_the_rest() -> None:
    ledger, feed = made()
    for name in ("i1", "i2"):
        ledger.accept(said(name), ["a"])
    ledger.delivered("i1", "a", "new_turn", "g")
    ledger.left("a", "detached")
    assert feed.said[3:] == [
        ("input.unknown", None), ("input.settled", "unknown"), ("input.held", None), ("input.settled", "held"),
    ]  # fmt: skip
    assert list(ledger.unanswered) == ["i1", "i2"]


def test_what_is_taken_after_the_end_is_held_at_once() -> None:
    ledger, feed = made()
    ledger.close("shutdown")
    assert ledger.refusal(["a"]) == "shutdown"
    ledger.accept(said(), ["a"])
    assert feed.said[-1] == ("input.settled", "held")


def test_those_who_wait_for_a_decision_are_told_once_all_have_one() -> None:
    ledger, _ = made()
    told: list[str] = []
    ledger.when_decided("i1", lambda: told.append("unknown"))
    ledger.accept(said(), ["a", "b", "c"])
    ledger.when_decided("i1", lambda: told.append("decided"))
    ledger.queued("i1", "a", "new_turn")
    ledger.sounding("i1", "b")
    assert told == ["unknown"]
    ledger.settle("i1", "c", "listened")
    assert told == ["unknown", "decided"]


def test_only_so_many_wait_for_an_agent() -> None:
    ledger, _ = made()
    for n in range(WAITING):
        assert ledger.refusal(["a"]) is None
        ledger.accept(said(f"i{n}"), ["a"])
    assert (ledger.refusal(["a"]), ledger.refusal(["b"])) == ("too_many_waiting", None)
    ledger.delivered("i0", "a", "new_turn", "g")
    assert ledger.refusal(["a"]) is None


def test_only_what_has_ended_is_forgotten() -> None:
    ledger, _ = made()
    ledger.accept(said("open"), ["a"])
    for n in range(REMEMBERED + 5):
        ledger.accept(said(f"i{n}"), [])
    assert ledger.standing("open") is not None
    assert ledger.standing("i0") is None
    assert ledger.settle("open", "a", "answered")


def test_lines_of_an_earlier_session_tell_what_was_left_unanswered() -> None:
    ledger, _ = made()
    line = FeedEvent(1, 0, 0, "", "input.held", "r", data={"input_id": "old"})
    ledger.recall(line.type, line.data)
    ledger.recall("input.settled", {"input_id": "other"})
    assert list(ledger.unanswered) == ["old"]
    for n in range(UNANSWERED):
        ledger.recall("input.unknown", {"input_id": f"i{n}"})
    assert len(ledger.unanswered) == UNANSWERED and "old" not in ledger.unanswered
