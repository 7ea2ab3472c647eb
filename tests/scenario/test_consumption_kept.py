"""Answers that text channels take and people read, and what stays known of all answers whatever becomes of process and store."""

from pathlib import Path

import pytest

from tests.scenario.rooms import ROOM as R
from tests.scenario.rooms import Door, Whole, agent, say, seat, settled, words
from tests.scenario.test_consumption import answers_of, states
from voiceagent import clock
from voiceagent.errors import RoomError, StoreError
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.consumption.sqlite import SqliteConsumption
from voiceagent.room.consumption.state import Consumption, Row
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, Participant, RoomEvent, TextContent
from voiceagent.room.sqlite import SqliteStore


async def test_a_text_channel_that_took_an_answer_has_delivered_it_and_a_page_reports_that_it_was_read(kit: RoomEngine) -> None:
    door, whole = Door(), Whole("assistant", lambda event: [words(event, "Good.")])
    await seat(kit, door, whole)
    reader = kit.feed(R).subscribe()
    await kit.join(R, Participant("ana", "Ana", connected_via=("text",)))
    await kit.join(R, Participant("ben", "Ben", connected_via=("text",)))
    await kit.join(R, Participant("gone", "Gone", connected_via=("text",)))
    await kit.leave(R, "gone")
    asked = await say(kit, "how is it")
    await settled(1_000)
    (answer,) = await answers_of(kit, R)
    assert await states(kit, answer) == {"ana": "delivered", "ben": "delivered"}
    await kit.read(answer.id, "ana")
    await kit.read(answer.id, "ana")
    assert await states(kit, answer) == {"ana": "read", "ben": "delivered"}
    assert await kit.consumption(asked.id) == ()
    await kit.read(asked.id, "ben")
    assert await states(kit, asked) == {"ben": "read"}
    await settled(1_000)
    reader.close()
    lines = [line async for line in reader.events() if line.type == "consumption.updated"]
    assert [(line.data["event_id"], line.data["participant_id"], line.data["state"]) for line in lines] == [
        (answer.id, "ana", "delivered"),
        (answer.id, "ben", "delivered"),
        (answer.id, "ana", "read"),
        (asked.id, "ben", "read"),
    ]
    assert {(line.channel_id, line.responds_to, line.generation_id) for line in lines[:3]} == {("assistant", asked.id, None)}


async def test_a_text_channel_that_does_not_say_for_whom_has_taken_it_all_the_same(kit: RoomEngine) -> None:
    await seat(kit, Door(), Whole("assistant", lambda event: [words(event, "Good.")]))
    await say(kit, "how is it", sender=None)
    await settled(1_000)
    (answer,) = await answers_of(kit, R)
    assert await states(kit, answer) == {None: "delivered"}
    await kit.read(answer.id, "somebody")
    assert [(one.channel_id, one.participant_id, one.state) for one in await kit.consumption(answer.id)] == [
        ("text", None, "delivered"),
        ("text", "somebody", "read"),
    ]


async def test_a_text_channel_that_fails_has_delivered_nothing(kit: RoomEngine) -> None:
    class Broken(Channel):
        async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
            raise ConnectionError("gone")

    broken = Broken("text", ChannelType.TEXT)
    await seat(kit, broken, Whole("assistant", lambda event: [words(event, "Good.")]))
    await say(kit, "how is it")
    await settled(1_000)
    (answer,) = await answers_of(kit, R)
    assert await kit.consumption(answer.id) == ()


async def test_only_a_message_of_an_open_room_can_be_read(kit: RoomEngine) -> None:
    await seat(kit, Door(), agent("Good."))
    said = await say(kit, "how is it")
    await kit.create_room("other")
    for event_id, room_id in (("none", None), ("none", R), (said.id, "other"), (said.id, "closed")):
        with pytest.raises(RoomError, match="open"):
            await kit.read(event_id, "ana", room_id=room_id)
    await kit.read(said.id, "ana", room_id=R, channel_id="mail")
    assert [(one.channel_id, one.state) for one in await kit.consumption(said.id)] == [("mail", "read")]


async def test_what_is_not_for_everybody_is_told_to_hosts_alone(kit: RoomEngine) -> None:
    await seat(kit, Door(), Door("other"), Whole("assistant", lambda event: [words(event, "Good.")]))
    reader = kit.feed(R).subscribe()
    message = InboundMessage("text", TextContent("psst"), "ana", response_visibility="text")
    await kit.process_inbound(message, room_id=R)
    await settled(1_000)
    reader.close()
    lines = [line async for line in reader.events() if line.type == "consumption.updated"]
    assert [(line.data["channel_id"], line.data["state"], line.audience) for line in lines] == [("text", "delivered", "host")]


async def test_what_a_killed_process_left_queued_or_playing_is_ended_when_the_room_opens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = SqliteStore(tmp_path / "rooms.db")
    async with RoomEngine(store=store) as kit:
        await seat(kit, Door(), Whole("assistant", lambda event: [words(event, text) for text in ("One.", "Two.", "Three.")]))
        asked = await say(kit, "how is it")
        await settled(1_000)
        one, two, three = await answers_of(kit, R)
        left = SqliteConsumption(store._run)
        for event, state in ((one, "heard"), (two, "playing"), (three, "queued")):
            found = Consumption("voice", "ann", state, 0, 0, event.created_at)  # type: ignore[arg-type]
            await left.put([Row(R, event.id, found)])
    await store.close()
    store = SqliteStore(tmp_path / "rooms.db")
    for told_of in (["cut", "never_played"], []):  # once
        async with RoomEngine(store=store) as kit:
            seq = (await store.feed_lines.end(R)).seq
            await kit.create_room(R)
            kept = [(await states(kit, event))["ann"] for event in (one, two, three)]
            assert kept == ["heard", "cut", "never_played"]
        lines = await store.feed_lines.after(R, seq, 100)
        assert [line.data["state"] for line in lines] == told_of
        assert {line.responds_to for line in lines} <= {asked.id}
    await store.close()
    assert "is not known" not in caplog.text


async def test_reports_wait_for_a_store_that_fails_and_are_known_meanwhile(
    kit: RoomEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rows = type(kit.store.consumption)  # type: ignore[attr-defined]
    put, until = rows.put, clock.now() + 3_500

    async def failing(self, given):  # type: ignore[no-untyped-def]
        if clock.now() < until:
            raise StoreError("full")
        return await put(self, given)

    monkeypatch.setattr(rows, "put", failing)
    await seat(kit, Door(), Whole("assistant", lambda event: [words(event, "Good.")]))
    reader = kit.feed(R).subscribe()
    await say(kit, "how is it")
    await settled(1_000)
    (answer,) = await answers_of(kit, R)
    assert await states(kit, answer) == {None: "delivered"}
    await settled(5_000)
    reader.close()
    (line,) = [line async for line in reader.events() if line.type == "consumption.updated"]
    assert line.at_ms == 4_000
    assert await states(kit, answer) == {None: "delivered"}
    assert caplog.text.count("waits for the store") == 1
