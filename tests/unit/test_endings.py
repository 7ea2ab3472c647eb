"""How what a process left open is ended: by tables of lines."""

import pytest

from voiceagent.room.endings import endings
from voiceagent.room.line import FeedEvent
from voiceagent.values import JSON


def _line(type: str, generation: str | None = None, **data: JSON) -> FeedEvent:
    return FeedEvent(1, 0, 0, "", type, "r", "bot", "s", generation, "q", "host", data)


_ACCEPTED = _line("input.accepted", input_id="i")
_STARTED = _line("generation.started", "g", initial_input_id="i")
_DELIVERED = _line("input.delivered", input_id="j", generation_id="g", delivery="request_boundary")


@pytest.mark.parametrize(
    ("since", "disposition", "generations"),
    [
        ([], "held", []),
        ([_line("input.queued", input_id="i", generation_id="g")], "held", []),
        ([_line("input.withdrawn", input_id="i")], "withdrawn", []),
        ([_STARTED], "unknown", ["g"]),
        ([_STARTED, _line("generation.finished", "g", input_ids=["i"])], "answered", ["g"]),
        ([_line("generation.finished", "g", input_ids=["i"])], "answered", ["g"]),
        ([_STARTED, _line("generation.failed", "g", input_ids=["i"])], "failed", ["g"]),
        ([_STARTED, _line("generation.detached", "g", input_ids=["i"])], "unknown", ["g"]),
        ([_STARTED, _line("generation.finished", "h", input_ids=["i"])], "answered", ["g", "h"]),
        ([_STARTED, _line("generation.failed", "g"), _line("generation.detached", "h", input_ids=["i"])], "failed", ["g", "h"]),
        ([_line("input.delivered", "g", input_id="i")], "unknown", ["g"]),
        ([_line("generation.finished", "g", input_ids="i"), _line("generation.finished")], "held", []),
    ],
)  # fmt: skip
def test_an_input_is_settled_by_what_took_it_in(since: list[FeedEvent], disposition: str, generations: list[str]) -> None:
    ended = endings([_ACCEPTED], [_ACCEPTED, *since])
    assert ended[-1].type == "input.settled"
    assert ended[-1].data == {
        "input_id": "i",
        "disposition": disposition,
        "generation_ids": generations,
        "reason": "shutdown",
    }
    said_before = [f"input.{disposition}"] if disposition in ("held", "unknown") else []
    assert [one.type for one in ended[:-1]] == said_before
    assert (ended[-1].channel_id, ended[-1].session_id, ended[-1].responds_to, ended[-1].audience) == ("bot", "s", "q", "host")


def test_a_generation_is_detached_with_all_that_it_took_in_before_its_inputs_are_settled() -> None:
    opened = [_ACCEPTED, _STARTED, _line("input.accepted", input_id="j")]
    ended = endings(opened, [*opened, _DELIVERED])
    assert [one.type for one in ended] == [
        "generation.detached", "input.unknown", "input.settled", "input.unknown", "input.settled",
    ]  # fmt: skip
    assert ended[0].generation_id == "g"
    assert ended[0].data == {
        "input_ids": ["i", "j"],
        "accepted_input_ids": [],
        "reason": "shutdown",
        "cancellation": "unconfirmed",
    }


def test_nothing_open_is_nothing_to_end() -> None:
    assert endings([], [_ACCEPTED, _STARTED]) == []


def test_a_speech_that_had_begun_is_cut_and_one_that_waited_is_dropped() -> None:
    waits, sounds = _line("speech.queued", "s1", speech_id="s1"), _line("speech.queued", "s2", speech_id="s2")
    began = _line("speech.started", "s2", speech_id="s2", text="Well, that")
    ended = endings([waits, sounds], [waits, sounds, began, _line("speech.started", "s3", speech_id="s3", text="")])
    assert [(one.type, one.generation_id, one.data) for one in ended] == [
        ("speech.dropped", "s1", {"speech_id": "s1", "reason": "shutdown"}),
        (
            "speech.cut",
            "s2",
            {"speech_id": "s2", "reason": "shutdown", "text": "Well, that", "played_ms": 0, "heard_text": "", "exact": False},
        ),
    ]
