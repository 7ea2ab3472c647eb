"""Commands on a room in which an agent works: who may give which, what they do, and what is acknowledged when."""

import json

import pytest
from starlette.requests import HTTPConnection

from tests.scenario.generations import LOOK, Bench, Followed, followed
from tests.scenario.rooms import ROOM, say
from voiceagent import clock
from voiceagent.llm.scripted import Pause
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import InboundMessage, Participant, TextContent
from voiceagent.values import JSON
from voiceagent.web.command import Ack, parse
from voiceagent.web.commands import Commands, Sender
from voiceagent.web.door import Door
from voiceagent.web.rooms import Rooms
from voiceagent.web.settings import WebSettings
from voiceagent.web.standing import Standing

ANA = "web-ana"
HOST = Sender(ROOM, Standing(host=True), None)
GUEST = Sender(ROOM, Standing(host=False), ANA)
NOBODY = Sender(ROOM, Standing(host=False), None)
CONNECTION = HTTPConnection({"type": "http", "client": ("127.0.0.1", 1), "headers": []})


class Client:
    """Gives commands to a room that is followed, and lets time pass between them."""

    def __init__(self, kit: RoomEngine, settings: WebSettings | None = None) -> None:
        self._kit = kit
        self._settings = settings or WebSettings()
        self._rooms = Rooms(kit, 1)
        self._number = 0
        self.start_anew()

    def start_anew(self) -> None:
        """Forgets which commands were given, as a server that is started again does."""
        self._commands = Commands(Door(self._settings), self._rooms, self._kit)

    async def enter(self) -> None:
        await self._rooms.enter(ROOM)

    async def __call__(self, type: str, *, id: str | None = None, **data: JSON) -> Ack:
        """A host's command."""
        return await self.give(HOST, type, data, id)

    async def give(self, sender: Sender, type: str, data: dict[str, JSON], id: str | None = None) -> Ack:
        """Anybody's."""
        self._number += 1
        command = parse(json.dumps({"type": type, "id": id or f"{self._number:08}", "data": data}))
        assert not isinstance(command, Ack), command
        ack = await self._commands.do(CONNECTION, sender, command)
        await clock.sleep_until(clock.now() + 100)
        return ack


async def start(kit: RoomEngine, *turns: object, bench: Bench | None = None) -> tuple[Client, Followed]:
    """A room with an agent that says these turns, and a client in it."""
    room = await followed(kit, *turns, bench=bench)  # type: ignore[arg-type]
    client = Client(kit)
    await client.enter()
    return client, room


async def test_a_text_is_answered_and_its_acknowledgement_tells_how_far_it_has_come(kit: RoomEngine) -> None:
    client, room = await start(kit, ["Yes", Pause(1000), "."])
    first = await client("input.submit", id="00000001", text="Are you there?")
    again = await client("input.submit", id="00000001", text="Are you there?")
    assert (first.disposition, first.duplicate) == ("queued", False)
    assert (again.disposition, again.duplicate, again.input_id) == ("new_turn", True, first.input_id)
    await clock.sleep_until(clock.now() + 2000)
    assert (await client("input.submit", id="00000001", text="Are you there?")).disposition == "answered"
    await room.read()
    assert len(room.all("generation.started")) == 1
    assert room.one("input.accepted")["text"] == "Are you there?"


async def test_a_text_is_known_again_by_a_server_that_was_started_anew(kit: RoomEngine) -> None:
    client, room = await start(kit, "Yes.")
    first = await client("input.submit", id="00000001", text="Are you there?")
    client.start_anew()
    again = await client("input.submit", id="00000001", text="Are you there?")
    changed = await client("input.submit", id="00000001", text="Is anybody there?")
    assert (again.accepted, again.duplicate, again.input_id) == (True, True, first.input_id)
    assert changed.error is not None
    assert changed.error.code == "id_reused"
    await room.read()
    assert len(room.all("input.accepted")) == 1


async def test_an_answer_is_cancelled_once(kit: RoomEngine) -> None:
    client, room = await start(kit, ["Once upon", Pause(60_000), " a time."])
    await say(kit, "Tell me a story")
    await clock.sleep_until(clock.now() + 100)
    generation = room.open_id
    first = await client("generation.cancel", id="00000001", generation_id=generation)
    again = await client("generation.cancel", id="00000001", generation_id=generation)
    later = await client("generation.cancel", generation_id=generation)
    assert (first.accepted, first.disposition) == (True, "requested")
    assert (again.accepted, again.duplicate) == (True, True)
    assert later.error is not None
    assert later.error.code == "not_active"
    await room.read()
    assert room.one("generation.detached")["reason"] == "host"


