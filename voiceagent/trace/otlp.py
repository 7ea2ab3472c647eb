"""Traces of turns for an OpenTelemetry collector, after the GenAI conventions; the one module that imports OpenTelemetry."""

import asyncio
import contextlib
from collections.abc import Mapping
from threading import Thread
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context

from voiceagent import clock
from voiceagent.trace.span import Span, Stage, Trace, Value
from voiceagent.trace.witness import Witness

TIMEOUT_S: Final = 5.0
"""How long a collector may take for one batch."""

LAST_S: Final = 3.0
"""How long the program's end waits for it."""

_NS: Final = 1_000_000
_OPERATIONS: Final[Mapping[Stage, str]] = {"generate": "invoke_agent", "chat": "chat", "tool": "execute_tool"}
_SUBJECTS: Final = {"generate": "gen_ai.agent.name", "chat": "gen_ai.request.model", "tool": "gen_ai.tool.name"}


class Otlp:
    """Sends each turn as one trace, from a thread of its own; a collector that is away costs its traces and nothing else."""

    def __init__(self, processor: SpanProcessor, version: str, provider: str) -> None:
        """`provider` is what serves the model, such as `openai`; `version` is the program's."""
        self._provider = provider
        resource = Resource.create({"service.name": "voiceagent", "service.version": version})
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._spans.add_span_processor(processor)
        self._tracer: Tracer = self._spans.get_tracer("voiceagent", version)

    def witness(self) -> Witness:
        """Told of turns that are over."""
        return Witness(traces=(self._trace,))

    async def close(self) -> None:
        """Sends what is left; after LAST_S what the collector has not taken is lost."""
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def end() -> None:
            self._spans.shutdown()
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waited for so long
                loop.call_soon_threadsafe(done.set)

        # A thread that nobody joins: an executor's would hold up the end of the program for as long as the collector does.
        Thread(target=end, name="last traces", daemon=True).start()
        with contextlib.suppress(TimeoutError), clock.outside():
            async with asyncio.timeout(LAST_S):
                await done.wait()

    def _trace(self, trace: Trace) -> None:
        around = self._span(trace, trace.root, Context())
        answers: dict[str, Context] = {}
        for part in trace.parts:
            if part.stage == "generate":
                answers[part.of] = self._span(trace, part, around)
        for part in trace.parts:
            if part.stage != "generate":
                self._span(trace, part, answers.get(part.of, around) if part.stage in _OPERATIONS else around)

    def _span(self, trace: Trace, span: Span, parent: Context) -> Context:
        """Makes a span that is over already; returns what its parts belong to."""
        subject = span.attributes.get(_SUBJECTS.get(span.stage, ""))
        operation = _OPERATIONS.get(span.stage, span.stage)
        made = self._tracer.start_span(
            operation if subject is None else f"{operation} {subject}",
            parent,
            kind=SpanKind.CLIENT if span.stage == "chat" else SpanKind.INTERNAL,
            attributes=self._attributes(trace, span),
            start_time=(span.start + trace.since_1970_ms) * _NS,
        )
        if span.first is not None:
            made.add_event("first words", timestamp=(span.first + trace.since_1970_ms) * _NS)
        if span.error is not None:
            made.set_status(Status(StatusCode.ERROR))
        made.end((span.start + span.ms + trace.since_1970_ms) * _NS)
        return set_span_in_context(made, parent)

    def _attributes(self, trace: Trace, span: Span) -> dict[str, Value]:
        attributes: dict[str, Value] = {"gen_ai.conversation.id": trace.room_id, **span.attributes}
        operation = _OPERATIONS.get(span.stage)
        if operation is not None:
            attributes["gen_ai.operation.name"] = operation
        if span.stage in ("generate", "chat"):
            attributes["gen_ai.provider.name"] = self._provider
        if span.of:
            attributes["voiceagent.generation_id"] = span.of
        if span.error is not None:
            attributes["error.type"] = span.error
        return attributes


def over_http(address: str, version: str, provider: str) -> Otlp:
    """Sends to a collector's OTLP port over HTTP; headers that it asks for stand in OTEL_EXPORTER_OTLP_HEADERS."""
    exporter = OTLPSpanExporter(f"{address.rstrip('/')}/v1/traces", timeout=TIMEOUT_S)
    return Otlp(BatchSpanProcessor(exporter), version, provider)
