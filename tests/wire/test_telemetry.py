"""Traces as an OpenTelemetry collector reads them, and figures as Prometheus does."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.wire.browser import serving
from tests.wire.door import Receiver
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.tools import tool
from voiceagent.app import App, Choices
from voiceagent.config import Settings
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Done, ToolCall
from voiceagent.llm.scripted import EchoModel, ScriptedModel
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, Participant, TextContent
from voiceagent.trace.otlp import Otlp, over_http
from voiceagent.trace.prometheus import Prometheus
from voiceagent.trace.span import Span, Trace
from voiceagent.trace.witness import Witness
from voiceagent.web import auth
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status

SECRET = "s" * 40
WORDS = "a very private question"


@tool
async def look(place: str) -> str:
    """Looks."""
    return f"nothing in {place}"


@asynccontextmanager
async def talking(witness: Witness, *turns: object) -> AsyncIterator[RoomEngine]:
    """A room with an agent and somebody who types."""
    model = ScriptedModel(turns or ("Yes.",), name="m-1")  # type: ignore[arg-type]
    async with RoomEngine(witness=witness) as kit:
        kit.register_channel(AIChannel("nova", provider=model, tools=(look,)))
        kit.register_channel(Channel("screen", ChannelType.TEXT))
        await kit.create_room("r")
        for channel in ("nova", "screen"):
            await kit.attach_channel("r", channel)
        await kit.join("r", Participant("ann", "Ann"))
        yield kit


async def ask(kit: RoomEngine) -> None:
    """Types, and returns once it is settled."""
    following = kit.feed("r").subscribe()
    await kit.process_inbound(InboundMessage("screen", TextContent(WORDS), sender_id="ann"), room_id="r")
    async with asyncio.timeout(10):
        async for line in following.events():
            if line.type == "input.settled":
                break
    following.close()


def by_name(spans: tuple[ReadableSpan, ...]) -> Mapping[str, ReadableSpan]:
    return {span.name: span for span in spans}


async def test_a_turn_is_one_trace_by_the_genai_conventions() -> None:
    kept = InMemorySpanExporter()
    otlp = Otlp(SimpleSpanProcessor(kept), "0", "openai")
    usage = Done("tool_calls", {"input": 11, "output": 2})
    first = (ToolCall("c1", "look", '{"place": "a private place"}'), usage)
    async with talking(otlp.witness(), first, ("Nothing ", "there.", Done("stop", {"input": 20, "output": 4}))) as kit:
        await ask(kit)
    await otlp.close()
    spans = kept.get_finished_spans()
    named = by_name(spans)
    assert set(named) == {"turn", "invoke_agent nova", "chat m-1", "execute_tool look"}
    agent, root = named["invoke_agent nova"], named["turn"]
    assert root.parent is None and root.context is not None and agent.context is not None
    assert agent.parent is not None and agent.parent.span_id == root.context.span_id
    for span in spans:
        assert span.context is not None and span.context.trace_id == root.context.trace_id
        assert span.attributes is not None and span.attributes["gen_ai.conversation.id"] == "r"
        assert root.start_time is not None and span.start_time is not None and root.start_time <= span.start_time
        if span.name.startswith(("chat", "execute_tool")):
            assert span.parent is not None and span.parent.span_id == agent.context.span_id
    chats = [span for span in spans if span.name == "chat m-1"]
    assert [span.kind for span in chats] == [SpanKind.CLIENT] * 2
    told = chats[0].attributes
    assert told is not None
    assert (told["gen_ai.operation.name"], told["gen_ai.provider.name"], told["gen_ai.request.model"]) == (
        "chat",
        "openai",
        "m-1",
    )
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (11, 2)
    assert agent.attributes is not None
    assert (agent.attributes["gen_ai.operation.name"], agent.attributes["gen_ai.usage.input_tokens"]) == ("invoke_agent", 31)
    assert [event.name for event in agent.events] == ["first words"]
    shown = " ".join(span.to_json() for span in spans)
    assert "private" not in shown and "there." not in shown


async def test_a_failure_is_an_error_with_its_class_and_no_words() -> None:
    kept = InMemorySpanExporter()
    otlp = Otlp(SimpleSpanProcessor(kept), "0", "openai")
    async with talking(otlp.witness(), (LanguageModelError("key sk-123 was refused", "auth"),)) as kit:
        await ask(kit)
    await otlp.close()
    failed = by_name(kept.get_finished_spans())["invoke_agent nova"]
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.attributes is not None and failed.attributes["error.type"] == "auth"
    assert "sk-123" not in " ".join(span.to_json() for span in kept.get_finished_spans())


async def test_a_collector_is_sent_traces_at_the_times_of_the_calendar() -> None:
    sent: list[ExportTraceServiceRequest] = []

    async def traces(request: Request) -> Response:
        assert request.headers["content-type"] == "application/x-protobuf"
        sent.append(ExportTraceServiceRequest.FromString(await request.body()))
        return Response(status_code=200)

    began = clock.utc().timestamp()
    collector = Starlette(routes=[Route("/v1/traces", traces, methods=["POST"])])
    async with serving(collector, WebSettings()) as url:
        otlp = over_http(url, "1.2.3", "notes")
        async with talking(otlp.witness()) as kit:
            await ask(kit)
        await otlp.close()
    (resource,) = [resource for request in sent for resource in request.resource_spans]
    told = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert (told["service.name"], told["service.version"]) == ("voiceagent", "1.2.3")
    spans = resource.scope_spans[0].spans
    assert {span.name for span in spans} == {"turn", "invoke_agent nova", "chat m-1"}
    assert all(abs(span.start_time_unix_nano / 1e9 - began) < 30 for span in spans)


async def test_a_collector_that_is_away_costs_its_traces_and_holds_nothing_up(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "opentelemetry")
    otlp = over_http("http://127.0.0.1:9", "0", "notes")
    began = clock.now()
    for number in range(100):
        otlp.witness().trace(Trace("r", Span("turn", number, number + 1), (), 0))
    assert clock.now() - began < 1_000
    await otlp.close()
    assert clock.now() - began < 5_000


def figures_of(page: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    found = (sample for family in text_string_to_metric_families(page) for sample in family.samples)
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in found}


@asynccontextmanager
async def door(settings: WebSettings, figures: Prometheus | None) -> AsyncIterator[tuple[str, RoomEngine]]:
    async with talking(figures.witness() if figures else Witness()) as kit:
        made = build(Receiver(kit), kit, settings, lambda: Status("0", "m"), figures=figures)
        async with serving(made, settings) as url:
            yield url, kit


async def test_a_scrape_shows_what_was_counted() -> None:
    figures = Prometheus()
    figures.gauge("rooms", "Rooms", lambda: 1)
    async with door(WebSettings(), figures) as (url, kit), httpx.AsyncClient() as client:
        await ask(kit)
        kit.feed("r").publish("speech.cut", {"reason": "barge_in"})
        kit.feed("r").publish("turn.latency", {"total_ms": 640})
        kit.feed("r").publish("input.settled", {"disposition": "made up by a plug-in"})
        kit.host.turns("r").discarded({"characters": 6, "input": 9, "output": 2})
        figures.lag(3)
        answer = await client.get(f"{url}metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    told = figures_of(answer.text)
    for name, labels, value in (
        ("inputs_total", {"kind": "user"}, 1),
        ("settlements_total", {"disposition": "answered"}, 1),
        ("settlements_total", {"disposition": "other"}, 1),
        ("generations_total", {"outcome": "finished"}, 1),
        ("barge_ins_total", {}, 1),
        ("speeches_total", {"end": "cut"}, 1),
        ("stage_seconds_count", {"stage": "generate"}, 1),
        ("stage_seconds_count", {"stage": "turn"}, 1),
        ("wait_seconds_sum", {"part": "total"}, 0.64),
        ("loop_lag_seconds_count", {}, 1),
        ("feed_lines_dropped_total", {}, 0),
        ("requests_discarded_total", {}, 1),
        ("tokens_discarded_total", {"kind": "input"}, 9),
        ("rooms", {}, 1),
        ("streams", {}, 0),
    ):
        assert told[f"voiceagent_{name}", tuple(sorted(labels.items()))] == value, name


async def test_lines_that_a_slow_reader_loses_are_counted() -> None:
    figures = Prometheus()
    async with talking(figures.witness()) as kit:
        slow = kit.feed("r").subscribe()
        for number in range(1_500):
            kit.feed("r").publish("level", {"dbfs": number}, durable=False)
        slow.close()
    assert figures_of(figures.page().decode())["voiceagent_feed_lines_dropped_total", ()] >= 500


async def test_figures_have_a_door_of_their_own() -> None:
    settings = WebSettings.model_validate({"token_secret": SECRET})
    until = int(clock.utc().timestamp()) + 60
    good, room = auth.issue_for_figures(SECRET, until), auth.issue(SECRET, "r", until, host=True)
    late, forged = auth.issue_for_figures(SECRET, until - 120), auth.issue_for_figures("x" * 40, until)
    async with door(settings, Prometheus()) as (url, _), httpx.AsyncClient() as client:

        async def status(token: str, path: str = "metrics", **headers: str) -> int:
            return (await client.get(f"{url}{path}", headers={"authorization": f"Bearer {token}", **headers})).status_code

        assert [await status(token) for token in (good, room, late, forged, "no")] == [200, 401, 401, 401, 401]
        assert (await client.get(f"{url}metrics")).status_code == 401
        assert await status(good, "v1/rooms/r/events") == 401
        assert await status(good, host="evil.example.org") == 421


async def test_without_being_asked_for_nothing_is_shown_or_loaded() -> None:
    async with door(WebSettings(), None) as (url, _), httpx.AsyncClient() as client:
        assert (await client.get(f"{url}metrics")).status_code == 404


async def test_the_program_measures_what_its_settings_ask_for() -> None:
    settings = Settings.model_validate(
        {"telemetry": {"metrics": True, "otlp": "http://127.0.0.1:9"}, "judgment": {"policy": "always"}}
    )
    async with App(settings, Choices(sound=False, provider=EchoModel())) as app:
        assert app.figures is not None
        await app.open_room("r")
        told = figures_of(app.figures.page().decode())
        assert (told["voiceagent_rooms", ()], told["voiceagent_calls", ()]) == (1, 0)


async def test_what_is_not_installed_is_said_and_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("voiceagent.trace.prometheus", "voiceagent.trace.otlp"):
        monkeypatch.setitem(sys.modules, name, None)
    settings = Settings.model_validate({"telemetry": {"metrics": True}, "judgment": {"policy": "always"}})
    async with App(settings, Choices(sound=False, provider=EchoModel())) as app:
        assert app.figures is None
    assert "voiceagent[telemetry]" in caplog.text
