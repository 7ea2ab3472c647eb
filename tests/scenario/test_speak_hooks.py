"""Hooks on decisions: statements 60 to 62 on the engine, in exact virtual time."""

import asyncio
from collections.abc import Callable

import pytest

from tests.scenario.deciding import Watch, deciding, last_notes
from tests.scenario.rooms import ROOM, Door, say, seat, settled
from voiceagent import clock
from voiceagent.agent.deliberation import SpeakDecisionEvent
from voiceagent.judgment.policy import MockSpeakPolicy, SpeakDecision
from voiceagent.room.engine import RoomEngine
from voiceagent.room.hooks import HookResult, HookTrigger

Change = Callable[[SpeakDecisionEvent], HookResult[SpeakDecisionEvent] | None]


def to(decision: SpeakDecision) -> Change:
    def change(event: SpeakDecisionEvent) -> HookResult[SpeakDecisionEvent]:
        event.decision = decision
        return HookResult.modify(event)

    return change


def in_place(event: SpeakDecisionEvent) -> None:
    event.decision = SpeakDecision("silent", "in place")


def anything(event: SpeakDecisionEvent) -> HookResult[SpeakDecisionEvent]:
    return HookResult("modify", "speak!")  # type: ignore[arg-type]


def no_decision(event: SpeakDecisionEvent) -> None:
    event.decision = "silent"  # type: ignore[assignment]


def block(event: SpeakDecisionEvent) -> HookResult[SpeakDecisionEvent]:
    return HookResult.block("not in this room")


@pytest.mark.parametrize(
    ("decided", "change", "stands"),
    [
        ("silent", to(SpeakDecision("speak", "the host says so", notes=("Say why.",))), ("speak", "the host says so")),
        ("speak", to(SpeakDecision("silent", "not now")), ("silent", "not now")),
        ("speak", in_place, ("silent", "in place")),
        ("speak", block, ("silent", "blocked by guard")),
        ("silent", block, ("silent", "blocked by guard")),
        ("speak", anything, ("speak", "scripted")),
        ("speak", no_decision, ("speak", "scripted")),
        ("speak", lambda _: None, ("speak", "scripted")),
    ],
    ids=["to speak", "to silent", "in place", "block speak", "block silent", "another type", "no decision", "nothing"],
)
async def test_s07_060_061_062_a_synchronous_hook_has_its_say_and_watchers_see_what_stands(
    kit: RoomEngine, decided: str, change: Change, stands: tuple[str, str]
) -> None:
    watch = Watch(kit)
    seen: list[str] = []

    @kit.hook(HookTrigger.ON_SPEAK_DECISION, name="guard", priority=1)
    async def guard(event: SpeakDecisionEvent) -> HookResult[SpeakDecisionEvent] | None:
        return change(event)

    @kit.hook(HookTrigger.ON_SPEAK_DECISION, name="second", priority=2)
    async def second(event: SpeakDecisionEvent) -> None:
        seen.append(getattr(event.decision, "reason", "no decision"))

    nova, model = deciding(MockSpeakPolicy([decided]))  # type: ignore[list-item]
    await seat(kit, door := Door(), nova)
    feed = kit.feed(ROOM).subscribe()
    await say(kit, "hello")
    await settled()
    assert watch.modes == [stands]
    assert len(door.replies) == len(model.prompts) == (stands[0] == "speak")
    if stands[1] == "the host says so":
        assert last_notes(model) == ("Say why.",)
    assert seen == ([] if change is block else ["no decision" if change is no_decision else stands[1]])
    feed.close()
    told = [line.data for line in [line async for line in feed.events()] if line.type == "input.decided"]
    assert [(line["mode"], line["reason"]) for line in told] == [stands]


@pytest.mark.parametrize(("closed", "stands"), [(True, ("silent", "hook_error:guard")), (False, ("speak", "scripted"))])
@pytest.mark.parametrize("late", [False, True])
async def test_s07_061_a_hook_that_fails_blocks_only_when_it_fails_closed(
    kit: RoomEngine, closed: bool, stands: tuple[str, str], late: bool
) -> None:
    watch = Watch(kit)

    @kit.hook(HookTrigger.ON_SPEAK_DECISION, name="guard", fail_closed=closed, timeout=1.0)
    async def guard(event: SpeakDecisionEvent) -> None:
        if late:
            await asyncio.Event().wait()
        raise RuntimeError("broken")

    nova, _ = deciding(MockSpeakPolicy(["speak"]))
    await seat(kit, door := Door(), nova)
    began = clock.now()
    await say(kit, "hello")
    await settled()
    assert watch.modes == [stands]
    assert len(door.replies) == (stands[0] == "speak")
    assert watch.decided_at == [began + 1_000 * late]
    assert watch.decisions[0].duration_ms == 0
