"""What the feed of a room promises, whatever happened in it: read line by line, and held to at the end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from voiceagent.room.events import RoomEvent
from voiceagent.room.feed import FeedEvent
from voiceagent.values import JSON

TERMINALS = ("generation.finished", "generation.failed", "generation.detached")
SILENCES = ("speech.finished", "speech.cut", "speech.dropped")
JOBS_END = ("job.returned", "job.failed", "job.cancelled", "job.recovered")
BEHIND = ("speech.", "job.", "consumption.")
"""What may still name an answer that is made."""
UNBEGUN = ("speech.", "room.event", "consumption.", "agent.")
"""What may name words that no generation made: an announcement, a greeting."""


@dataclass
class Promises:
    """One room's lines, taken one after the other; raises AssertionError at the first that breaks a promise."""

    seq: int = 0
    uttered: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    settled: Counter[str] = field(default_factory=Counter)
    started: set[str] = field(default_factory=set)
    over: set[str] = field(default_factory=set)
    unbegun: set[str] = field(default_factory=set)
    rows: set[str] = field(default_factory=set)
    delivered: set[tuple[str, str]] = field(default_factory=set)
    sounding: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    jobs: dict[str, bool] = field(default_factory=dict)

    def take(self, line: FeedEvent) -> None:
        """The next durable line."""
        self.seq += 1
        assert line.seq == self.seq, line
        if line.event is not None:
            self.rows.add(line.event.id)
        self._input(line)
        self._generation(line)
        if line.type.startswith("speech."):
            self._speech(line, str(line.data["speech_id"]))
        if line.type.startswith("job."):
            self._job(line, str(line.data["job_id"]))

    def end(self) -> None:
        """Nothing follows."""
        inputs = self.accepted | self.uttered
        assert dict(self.settled) == dict.fromkeys(inputs, 1), [
            (one, self.settled[one]) for one in inputs if self.settled[one] != 1
        ]
        assert self.started == self.over, self.started - self.over
        assert self.sounding | self.waiting == set(), (self.sounding, self.waiting)
        assert all(self.jobs.values()), [job for job, ended in self.jobs.items() if not ended]

    def _input(self, line: FeedEvent) -> None:
        input_id = str(line.data.get("input_id"))
        if line.type == "input.accepted":
            assert input_id not in self.accepted, line
            self.accepted.add(input_id)
        elif line.type == "input.started":
            assert input_id not in self.accepted | self.uttered, line
            self.uttered.add(input_id)
        elif line.type == "input.decided":  # on an agent's words, too, which are no input
            assert input_id in self.accepted | self.rows, line
        elif line.type.startswith(("input.", "steering.")):
            unheard = line.type == "input.settled" and input_id in self.uttered  # of which no words became the room's
            assert input_id in self.accepted or unheard, line
            self.settled[input_id] += line.type == "input.settled"
            if line.type == "input.delivered":
                self.delivered.add((input_id, str(line.generation_id)))

    def _generation(self, line: FeedEvent) -> None:
        generation = line.generation_id
        if generation is None:
            return
        if line.type == "generation.started":
            assert generation not in self.started | self.unbegun, line
            self.started.add(generation)
        elif generation not in self.started:
            assert line.type.startswith(UNBEGUN), line
            self.unbegun.add(generation)
        else:
            assert generation not in self.over or line.type.startswith(BEHIND), line
        if line.type in TERMINALS:
            self.over.add(generation)
            taken, events = _texts(line.data["input_ids"]), _texts(line.data.get("event_ids", []))
            assert set(events) <= self.rows, line
            assert len(set(taken)) == len(taken), line
            assert all((one, generation) in self.delivered for one in taken if one in self.accepted), line

    def _speech(self, line: FeedEvent, speech: str) -> None:
        assert speech not in self.silent, line
        match line.type:
            case "speech.queued":
                assert speech not in self.waiting | self.sounding, line
                self.waiting.add(speech)
            case "speech.started":
                assert speech in self.waiting, line
                self.waiting.discard(speech)
                self.sounding.add(speech)
            case "speech.finished" | "speech.cut":
                assert speech in self.sounding, line
            case "speech.dropped":
                assert speech not in self.sounding, line
        if line.type in SILENCES:
            self.waiting.discard(speech)
            self.sounding.discard(speech)
            self.silent.add(speech)

    def _job(self, line: FeedEvent, job: str) -> None:
        if line.type == "job.queued":
            assert job not in self.jobs, line
            self.jobs[job] = False
            return
        assert job in self.jobs, line
        if line.type in JOBS_END:
            assert not self.jobs[job], line
            self.jobs[job] = True


def hold(lines: Sequence[FeedEvent]) -> Promises:
    """Holds all lines of a room to their promises."""
    promises = Promises()
    for line in lines:
        promises.take(line)
    promises.end()
    return promises


def same(lines: Sequence[FeedEvent], events: Sequence[RoomEvent]) -> None:
    """The feed has one line for each event that the store has, in the order of their indices, and holds the same."""
    told = [line.event for line in lines if line.event is not None]
    assert [event.index for event in told] == list(range(len(events)))
    assert told == list(events)


def _texts(value: JSON) -> list[str]:
    assert isinstance(value, list | tuple)
    return [str(one) for one in value]
