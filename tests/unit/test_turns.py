"""What is measured of turns: stretches made of a room's lines, waits, traces, and that nobody who is told can do harm."""

import logging

import pytest

from voiceagent.room.feed import FeedEvent
from voiceagent.room.turns import REMEMBERED, Heard, Turns
from voiceagent.trace.span import Span, Trace
from voiceagent.trace.witness import Witness
from voiceagent.values import JSON
from voiceagent.voice.latency import TurnLatency, latency_of

Line = tuple[int, str, dict[str, JSON]]


class Measured:
    """Turns, and all that they told."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.traces: list[Trace] = []
        self.types: list[str] = []
        self.turns = Turns(
            "r",
            Witness(
                lines=(lambda kind, data: self.types.append(kind),),
                spans=(self.spans.append,),
                traces=(self.traces.append,),
            ),
        )

    def read(self, now: int, type: str, *, of: str | None = None, to: str | None = None, **data: JSON) -> None:
        line = FeedEvent(None, 0, 0, "", type, "r", "agent", None, of, to, data=data)
        self.turns.read(line, now)

    def stretches(self) -> list[tuple[str, int, int]]:
        return [(span.stage, span.start, span.end) for span in self.spans]


async def test_a_spoken_turn_is_made_of_its_stages() -> None:
    here = Measured()
    here.turns.heard("i", Heard(100, 900, 1_200))
    here.read(1_210, "input.accepted", input_id="i", kind="user", source="voice", text="secret words")
    here.read(1_260, "input.decided", input_id="i", mode="speak", duration_ms=40)
    here.read(1_261, "generation.started", of="g", to="i")
    request = here.turns.request("i", "g", "m", 1_262)
    here.read(1_270, "speech.queued", of="g", to="i")
    here.read(1_400, "text.delta", of="g", to="i", text="secret")
    here.read(1_450, "tool.started", of="g", to="i", call_id="c", tool="look")
    here.read(1_500, "tool.ended", of="g", to="i", call_id="c", tool="look", outcome="ok")
    request.over({"input": 7, "output": 3})
    here.read(1_600, "generation.finished", of="g", to="i", usage={"input": 7, "output": 3}, text="secret words")
    here.read(1_650, "speech.started", of="g", to="i")
    here.read(1_660, "input.settled", input_id="i", disposition="answered")
    assert not here.traces
    here.read(2_650, "speech.finished", of="g", to="i", played_ms=1_000)
    assert [s for s in here.stretches() if s[0] != "chat"] == [
        ("hear", 100, 900),
        ("transcribe", 900, 1_200),
        ("decide", 1_220, 1_260),
        ("tool", 1_450, 1_500),
        ("generate", 1_261, 1_600),
        ("speak", 1_650, 2_650),
        ("turn", 100, 2_650),
    ]
    (trace,) = here.traces
    assert trace.root.attributes["voiceagent.disposition"] == "answered"
    made = next(part for part in trace.parts if part.stage == "generate")
    assert (made.first, made.error, made.attributes["gen_ai.usage.input_tokens"]) == (1_400, None, 7)
    assert "secret" not in repr(trace)


async def test_a_turn_is_over_once_it_is_settled_and_every_answer_is_made_and_has_sounded() -> None:
    here = Measured()
    here.read(0, "input.accepted", input_id="i")
    for answer in ("a", "b"):
        here.read(1, "generation.started", of=answer, to="i")
    here.read(2, "speech.queued", of="a", to="i")
    here.read(3, "generation.finished", of="a", to="i")
    here.read(4, "input.settled", input_id="i", disposition="answered")
    here.read(5, "speech.dropped", of="a", to="i", reason="barge_in")
    assert not here.traces
    here.read(6, "generation.failed", of="b", to="i", error_category="timeout", stage="model")
    (trace,) = here.traces
    assert [(part.of, part.error) for part in trace.parts if part.stage == "generate"] == [("a", None), ("b", "timeout")]


async def test_an_answer_that_is_over_before_its_input_is_settled_ends_no_turn() -> None:
    here = Measured()
    here.read(0, "input.accepted", input_id="i")
    here.read(1, "generation.started", of="g", to="i")
    here.read(2, "generation.finished", of="g", to="i")
    assert not here.traces
    here.read(3, "input.settled", input_id="i", disposition="answered")
    assert [trace.root.end for trace in here.traces] == [3]


async def test_an_agents_answer_to_an_agent_is_a_turn_of_its_own() -> None:
    here = Measured()
    here.read(5, "generation.started", of="g", to="an event of an agent")
    here.read(9, "generation.detached", of="g", to="an event of an agent", reason="stop")
    assert [(trace.root.start, trace.root.end) for trace in here.traces] == [(5, 9)]


async def test_a_request_that_breaks_off_is_an_error() -> None:
    here = Measured()
    here.read(0, "generation.started", of="g", to="i")
    here.turns.request("i", "g", "m", 0).over(None)
    assert [(span.stage, span.error) for span in here.spans] == [("chat", "broke_off")]


async def test_a_thought_counts_for_the_open_turn_and_stands_alone_without_one() -> None:
    here = Measured()
    here.read(50, "thought.updated", duration_ms=20, text="secret")
    here.read(60, "thought.updated", duration_ms=None, text="secret")
    assert [(trace.root.stage, trace.root.ms, trace.parts) for trace in here.traces] == [("think", 20, ())]
    here.read(70, "input.accepted", input_id="i")
    here.read(90, "thought.updated", duration_ms=10)
    here.read(95, "input.settled", input_id="i", disposition="listened")
    assert [part.stage for part in here.traces[-1].parts] == ["think"]


async def test_what_is_open_when_the_room_ends_is_told() -> None:
    here = Measured()
    here.read(0, "input.accepted", input_id="i")
    here.turns.close(30)
    here.turns.close(40)
    assert [trace.root.end for trace in here.traces] == [30]


async def test_of_too_many_open_turns_the_oldest_counts_as_over() -> None:
    here = Measured()
    for number in range(REMEMBERED + 1):
        here.read(number, "input.accepted", input_id=f"i{number}")
    assert [trace.root.attributes["voiceagent.input_id"] for trace in here.traces] == ["i0"]


@pytest.mark.parametrize("type", ["generation.finished", "speech.started", "speech.finished", "tool.ended", "text.delta"])
def test_lines_of_what_is_unknown_measure_nothing(type: str) -> None:
    here = Measured()
    here.read(0, type, of="g", to="i")
    assert (here.spans, here.types) == ([], [type])


def test_a_turns_waits_add_up_and_are_given_once() -> None:
    here = Measured()
    here.turns.heard("u", Heard(200, 1_000, 1_500))
    for input_id in (None, "other", "u", "u"):
        here.turns.answered(input_id, 1_700 if input_id != "other" else 1_600)
    here.read(1_700, "speech.queued", of="g", to="u")
    assert here.turns.waited("u") is None
    here.read(2_000, "speech.started", of="g", to="u")
    assert here.turns.waited(None) is None
    assert here.turns.waited("other") is None
    waited = here.turns.waited("u")
    assert waited is not None
    latency = latency_of("u", *waited)
    assert (latency, latency.total_ms) == (TurnLatency("u", 500, 200, 300), 1_000)
    assert here.turns.waited("u") is None


def test_a_first_word_known_before_the_turn_was_over_costs_nothing() -> None:
    here = Measured()
    here.turns.heard("u", Heard(0, 1_000, 1_500))
    here.turns.answered("u", 1_400)
    here.read(1_500, "speech.queued", of="g", to="u")
    here.read(1_600, "speech.started", of="g", to="u")
    waited = here.turns.waited("u")
    assert waited is not None
    assert latency_of("u", *waited) == TurnLatency("u", 500, 0, 100)


def test_what_is_typed_makes_nobody_wait_for_its_words() -> None:
    here = Measured()
    here.read(0, "input.accepted", input_id="i")
    here.read(1, "speech.queued", of="g", to="i")
    here.read(2, "speech.started", of="g", to="i")
    assert here.turns.waited("i") is None


def test_one_who_is_told_and_fails_costs_the_others_nothing(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []

    def fails(*given: object) -> None:
        raise RuntimeError("no")

    witness = Witness((fails,), (fails,), (fails,), (fails,)) + Witness(
        (lambda kind, data: told.append(kind),),
        (lambda span: told.append(span.stage),),
        (lambda trace: told.append(trace.room_id),),
        (lambda lines: told.append(str(lines)),),
    )
    with caplog.at_level(logging.ERROR):
        witness.line("level", {})
        witness.span(Span("hear", 0, 1))
        witness.trace(Trace("r", Span("turn", 0, 1), (), 0))
        witness.dropped(3)
    assert told == ["level", "hear", "r", "3"]
    assert len(caplog.records) == 4
