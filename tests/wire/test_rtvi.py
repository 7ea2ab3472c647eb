"""RTVI, with Pipecat's own client in a real Chromium: the handshake, a talk, an interruption, commands, mute, dialling again."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.wire.door import Receiver, door
from tests.wire.pipecat_page import PipecatPage, bundled, calling, page_server
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType
from voiceagent.web.auth import issue
from voiceagent.web.settings import WebSettings

SECRET = "a-secret-of-at-least-thirty-two-characters"


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled page."""
    return bundled(tmp_path_factory.mktemp("pipecat"))


@asynccontextmanager
async def lobby(folder: Path, **settings: Any) -> AsyncIterator[tuple[PipecatPage, Receiver, RoomEngine]]:
    """A page of another origin, and the web app with nobody behind it who speaks."""
    async with page_server(folder) as page_url:
        allowed = WebSettings(allowed_origins=(page_url.rstrip("/"),), **settings)
        async with door(allowed) as (url, receiver, engine), calling(page_url, url) as page:
            yield page, receiver, engine


async def test_the_handshake_repeats_the_id_and_names_a_version_that_the_client_knows(page_folder: Path) -> None:
    async with lobby(page_folder) as (page, receiver, _):
        sent = "window.sent = []; const s = RTCDataChannel.prototype.send; RTCDataChannel.prototype.send = function (m) "
        await page.run(f"(() => {{ {sent} {{ window.sent.push(m); return s.call(this, m); }}; }})()")
        ready = await page.dial(requestData={"name": "Anna"})
        recorder = await receiver.next()
        told = (await page.all_told())[0]
        asked = json.loads(await page.run("window.sent.find((message) => message.includes('client-ready'))"))
        await page.told("stream.snapshot")
        state = await page.run("window.client.state")
    assert told["type"] == "bot-ready"
    assert told["id"] == asked["id"]
    assert ready["version"].startswith("2.")
    assert ready["about"]["library"] == "voiceagent"
    assert ready["about"]["participant_id"] == recorder.participant.id
    assert recorder.participant.display_name == "Anna"
    assert state == "ready"


async def test_a_client_comes_from_an_allowed_origin_with_a_token_and_is_told_why_not(page_folder: Path) -> None:
    async with lobby(page_folder, token_secret=SECRET) as (page, receiver, _):
        refused = await page.run(f"window.dial('{page.url}v1/rooms/lobby/rtvi').catch((error) => String(error.status))")
        await page.open(page.page.url)  # the client's media manager stumbles over a microphone that it lets go while it takes it
        token = issue(SECRET, "lobby", 2_000_000_000)
        ready = await page.dial(headers={"authorization": f"Bearer {token}"})
        await receiver.next()
    assert refused == "401"
    assert ready["version"].startswith("2.")


async def test_events_of_ours_come_as_server_messages_with_their_numbers(page_folder: Path) -> None:
    async with lobby(page_folder) as (page, _, engine):
        await page.dial()
        engine.feed("lobby").publish("agent.state", {"state": "thinking"})
        engine.feed("lobby").publish("thing.secret", {}, audience="host")
        engine.feed("lobby").publish("agent.state", {"state": "idle"})
        await page.told("agent.state", 2)
        ours = [message["data"] for message in await page.all_told() if message["type"] == "server-message"]
    states = [line for line in ours if line["type"] == "agent.state"]
    assert [line["data"]["state"] for line in states] == ["thinking", "idle"]
    assert states[0]["room_id"] == "lobby"
    assert states[1]["seq"] == states[0]["seq"] + 2
    assert "thing.secret" not in [line["type"] for line in ours]
    assert ours[0]["type"] == "stream.snapshot"


async def test_commands_are_answered_under_their_ids_and_do_what_they_say(page_folder: Path) -> None:
    async with lobby(page_folder) as (page, receiver, engine):
        await page.dial()
        recorder = await receiver.next()
        ack = await page.run("window.client.sendClientRequest('input.submit', { text: 'Hello?' })")
        await page.told("input.accepted")
        refusal = "window.client.sendClientRequest('{}', {}).catch((m) => m.type + ': ' + m.data.error)"
        unknown = await page.run(refusal.format("room.explode", "{}"))
        stale = await page.run(refusal.format("generation.cancel", "{ generation_id: 'gone' }"))
        bad = await page.run(refusal.format("input.submit", "{ text: 5 }"))
        await page.run("window.client.sendText('Typed.')")
        await page.told("input.accepted", 2)
        await page.run("window.client.sendText('Kept.', { run_immediately: false })")
        await page.told("input.accepted", 3)
        await page.run("window.client.sendText('Shown.', { audio_response: false })")
        spoken = await page.told("error-response", 4)
        events = [e for e in engine.context("lobby").recent_events if e.type is EventType.MESSAGE]
    assert ack["accepted"]
    assert unknown.startswith("error-response: there is no such command")
    assert stale == "error-response: no such answer is being made here"
    assert bad.startswith("error-response: ")
    assert spoken["data"]["error"].startswith("answers are spoken here")
    assert [event.content.body for event in events] == ["Hello?", "Typed.", "Kept."]
    assert [event.addressed_to for event in events] == [None, None, ()]
    assert {event.source.participant_id for event in events} == {recorder.participant.id}
    assert events[0].id == ack["input_id"]


