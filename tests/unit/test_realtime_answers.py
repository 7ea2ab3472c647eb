"""A room's lines become responses: in order, one at a time, each ended once, with what was heard of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.room.feed import FeedEvent
from voiceagent.values import JSON
from voiceagent.web.realtime.answers import STILL_MS, Answers
from voiceagent.web.realtime.items import Event, Items
from voiceagent.web.realtime.response import Style
from voiceagent.web.realtime.spoken import HELD, Spoken


def line(type: str, generation_id: str | None = "g", **data: JSON) -> FeedEvent:
    return FeedEvent(1, 0, 0, "", type, "room", None, None, generation_id, None, "all", data)


class Told:
    """Answers and all that they told."""

    def __init__(self, *, aloud: bool = True) -> None:
        self.items = Items()
        self.answers = Answers(self.items, lambda: Style("conv", aloud, {"type": "audio/pcm", "rate": 24_000}))
        self.events: list[Event] = []
        self.now = 0

    def take(self, *lines: FeedEvent) -> None:
        for one in lines:
            self.events += self.answers.take(one, self.now)

    def sound(self, ms: int) -> None:
        self.answers.sent(np.zeros(16 * ms, dtype=np.int16), self.now)

    def names(self) -> list[str]:
        return [str(event["type"]) for event in self.events]

    def done(self) -> list[dict[str, JSON]]:
        found = [event["response"] for event in self.events if event["type"] == "response.done"]
        return [response for response in found if isinstance(response, dict)]


START = (line("generation.started"), line("speech.queued"), line("text.delta", text="Hello there."), line("speech.started"))


def transcript(told: Told, place: int = 0) -> JSON:
    output = told.done()[place]["output"]
    assert isinstance(output, list) and isinstance(output[0], dict) and isinstance(output[0]["content"], list)
    part = output[0]["content"][0]
    return part["transcript"] if isinstance(part, dict) else None


def test_an_answer_ends_when_it_has_been_heard_not_when_it_is_made() -> None:
    told = Told()
    told.take(*START, line("generation.finished"))
    assert not told.done() and told.answers.target is not None
    told.take(line("speech.finished", text="Hello there.", spoken_chars=12))
    assert told.done()[0]["status"] == "completed" and transcript(told) == "Hello there."
    assert told.answers.active is None and told.answers.target is None


def test_an_answer_without_words_ends_at_once() -> None:
    told = Told()
    told.take(
        line("generation.started"),
        line("speech.queued"),
        line("generation.finished"),
        line("speech.dropped", reason="nothing_to_say"),
    )
    assert told.names() == ["response.created", "response.done"]


def test_a_greeting_is_a_response_too() -> None:
    told = Told()
    told.take(line("speech.queued", text="Hello."), line("speech.started"), line("speech.finished", text="Hello."))
    assert transcript(told) == "Hello." and told.done()[0]["metadata"] == {"generation_id": "g"}


def test_a_cut_keeps_the_words_that_were_heard_and_says_how_long() -> None:
    told = Told()
    told.take(*START)
    told.sound(400)
    told.take(line("speech.cut", reason="barge_in", spoken_chars=5), line("generation.detached", reason="barge_in"))
    assert told.done()[0]["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    assert transcript(told) == "Hello"
    assert told.events[-1]["type"] == "conversation.item.truncated" and told.events[-1]["audio_end_ms"] == 400
    assert told.answers.length_ms("item_g") == 400
    told.answers.heard_until("item_g", 200)
    assert told.items.get("item_g")["content"] == [{"type": "output_audio", "transcript": "He"}]


def test_what_the_client_cancels_is_told_as_its_wish() -> None:
    told = Told()
    told.take(*START)
    told.answers.cancelled("g")
    told.take(line("speech.cut", reason="explicit", spoken_chars=5))
    assert told.done()[0]["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}


def test_an_answer_that_is_given_up_before_it_sounds_is_cancelled() -> None:
    told = Told()
    told.take(*START[:3], line("generation.detached", reason="superseded"), line("speech.dropped", reason="superseded"))
    assert [response["status"] for response in told.done()] == ["cancelled"]


def test_a_failure_is_told_behind_the_apology_that_sounds() -> None:
    told = Told()
    told.take(line("generation.started"), line("speech.queued"), line("generation.failed", error_category="timeout"))
    assert not told.done()
    told.take(line("speech.started"), line("speech.finished", text="Sorry, say that again?"))
    details = told.done()[0]["status_details"]
    assert isinstance(details, dict) and isinstance(details["error"], dict) and details["error"]["code"] == "timeout"
    assert transcript(told) == "Sorry, say that again?"


def test_a_failure_of_which_nothing_sounds_is_told_after_a_while() -> None:
    told = Told()
    told.take(line("generation.started"), line("generation.failed", error_category="timeout"))
    told.events += told.answers.tick(STILL_MS - 1)
    assert not told.done()
    told.events += told.answers.tick(STILL_MS)
    assert told.done()[0]["status"] == "failed"


def test_beside_one_response_others_are_out_of_band() -> None:
    told = Told()
    told.take(*START, line("generation.started", "h"), line("text.delta", "h", text="Beside."))
    created = [event["response"] for event in told.events if event["type"] == "response.created"]
    assert [isinstance(one, dict) and one["conversation_id"] for one in created] == ["conv", None]
    assert told.answers.active is not None and told.answers.active.id == "resp_g"


def test_a_functions_call_ends_the_response_once_what_was_said_is_heard() -> None:
    told = Told()
    told.take(*START)
    told.events += told.answers.called("g", "call_1", "weather", "{}")
    assert "response.function_call_arguments.done" in told.names() and not told.done()
    told.take(line("text.delta", text="It rains."))
    assert not told.done(), "what follows waits"
    told.take(line("speech.progress", spoken_chars=12))
    names = told.names()
    assert names.index("response.done") < len(names) - names[::-1].index("response.created") - 1
    told.take(line("generation.finished"), line("speech.finished"))
    assert [transcript(told, 0), transcript(told, 1)] == ["Hello there.", "It rains."]
    ids = [response["id"] for response in told.done()]
    assert ids == ["resp_g", "resp_g_2"]


def test_a_call_without_words_ends_its_response_at_once() -> None:
    told = Told()
    told.take(line("generation.started"), line("speech.queued"))
    told.events += told.answers.called("g", "call_1", "weather", "{}")
    assert told.done()[0]["status"] == "completed"
    told.events += told.answers.resumed("g", {"topic": "rain"})
    assert told.answers.active is not None and told.answers.active.metadata == {"topic": "rain", "generation_id": "g"}


def test_text_is_no_sound() -> None:
    told = Told(aloud=False)
    told.take(*START, line("generation.finished"), line("speech.finished"), line("speech.queued"))
    assert [name for name in told.names() if "audio" in name] == []
    assert len(told.done()) == 1 and told.answers.target is None


LINES: list[FeedEvent | int | None] = [
    *(line(type, generation) for type in ("generation.started", "speech.queued", "speech.started") for generation in "gh"),
    *(line(type, generation) for type in ("generation.finished", "speech.finished") for generation in "gh"),
    line("text.delta", text="One. "),
    line("text.delta", "h", text="Two. "),
    line("speech.progress", spoken_chars=3),
    line("speech.cut", reason="barge_in", spoken_chars=2),
    line("speech.dropped", "h", reason="superseded"),
    line("generation.failed", "h", error_category="timeout"),
    line("generation.detached", reason="stop"),
    None,
    1,
]
"""Lines of two answers; None: one of them calls a function; 1: time goes by."""


@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_whatever_the_order_each_response_begins_and_ends_once_and_nothing_is_told_behind_its_end(
    lines: list[FeedEvent | int | None],
) -> None:
    told = Told()
    for one in lines:
        told.now += 100
        if one is None:
            told.events += told.answers.called("g", f"call_{told.now}", "f", "{}")
        elif isinstance(one, int):
            told.events += told.answers.tick(told.now)
        else:
            told.take(one)
    open_: set[str] = set()
    ended: set[str] = set()
    for event in told.events:
        response = event.get("response")
        name = str(response["id"] if isinstance(response, dict) else event.get("response_id", ""))
        if event["type"] == "response.created":
            assert name not in open_ | ended
            open_.add(name)
        elif event["type"] == "response.done":
            open_.remove(name)
            ended.add(name)
        elif name:
            assert name in open_, event["type"]


# -- what people say --------------------------------------------------------------------------------------------------------


def spoken(transcripts: bool = True) -> tuple[Spoken, Items]:
    items = Items()
    return Spoken(items, lambda: transcripts), items


def names(events: list[Event]) -> list[str]:
    return [str(event["type"]).removeprefix("conversation.item.") for event in events]


def test_speech_over_the_agent_is_announced_when_it_has_cut_it() -> None:
    speech, _ = spoken()
    assert speech.started("i", 100, sounding=True) == []
    assert names(speech.announced()) == ["input_audio_buffer.speech_started"]
    assert speech.announced() == []
    assert names(speech.stopped("i", 900))[:2] == ["input_audio_buffer.speech_stopped", "input_audio_buffer.committed"]
    assert speech.stopped("i", 950) == []


def test_words_are_sent_ahead_only_where_they_will_not_change() -> None:
    speech, _ = spoken()
    speech.started("i", 0, sounding=False)
    deltas: list[Event] = []
    for text, stable in (("I'd like", 0), ("I'd like to", 8), ("I'd like two", 8), ("I'd like to check", 11)):
        deltas += speech.take(line("input.partial", None, input_id="i", text=text, stable_chars=stable))
    assert [event["delta"] for event in deltas] == ["I'd like", " to"]


@pytest.mark.parametrize(
    ("disposition", "reason", "told"),
    [
        ("rejected", "no words", ["input_audio_transcription.completed"]),
        ("failed", "stt", ["input_audio_transcription.failed"]),
        ("rejected", HELD, []),
    ],
)
def test_speech_that_never_becomes_the_rooms_ends_too(disposition: str, reason: str, told: list[str]) -> None:
    speech, _ = spoken()
    speech.started("i", 0, sounding=False)
    speech.stopped("i", 500)
    assert names(speech.take(line("input.settled", None, input_id="i", disposition=disposition, reason=reason))) == told


def test_what_others_write_is_an_item_and_what_the_client_wrote_is_one_already() -> None:
    speech, items = spoken()
    speech.own("key")
    assert speech.take(line("input.accepted", None, input_id="mine", text="a", key="key")) == []
    assert names(speech.take(line("input.accepted", None, input_id="other", text="b"))) == ["added", "done"]
    assert "other" in items and "mine" not in items
