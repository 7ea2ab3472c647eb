"""What an RTVI client is told of a room: each kind of line, and which answer is shown when several are being made."""

from itertools import count
from typing import Any

import pytest

from voiceagent.room.feed import FeedEvent
from voiceagent.web.rtvi.adapter import Adapter
from voiceagent.web.rtvi.messages import Message

ME = "web-anna"
AT = "2026-11-30T12:00:00.500Z"


class Room:
    """Makes lines, and keeps what the adapter says of them."""

    def __init__(self) -> None:
        self.adapter = Adapter(ME)
        self.said: list[Message] = []
        self._seqs = count(1)
        self._last = 0

    def line(self, type: str, generation_id: str | None = None, *, durable: bool = True, **data: Any) -> list[str]:
        """One line; the types of the messages it makes, server-message left out."""
        self._last = next(self._seqs) if durable else self._last
        seq = self._last if durable else None
        line = FeedEvent(seq, self._last, 0, AT, type, "lobby", channel_id="agent", generation_id=generation_id, data=data)
        told = self.adapter.take(line)
        self.said += told
        return [message.type for message in told if message.type != "server-message"]

    def data(self, type: str) -> list[dict[str, Any]]:
        """What all messages of a type carried."""
        return [dict(message.data or {}) for message in self.said if message.type == type]


def spoken(room: Room, generation: str, text: str) -> None:
    """An answer, made and queued."""
    room.line("generation.started", generation)
    room.line("speech.queued", generation, speech_id=generation)
    room.line("text.delta", generation, durable=False, text=text)
    room.line("assistant.message", generation, text=text)
    room.line("generation.finished", generation, text=text)


HEARD: dict[str, Any] = {"input_id": "i1", "participant_id": ME, "kind": "user", "text": "Hi.", "audio_ms": 700}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([("input.started", {"input_id": "i1", "participant_id": ME, "kind": "speech"})], ["user-started-speaking"]),
        ([("input.started", {"input_id": "i1", "participant_id": "web-ben", "kind": "speech"})], []),
        ([("input.partial", {"input_id": "i1", "participant_id": ME, "text": "Hi"})], ["user-transcription"]),
        ([("input.accepted", HEARD)], ["user-transcription"]),
        ([("input.accepted", {"input_id": "i1", "participant_id": ME, "kind": "user", "text": "typed"})], []),
        ([("input.accepted", {"input_id": "i1", "participant_id": "b", "kind": "user", "text": "t"})], ["user-transcription"]),
        ([("input.accepted", {"input_id": "i1", "kind": "service", "text": "an instruction"})], []),
        ([("generation.started", {})], ["bot-llm-started"]),
        ([("generation.started", {}), ("text.delta", {"text": "Yes"})], ["bot-llm-text"]),
        ([("assistant.message", {"text": "Yes."})], []),
        (
            [("generation.started", {}), ("assistant.message", {"text": "Yes."})],
            ["bot-output", "bot-transcription"],
        ),
        ([("generation.started", {}), ("generation.finished", {})], ["bot-llm-stopped"]),
        ([("generation.started", {}), ("generation.failed", {"error_category": "rate"})], ["error", "bot-llm-stopped"]),
        ([("generation.started", {}), ("generation.detached", {"reason": "barge_in"})], ["bot-llm-stopped"]),
        ([("speech.queued", {}), ("speech.started", {})], ["bot-tts-started", "bot-started-speaking"]),
        ([("speech.started", {}), ("speech.finished", {})], ["bot-tts-stopped", "bot-stopped-speaking"]),
        ([("speech.started", {}), ("speech.cut", {})], ["bot-interrupted", "bot-tts-stopped", "bot-stopped-speaking"]),
        ([("speech.queued", {}), ("speech.dropped", {"reason": "superseded"})], []),
        (
            [("generation.started", {}), ("tool.started", {"call_id": "c1", "tool": "clock"})],
            ["llm-function-call-started", "llm-function-call-in-progress"],
        ),
        ([("generation.started", {}), ("tool.ended", {"call_id": "c1", "tool": "clock"})], ["llm-function-call-stopped"]),
        ([("job.queued", {"job_id": "j1"})], ["ui-job-group"]),
        ([("job.updated", {"job_id": "j1", "text": "half"})], ["ui-job-group"]),
        ([("job.returned", {"job_id": "j1"})], ["ui-job-group", "ui-job-group"]),
        ([("job.cancel_requested", {"job_id": "j1"})], []),
        ([("question.opened", {"question": "Which?", "urgency": "now"})], ["ui-command"]),
        ([("question.opened", {"question": "Which?", "urgency": "normal"})], []),
        ([("agent.state", {"state": "idle"})], []),
    ],
)
def test_each_kind_of_line_has_its_messages(lines: list[tuple[str, dict[str, Any]]], told: list[str]) -> None:
    room = Room()
    for type, data in lines[:-1]:
        room.line(type, "g1", **data)
    type, data = lines[-1]
    assert room.line(type, "g1", **data) == told


