"""Measures what a speak decision costs beside the policy's own thinking: building the SpeakTurn, asking, hooks and feed.

    python benchmarks/decision.py [--rounds 2000] [--once] [--json]

A room of four people and an agent whose every third message was an answer, with 5, 50, 500 and 5,000 events of history; each
round builds the turn of the newest message and has it decided, by a scripted policy and by ClassifierSpeakPolicy on a scripted
classifier, on the loop that the program runs on. The time is the processor's of this thread. Each round is done three times in a
row and its fastest counts: a neighbour on the same core doubles even that, and is no part of the decision; `--once` counts every
one. The aim is 0.2 ms at the 95th percentile, the same at every size: people wait for none of it.
"""

import argparse
import json
import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from voiceagent.agent.channel import AIChannel
from voiceagent.agent.deliberation import Deliberation
from voiceagent.agent.turn import speak_turn
from voiceagent.cli.loop import run
from voiceagent.clock import utc
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.classifier.question import Answers, Question, State
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import AlwaysSpeak, SpeakPolicy
from voiceagent.llm.scripted import EchoModel
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    ChannelType,
    Direction,
    EventSource,
    InboundMessage,
    Participant,
    RoomEvent,
    TextContent,
)

ROOM = "room"
AGENT = "assistant"
NAMES = ("Ana", "Ben", "Chloé", "Dmitri")
WORDS = "Nova, what did we say about the price of the two licences in September?"
SIZES = (5, 50, 500, 5_000)
AIM_MS = 0.2


class Forgetful(MockClassifier):
    """The scripted classifier without its record of calls, which would fill the memory of a measurement."""

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """The scripted answers."""
        self.calls.clear()
        return await super().classify(state, questions)


@dataclass(frozen=True, slots=True)
class Figure:
    """One policy at one size of history; times in milliseconds of processor time."""

    policy: str
    events: int
    p50_ms: float
    p95_ms: float

    @property
    def met(self) -> bool:
        """Whether the aim was reached."""
        return self.p95_ms <= AIM_MS

    def line(self) -> str:
        """One row of the table."""
        missed = "" if self.met else f"  MISSED (aim {AIM_MS} ms)"
        return f"{self.policy:<12}{self.events:>8,}{self.p50_ms:>10.3f}{self.p95_ms:>10.3f} ms{missed}"


async def _talk(kit: RoomEngine, events: int) -> RoomEvent:
    """A conversation so long; its last event is a person's."""
    await kit.create_room(ROOM)
    for channel in (Channel("text", ChannelType.TEXT), AIChannel(AGENT, provider=EchoModel())):
        kit.register_channel(channel)
        await kit.attach_channel(ROOM, channel.channel_id)
    for name in NAMES:
        await kit.join(ROOM, Participant(name, name, connected_via=("text",)))
    last = await _said(kit, 0)
    while (last.index or 0) + 1 < events - 1:
        if last.index and last.index % 3 == 0:
            source = EventSource(AGENT, ChannelType.AI, Direction.OUTBOUND)
            own = RoomEvent("", ROOM, source, TextContent("It was 1,200."), utc(), addressed_to=())
            result = await kit.host.answer(own, None)
            assert result.event is not None
            last = result.event
        else:
            last = await _said(kit, last.index or 0)
    return await _said(kit, 0)


async def _said(kit: RoomEngine, number: int) -> RoomEvent:
    message = InboundMessage("text", TextContent(WORDS), NAMES[number % len(NAMES)], addressed_to=())
    result = await kit.process_inbound(message, room_id=ROOM)
    assert result.event is not None
    return result.event


async def _measured(events: int, rounds: int, times: int) -> list[Figure]:
    policies: dict[str, SpeakPolicy] = {
        "scripted": AlwaysSpeak(),
        "classifier": ClassifierSpeakPolicy(Forgetful({"directness": 3.0}), agent_name="Nova"),
    }
    async with RoomEngine() as kit:
        event = await _talk(kit, events)
        return [Figure(name, events, *await _times(kit, policy, event, (rounds, times))) for name, policy in policies.items()]


async def _times(kit: RoomEngine, policy: SpeakPolicy, event: RoomEvent, how_often: tuple[int, int]) -> tuple[float, float]:
    """p50 and p95 in milliseconds, of so many rounds of so many times each."""
    rounds, repeats = how_often
    room = kit.host.context(ROOM)
    deliberation = Deliberation(policy, 2_000)
    times: list[float] = []
    for _ in range(rounds + rounds // 10):
        spans = []
        for _ in range(repeats):
            began = time.thread_time_ns()
            await deliberation.decide(kit.host, speak_turn(AGENT, event, room, 50))
            spans.append((time.thread_time_ns() - began) / 1e6)
        times.append(min(spans))
    times = times[rounds // 10 :]
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def main() -> int:
    """Prints the table, or JSON; 1 when an aim was missed."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=2_000)
    arguments.add_argument("--once", action="store_true")
    arguments.add_argument("--json", action="store_true")
    chosen = arguments.parse_args()
    figures = [figure for size in SIZES for figure in run(_measured(size, chosen.rounds, 1 if chosen.once else 3))]
    if chosen.json:
        print(json.dumps([asdict(figure) | {"met": figure.met} for figure in figures]))
    else:
        print(f"{'policy':<12}{'events':>8}{'p50':>10}{'p95':>10}")
        for figure in figures:
            print(figure.line())
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