async def test_steering_goes_into_the_answer_it_names_or_is_refused(kit: RoomEngine) -> None:
    bench = Bench()
    client, room = await start(kit, [LOOK], "Tuesday it is.", bench=bench)
    await say(kit, "Am I free on Monday?")
    await clock.sleep_until(clock.now() + 100)
    generation = room.open_id
    first = await client("generation.steer", id="00000001", text="no, Tuesday", generation_id=generation)
    bench.go.set()
    await clock.sleep_until(clock.now() + 1000)
    again = await client("generation.steer", id="00000001", text="no, Tuesday", generation_id=generation)
    late = await client("generation.steer", text="or Wednesday", generation_id=generation)
    assert (first.accepted, first.disposition) == (True, "queued")
    assert (again.duplicate, again.disposition) == (True, "applied")
    assert late.error is not None
    assert late.error.code == "refused"
    await room.read()
    assert len(room.all("generation.started")) == 1


@pytest.mark.parametrize(
    ("sender", "present", "codes"),
    [
        (HOST, False, {"message.read": "not_allowed", "job.cancel": "not_active", "generation.cancel": "not_active"}),
        (GUEST, True, {"job.cancel": "not_allowed", "generation.cancel": "not_active", "message.read": "not_found"}),
        (
            GUEST,
            False,
            {
                "input.submit": "not_here",
                "generation.steer": "not_here",
                "generation.cancel": "not_here",
                "job.cancel": "not_allowed",
                "message.read": "not_here",
            },
        ),
        (
            NOBODY,
            True,
            {
                "input.submit": "not_here",
                "generation.steer": "not_here",
                "generation.cancel": "not_here",
                "job.cancel": "not_allowed",
                "message.read": "not_allowed",
            },
        ),
    ],
    ids=["host", "guest", "guest who is not there", "guest without a key"],
)
async def test_who_may_give_which_command(kit: RoomEngine, sender: Sender, present: bool, codes: dict[str, str]) -> None:
    client, room = await start(kit, "Yes.", "Yes.")
    await kit.join(ROOM, Participant(ANA, "Ana"))
    if not present:
        await kit.leave(ROOM, ANA)
    wanted: dict[str, dict[str, JSON]] = {
        "input.submit": {"text": "hi"},
        "generation.steer": {"text": "hi"},
        "generation.cancel": {"generation_id": "none"},
        "job.cancel": {"job_id": "none"},
        "message.read": {"event_id": "none"},
    }
    acks = {type: await client.give(sender, type, data) for type, data in wanted.items()}
    assert {type: ack.error.code for type, ack in acks.items() if ack.error is not None} == codes
    await room.read()


async def test_commands_are_bounded_in_number_and_size(kit: RoomEngine) -> None:
    await followed(kit, "Yes.")
    client = Client(kit, WebSettings(messages_per_minute=2, max_text_chars=5))
    await client.enter()
    acks = [await client("input.submit", text=text) for text in ("hi", "hi again", "ho")]
    assert acks[0].accepted
    assert [ack.error.code for ack in acks[1:] if ack.error is not None] == ["bad_command", "too_many"]
    assert (await client("generation.cancel", generation_id="none")).error is not None


async def test_what_a_person_has_read_is_kept_and_only_of_what_they_may_see(kit: RoomEngine) -> None:
    client, room = await start(kit, "Yes.")
    await kit.join(ROOM, Participant(ANA, "Ana"))
    await say(kit, "Are you there?")
    await clock.sleep_until(clock.now() + 1000)
    whisper = await kit.process_inbound(InboundMessage("text", TextContent("psst"), visibility="assistant"), room_id=ROOM)
    answer = next(event for event in kit.context(ROOM).recent_events if event.responds_to is not None)
    assert whisper.event is not None
    first = await client.give(GUEST, "message.read", {"event_id": answer.id})
    hidden = await client.give(GUEST, "message.read", {"event_id": whisper.event.id})
    assert (first.accepted, first.disposition) == (True, "read")
    assert hidden.error is not None
    assert hidden.error.code == "not_found"
    assert "read" in {one.state for one in await kit.consumption(answer.id) if one.participant_id == ANA}
    await room.read()