def test_every_durable_line_goes_out_whole_and_a_droppable_one_where_rtvi_has_no_word_for_it() -> None:
    room = Room()
    room.line("generation.started", "g1", purpose="answer")
    room.line("text.delta", "g1", durable=False, text="Yes")
    room.line("level", durable=False, dbfs=-20.0)
    ours = room.data("server-message")
    assert [(line["type"], line.get("seq"), line.get("after")) for line in ours] == [
        ("generation.started", 1, None),
        ("level", None, 1),
    ]
    assert ours[0]["data"] == {"purpose": "answer"}
    assert ours[0]["generation_id"] == "g1"


def test_a_persons_speech_ends_once_however_it_is_settled() -> None:
    room = Room()
    room.line("input.started", input_id="i1", participant_id=ME, kind="speech")
    assert room.line("input.accepted", **HEARD) == ["user-stopped-speaking", "user-transcription"]
    assert room.line("input.settled", input_id="i1", disposition="answered") == []
    room.line("input.started", input_id="i2", participant_id=ME, kind="speech")
    assert room.line("input.settled", input_id="i2", disposition="rejected") == ["user-stopped-speaking"]
    assert room.data("user-transcription")[0] == {"text": "Hi.", "user_id": ME, "timestamp": AT, "final": True}


def test_an_answer_is_shown_sentence_by_sentence_and_how_much_of_each_was_heard() -> None:
    room = Room()
    spoken(room, "g1", "It is noon. Lunch is ready.")
    room.line("speech.started", "g1")
    room.line("speech.progress", "g1", durable=False, spoken_chars=5)
    room.line("speech.progress", "g1", durable=False, spoken_chars=17)
    room.line("speech.finished", "g1")
    outputs = room.data("bot-output")
    assert [(one["segment_id"], one["spoken_status"]) for one in outputs] == [
        (1, "new"),
        (2, "new"),
        (1, "in-progress"),
        (1, "completed"),
        (2, "in-progress"),
        (2, "completed"),
    ]
    assert outputs[2]["spoken_progress"] == {"accumulated_text": "It is", "remaining_text": " noon."}
    assert outputs[4]["spoken_progress"] == {"accumulated_text": "Lunch", "remaining_text": " is ready."}
    assert all(one["will_be_spoken"] for one in outputs)
    assert [one["text"] for one in room.data("bot-transcription")] == ["It is noon.", "Lunch is ready."]


def test_a_cut_says_how_far_it_was_heard_before_it_says_that_it_was_cut() -> None:
    room = Room()
    spoken(room, "g1", "It is noon.")
    room.line("speech.started", "g1")
    told = room.line("speech.cut", "g1", spoken_chars=5, reason="barge_in")
    assert told == ["bot-output", "bot-interrupted", "bot-tts-stopped", "bot-stopped-speaking"]
    assert room.data("bot-output")[-1]["spoken_progress"]["accumulated_text"] == "It is"


def test_words_that_nobody_will_sound_are_new_and_have_no_progress() -> None:
    room = Room()
    room.line("generation.started", "g1")
    room.line("assistant.message", "g1", text="Only written.")
    [output] = room.data("bot-output")
    assert (output["will_be_spoken"], output["spoken_status"]) == (False, "new")
    assert "spoken_progress" not in output


