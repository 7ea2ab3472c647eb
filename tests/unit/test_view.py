"""Which lines a reader is sent: what participants never see, what hosts see, and what was asked for."""

import pytest

from voiceagent.room.feed import Audience, FeedEvent
from voiceagent.values import JSON
from voiceagent.web.refusal import Refused
from voiceagent.web.standing import Standing
from voiceagent.web.view import View, Wishes

HOST, GUEST = Standing(host=True), Standing(host=False)


def line(type: str, *, generation: str | None = None, audience: Audience = "all", **data: JSON) -> FeedEvent:
    return FeedEvent(1, 0, 0, "2026-01-01T00:00:00.000Z", type, "lobby", generation_id=generation, audience=audience, data=data)


def view(standing: Standing, **query: str) -> View:
    return View(standing, Wishes.of(query, standing))


@pytest.mark.parametrize(
    ("type", "audience", "seen"),
    [
        ("room.event", "all", {"guest", "host", "asking"}),
        ("room.event", "host", {"asking"}),
        ("generation.started", "host", {"asking"}),
        ("text.delta", "host", {"asking"}),
        ("input.decided", "host", {"host", "asking"}),
        ("thought.updated", "host", {"host", "asking"}),
        ("room.listening", "host", {"host", "asking"}),
    ],
)
def test_who_is_shown_what(type: str, audience: Audience, seen: set[str]) -> None:
    views = {"guest": view(GUEST), "host": view(HOST), "asking": view(HOST, audience="host")}
    assert {name for name, one in views.items() if one.shows(line(type, audience=audience))} == seen


def test_a_guest_may_not_ask_for_what_is_kept_from_participants() -> None:
    with pytest.raises(Refused) as refused:
        view(GUEST, audience="host")
    assert refused.value.status == 403


@pytest.mark.parametrize(
    ("types", "shown"),
    [
        ("speech.cut", ["speech.cut"]),
        ("speech.*", ["speech.cut", "speech.started"]),
        (" speech.cut , input.accepted ,", ["input.accepted", "speech.cut"]),
        ("speech.*,speech.cut", ["speech.cut", "speech.started"]),
        ("speech", []),
        ("", ["input.accepted", "speech.cut", "speech.started", "speeches"]),
    ],
)
def test_types_are_names_or_families(types: str, shown: list[str]) -> None:
    one = view(GUEST, types=types)
    assert [t for t in ("input.accepted", "speech.cut", "speech.started", "speeches") if one.shows(line(t))] == shown


def test_a_generation_is_followed_alone() -> None:
    one = view(GUEST, generation="g1,g2")
    assert one.shows(line("text.delta", generation="g1"))
    assert not one.shows(line("text.delta", generation="g3"))
    assert not one.shows(line("agent.state"))


def test_a_purpose_leaves_out_all_that_belongs_to_answers_with_another() -> None:
    one = view(GUEST, purpose="answer,offer", types="text.*,speech.*")
    lines = [
        line("generation.started", generation="g1", purpose="answer"),
        line("generation.started", generation="g2", purpose="greeting"),
        line("text.delta", generation="g1"),
        line("text.delta", generation="g2"),
        line("speech.finished", generation="g2"),
        line("speech.finished", generation="g0"),
    ]
    assert [(each.type, each.generation_id) for each in lines if one.shows(each)] == [
        ("text.delta", "g1"),
        ("speech.finished", "g0"),
    ]


def test_many_answers_with_another_purpose_are_not_kept_in_mind_for_ever() -> None:
    one = view(GUEST, purpose="answer")
    for number in range(1_001):
        one.shows(line("generation.started", generation=f"g{number}", purpose="greeting"))
    assert one.shows(line("speech.finished", generation="g0"))
    assert not one.shows(line("speech.finished", generation="g1"))


@pytest.mark.parametrize(
    "query",
    [
        {"types": "<b>"},
        {"types": "Speech"},
        {"types": "a" * 200},
        {"generation": "a b"},
        {"types": "a," * 101},
        {"audience": "x"},
    ],
)
def test_what_is_no_name_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        Wishes.of(query, HOST)
    assert refused.value.status == 400


def test_a_snapshot_holds_nothing_that_its_reader_may_not_see() -> None:
    whole: dict[str, JSON] = {
        "seq": 7,
        "listening": {"agent": {"listening": True}},
        "generations": [
            {"generation_id": "g1", "audience": "all"},
            {"generation_id": "g2", "audience": "host", "text": "secret"},
        ],
        "jobs": [{"job_id": "j1"}],
    }
    guest, host, asking = (v.snapshot(whole) for v in (view(GUEST), view(HOST), view(HOST, audience="host")))
    assert guest == {"seq": 7, "generations": [{"generation_id": "g1", "audience": "all"}], "jobs": [{"job_id": "j1"}]}
    assert host == {**guest, "listening": whole["listening"]}
    assert asking == whole