async def test_a_microphone_that_is_off_is_told_to_the_room(page_folder: Path) -> None:
    async with lobby(page_folder) as (page, receiver, _):
        await page.dial()
        recorder = await receiver.next()
        await page.run("window.client.enableMic(false)")
        off = await page.told("participant.muted")
        await page.run("window.client.enableMic(true)")
        on = await page.told("participant.muted", 2)
    assert off["data"]["data"] == {"participant_id": recorder.participant.id, "muted": True}
    assert on["data"]["data"]["muted"] is False


async def test_what_is_no_message_is_told_so_and_ends_nothing(page_folder: Path) -> None:
    rubbish = [
        "{",
        "[]",
        "null",
        '{"label":"rtvi-ai"}',
        '{"label":"rtvi-ai","type":5,"id":"a"}',
        '{"type":"signalling"}',
        "[" * 5000,
    ]
    async with lobby(page_folder) as (page, _, _):
        await page.dial()
        for text in rubbish:
            await page.page.evaluate("(text) => window.transport.dc.send(text)", text)
        await page.told("error", len(rubbish))
        await page.page.evaluate("(text) => window.transport.dc.send(text)", '{"label":"rtvi-ai","type":"dance","id":"d1"}')
        unserved = await page.told("error-response")
        assert await page.run("window.client.state") == "ready"
    assert unserved["id"] == "d1"


async def test_a_client_that_dials_again_is_the_same_person_on_one_line(page_folder: Path) -> None:
    async with lobby(page_folder) as (page, receiver, _):
        await page.dial()
        first = await receiver.next()
        await page.run("window.transport.attemptReconnection(true)")
        second = await receiver.next()
        async with asyncio.timeout(10):
            await first.ended.wait()
        await second.until(50)
        assert not second.ended.is_set()
    assert second.participant.id == first.participant.id


async def test_an_offer_for_the_line_that_stands_leaves_it_standing(page_folder: Path) -> None:
    async with lobby(page_folder) as (page, receiver, engine):
        await page.dial()
        recorder = await receiver.next()
        await page.run("window.transport.attemptReconnection(false)")
        await recorder.until(len(recorder.heard) + 50)
        engine.feed("lobby").publish("agent.state", {"state": "idle"})
        await page.told("agent.state")
        assert not recorder.ended.is_set()
        assert receiver.calls.empty()


@pytest.mark.parametrize("who", ["the client", "this side", "its own wish"])
async def test_the_line_ends_whoever_ends_it_and_nobody_dials_again(page_folder: Path, who: str) -> None:
    async with lobby(page_folder) as (page, receiver, _):
        await page.dial()
        recorder = await receiver.next()
        await recorder.until(25)
        match who:
            case "the client":
                await page.run("window.client.disconnect()")
            case "this side":
                await recorder.call.hang_up()
            case _:
                await page.run("window.client.disconnectBot()")
        async with asyncio.timeout(10):
            await recorder.ended.wait()
        await page.called("onDisconnected")
        left = await page.run("window.called.filter((one) => one.name === 'onBotDisconnected').length")
        assert left == (0 if who == "the client" else 1)
        assert receiver.calls.empty()


async def test_requests_that_cannot_be_served_say_why() -> None:
    async with door() as (url, _, _), httpx.AsyncClient(base_url=f"{url}v1/rooms/lobby") as client:
        offer = {"sdp": "v=0", "type": "offer", "pc_id": None, "restart_pc": False}
        answers = [
            await client.post("/rtvi", json=offer),
            await client.post("/rtvi", json={**offer, "pc_id": "short"}),
            await client.post("/rtvi", json={**offer, "requestData": {"name": 5}}),
            await client.post("/rtvi", json={**offer, "type": "answer"}),
            await client.patch("/rtvi", json={"pc_id": "k" * 32, "candidates": []}),
            await client.patch("/rtvi", json={"candidates": []}),
        ]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 400, 404, 400]
    assert all(answer.json()["error"] for answer in answers)


async def test_another_origin_is_answered_only_where_it_is_allowed() -> None:
    asks = {"origin": "https://talk.example.org", "access-control-request-method": "POST"}
    allowed = WebSettings(allowed_origins=("https://talk.example.org",))
    async with door(allowed) as (url, _, _), httpx.AsyncClient() as client:
        welcome = await client.options(f"{url}v1/rooms/lobby/rtvi", headers=asks)
    async with door() as (url, _, _), httpx.AsyncClient() as client:
        refused = await client.options(f"{url}v1/rooms/lobby/rtvi", headers=asks)
    assert welcome.status_code == 200
    assert welcome.headers["access-control-allow-origin"] == "https://talk.example.org"
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
