"""Figures for Prometheus: what was counted and timed since the program began; the one module that imports prometheus_client."""

from collections.abc import Callable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from voiceagent.trace.span import Span
from voiceagent.trace.witness import Witness
from voiceagent.values import JSON

_MS: Final = 1000
_SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1, 1.5, 2.5, 5, 10, 30)
_LAG: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1)
_WAITS: Final = {
    "words": "end_of_speech_to_words_ms",
    "first_token": "words_to_first_token_ms",
    "first_sound": "first_token_to_first_sound_ms",
    "total": "total_ms",
}
_OUTCOMES: Final = {"generation.finished": "finished", "generation.failed": "failed", "generation.detached": "detached"}
_SPEECHES: Final = {"speech.finished": "finished", "speech.cut": "cut", "speech.dropped": "dropped"}
_YIELDS: Final = {"speech.ducked": "ducked", "speech.paused": "silent"}
_OTHER: Final = "other"
_KINDS: Final = frozenset({"user", "steer", "service", "control"})
_DISPOSITIONS: Final = frozenset(
    (
        *("answered", "answered_question", "listened", "backchannel", "held", "withdrawn"),
        *("unknown", "rejected", "superseded", "failed"),
    )
)


class Prometheus:
    """Everything that is counted. Labels take few values, whatever hosts and people write."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._all = CollectorRegistry()
        ProcessCollector(registry=self._all)
        self._inputs = self._counter("inputs", "Inputs accepted by rooms", "kind")
        self._settled = self._counter("settlements", "Inputs settled, by what became of them", "disposition")
        self._generations = self._counter("generations", "Answers that ended, by how", "outcome")
        self._speeches = self._counter("speeches", "Replies that sounded or did not, by how they ended", "end")
        self._barge_ins = self._counter("barge_ins", "Replies cut by a person's speech")
        self._tokens = self._counter("tokens", "Tokens of language models, where they say", "kind")
        self._discards = self._counter("requests_discarded", "Requests to models that were begun ahead for nothing")
        self._discarded = self._counter("tokens_discarded", "Tokens of such requests, where the model says", "kind")
        self._dropped = self._counter("feed_lines_dropped", "Lines that a reader or the store did not get")
        self._stages = self._histogram("stage_seconds", "How long each stage of a turn took", "stage")
        self._waits = self._histogram("wait_seconds", "How long a speaker waited, and for what", "part")
        self._yields = self._histogram("yield_seconds", "First voice over a reply until that was lowered, or silent", "step")
        self._lag = Histogram("voiceagent_loop_lag_seconds", "How late the event loop was", buckets=_LAG, registry=self._all)

    def witness(self) -> Witness:
        """Told of lines, stretches and dropped lines."""
        return Witness(lines=(self._line,), spans=(self._span,), drops=(self._lost,), discards=(self._discard,))

    def lag(self, late_ms: int) -> None:
        """The event loop came to a timer so late."""
        self._lag.observe(late_ms / _MS)

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A figure that is read whenever it is asked for; raises ValueError when its name is taken."""
        Gauge(f"voiceagent_{name}", text, registry=self._all).set_function(read)

    def page(self) -> bytes:
        """All figures as Prometheus reads them."""
        page: bytes = generate_latest(self._all)
        return page

    def _line(self, type: str, data: Mapping[str, JSON]) -> None:
        if type == "input.accepted":
            self._inputs.labels(_one_of(data.get("kind"), _KINDS)).inc()
        elif type == "input.settled":
            self._settled.labels(_one_of(data.get("disposition"), _DISPOSITIONS)).inc()
        elif type in _OUTCOMES:
            self._generations.labels(_OUTCOMES[type]).inc()
            self._count_tokens(data.get("usage"))
        elif type in _SPEECHES:
            self._speeches.labels(_SPEECHES[type]).inc()
            if type == "speech.cut" and data.get("reason") == "barge_in":
                self._barge_ins.inc()
        elif type in _YIELDS:
            self._took(self._yields.labels(_YIELDS[type]), data.get("after_ms"))
        elif type == "turn.latency":
            self._wait(data)

    def _span(self, span: Span) -> None:
        self._stages.labels(span.stage).observe(span.ms / _MS)

    def _lost(self, lines: int) -> None:
        self._dropped.inc(lines)

    def _discard(self, cost: Mapping[str, int]) -> None:
        self._discards.inc()
        for kind in ("input", "output"):
            self._discarded.labels(kind).inc(cost.get(kind, 0))

    def _count_tokens(self, usage: JSON) -> None:
        for kind in ("input", "output"):
            tokens = usage.get(kind) if isinstance(usage, dict) else None
            if isinstance(tokens, int):
                self._tokens.labels(kind).inc(tokens)

    def _wait(self, data: Mapping[str, JSON]) -> None:
        for part, name in _WAITS.items():
            self._took(self._waits.labels(part), data.get(name))

    def _took(self, histogram: Histogram, ms: JSON) -> None:
        if isinstance(ms, int):
            histogram.observe(ms / _MS)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"voiceagent_{name}", text, labels, registry=self._all)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(f"voiceagent_{name}", text, labels, buckets=_SECONDS, registry=self._all)


def _one_of(value: JSON, known: frozenset[str]) -> str:
    return value if isinstance(value, str) and value in known else _OTHER
