"""The check that every scenario passes: a line that the table does not promise is noticed; and a committed event's line fits."""

import pytest

from tests.scenario.lines import TYPES, fault, watching
from tests.scenario.rooms import ROOM, Door, agent, say, seat, settled
from voiceagent.llm.model import ToolCall
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import Feed
from voiceagent.web.schema.table import LINES


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("agent.state", {"state": "idle"}, True, "all"), None),
        (("agent.states", {"state": "idle"}, True, "all"), "no type"),
        (("agent.state", {"state": "asleep"}, True, "all"), "state"),
        (("agent.state", {}, True, "all"), "state"),
        (("agent.state", {"state": "idle", "mood": "good"}, True, "all"), "mood"),
        (("agent.state", {"state": "idle"}, False, "all"), "droppable"),
        (("level", {"participant_id": "p", "dbfs": -20.0}, True, "all"), "durable"),
        (("thought.updated", {"text": "", "want_to_say": [], "urgent": False}, True, "all"), "hosts"),
    ],
)
def test_what_does_not_fit_the_table_is_noticed(line: tuple[str, dict[str, object], bool, str], told: str | None) -> None:
    found = fault(*line)
    assert found is None if told is None else found is not None and told in found


def test_only_the_programs_own_lines_are_held_against_the_table() -> None:
    faults: list[str] = []
    publish, feed = watching(lambda *given, **options: None, faults), Feed(ROOM)
    publish(feed, "made.up", {})
    eval("publish(feed, 'made.up', {})", {"__name__": "voiceagent.somewhere", "publish": publish, "feed": feed})
    assert len(faults) == 1


async def test_the_line_of_a_committed_event_fits_too(kit: RoomEngine) -> None:
    await seat(kit, Door(), agent([ToolCall("c1", "none", "{}")], "There is no such tool."))
    reader = kit.feed(ROOM).subscribe()
    await say(kit, "hello")
    await settled()
    reader.close()
    lines = [line.as_json() async for line in reader.events()]
    assert {line["type"] for line in lines} >= {"room.event", "tool.ended", "generation.finished"}
    for line in lines:
        TYPES[str(line["type"])].data.model_validate(line["data"], extra="forbid")
    assert len(LINES) == len(TYPES)
