"""Turns as they are measured on the virtual clock: one measurement for the page's waits, for traces and for figures."""

from itertools import pairwise

from tests.scenario.scripted import Answer, ScriptedCall, house
from voiceagent.agent.channel import AIChannel
from voiceagent.llm.scripted import Pause, ScriptedModel
from voiceagent.trace.span import Span, Trace
from voiceagent.trace.witness import Witness
from voiceagent.values import JSON
from voiceagent.voice.settings import VoiceSettings

ANN = 1_000
TURN = [(200, 0), (800, ANN)]


def of_stage(spans: list[Span], stage: str) -> Span:
    (found,) = (span for span in spans if span.stage == stage)
    return found


async def test_the_pages_waits_are_the_stretches_of_the_trace() -> None:
    traces: list[Trace] = []
    waits: list[dict[str, JSON]] = []
    spans: list[Span] = []
    witness = Witness(
        lines=(lambda kind, data: waits.append(dict(data)) if kind == "turn.latency" else None,),
        spans=(spans.append,),
        traces=(traces.append,),
    )
    agent = AIChannel("assistant", provider=ScriptedModel([(Pause(150), "Good morning. ", Pause(50), "To you.")], name="m"))
    async with house(VoiceSettings(greeting="", think_ahead=False), agent=agent, witness=witness) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=5_000))
    (trace,), (wait,) = traces, waits
    assert [span for span in spans if span.stage != "turn"] == list(trace.parts)
    hear, transcribe, made, speak = (of_stage(list(trace.parts), stage) for stage in ("hear", "transcribe", "generate", "speak"))
    assert made.first is not None
    assert hear.ms == 800
    assert (hear.end, transcribe.ms) == (transcribe.start, wait["end_of_speech_to_words_ms"])
    assert made.first - transcribe.end == wait["words_to_first_token_ms"] == 150
    assert speak.start - made.first == wait["first_token_to_first_sound_ms"]
    assert speak.start - hear.end == wait["total_ms"]
    times = [hear.start, hear.end, transcribe.end, made.start, made.first, speak.start, speak.end]
    assert all(before <= after for before, after in pairwise(times))
    assert (trace.root.start, trace.root.end) == (hear.start, speak.end)
    chat = of_stage(list(trace.parts), "chat")
    assert (chat.of, chat.first, chat.attributes["gen_ai.request.model"]) == (made.of, made.first, "m")


async def test_a_cut_answer_is_measured_to_the_cut_and_the_calls_end_leaves_nothing_open() -> None:
    traces: list[Trace] = []
    async with house(answers=[Answer("A rather long answer to you."), "Yes."], witness=Witness(traces=(traces.append,))) as here:
        await here.receive(ScriptedCall("s1", [*TURN, (1_500, 0), (800, 2_000)], until_ms=3_500))
    ends = [part.attributes["voiceagent.end"] for trace in traces for part in trace.parts if part.stage == "speak"]
    assert ends == ["cut"]
    assert len(traces) == 2
    assert all("voiceagent.disposition" in trace.root.attributes for trace in traces)


async def test_what_was_no_speech_is_no_turn() -> None:
    traces: list[Trace] = []
    async with house(witness=Witness(traces=(traces.append,))) as here:
        await here.receive(ScriptedCall("s1", [(200, 0), (800, 9_000)], until_ms=3_000))
    assert traces == []