def test_a_greeting_is_shown_though_nothing_generates_it() -> None:
    room = Room()
    room.line("speech.queued", "s1", text="Welcome.")
    assert room.line("speech.started", "s1") == ["bot-output", "bot-transcription", "bot-tts-started", "bot-started-speaking"]
    assert room.data("bot-output")[0]["text"] == "Welcome."


def test_of_several_answers_the_one_that_is_spoken_is_shown_and_the_others_are_events_only() -> None:
    room = Room()
    room.line("generation.started", "g1")
    room.line("speech.queued", "g1")
    assert room.line("generation.started", "g2") == []
    room.line("speech.queued", "g2")
    assert room.line("text.delta", "g2", durable=False, text="Second.") == []
    assert room.line("assistant.message", "g2", text="Second.") == []
    assert room.line("tool.started", "g2", call_id="c", tool="clock") == []
    assert room.data("server-message")[-3]["type"] == "text.delta"
    assert room.line("text.delta", "g1", durable=False, text="First.") == ["bot-llm-text"]
    assert room.line("speech.started", "g2") == [
        "bot-llm-stopped",
        "bot-llm-started",
        "bot-llm-text",
        "bot-output",
        "bot-transcription",
        "bot-tts-started",
        "bot-started-speaking",
    ]
    assert room.data("bot-llm-text")[-1] == {"text": "Second."}
    assert room.line("text.delta", "g1", durable=False, text=" And more.") == []
    assert room.line("generation.failed", "g1", error_category="rate") == []
    assert room.line("generation.finished", "g2") == ["bot-llm-stopped"]


def test_when_the_shown_answer_is_over_the_oldest_that_is_still_being_made_takes_its_place() -> None:
    room = Room()
    room.line("generation.started", "g1")
    room.line("generation.started", "g2")
    room.line("text.delta", "g2", durable=False, text="Sec")
    room.line("generation.started", "g3")
    assert room.line("generation.finished", "g1") == ["bot-llm-stopped", "bot-llm-started", "bot-llm-text"]
    assert room.data("bot-llm-text") == [{"text": "Sec"}]
    assert room.line("text.delta", "g2", durable=False, text="ond") == ["bot-llm-text"]
    assert room.line("generation.finished", "g3") == []


def test_an_answer_stays_shown_until_it_has_been_heard() -> None:
    room = Room()
    spoken(room, "g1", "It is noon.")
    assert room.line("generation.started", "g2") == []
    room.line("speech.started", "g1")
    told = room.line("speech.finished", "g1")
    assert told == ["bot-output", "bot-tts-stopped", "bot-stopped-speaking", "bot-llm-started"]


def test_beginnings_and_ends_take_turns_whatever_is_open() -> None:
    room = Room()
    for generation in ("g1", "g2", "g3"):
        room.line("generation.started", generation)
        room.line("speech.queued", generation)
    for generation in ("g2", "g1", "g3"):
        room.line("speech.started", generation)
        room.line("generation.finished", generation)
        room.line("speech.cut", generation, spoken_chars=0)
    for began, ended in (("bot-llm-started", "bot-llm-stopped"), ("bot-tts-started", "bot-tts-stopped")):
        names = [message.type for message in room.said if message.type in (began, ended)]
        assert names == [began, ended] * (len(names) // 2)
        assert names


def test_answers_that_never_end_are_forgotten() -> None:
    room = Room()
    for number in range(1000):
        room.line("generation.started", f"g{number}")
    assert room.line("text.delta", "g0", durable=False, text="Still shown.") == ["bot-llm-text"]


def test_a_job_is_a_group_of_one() -> None:
    room = Room()
    room.line("job.queued", job_id="j1", label="look it up", tool="search")
    room.line("job.failed", job_id="j1", tool="search")
    first, *last = room.data("ui-job-group")
    at = 1_796_040_000_500
    assert first == {
        "kind": "group_started",
        "job_id": "j1",
        "workers": ["search"],
        "label": "look it up",
        "cancellable": True,
        "at": at,
    }
    assert last == [
        {"kind": "job_completed", "job_id": "j1", "worker_name": "search", "status": "failed", "at": at},
        {"kind": "group_completed", "job_id": "j1", "at": at},
    ]
