"""A room over a WebSocket, by a client that is not ours: the stream's objects, commands, their acknowledgements, refusals."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator, MutableMapping
from random import Random
from typing import Any, cast

import httpx
import jsonschema_rs
import pytest
from pydantic import SecretStr
from starlette.types import Receive
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.wire.door import Receiver, door, let_in
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import InboundMessage, Participant, TextContent
from voiceagent.values import JSON
from voiceagent.web.auth import issue
from voiceagent.web.names import participant_id
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status

KEY = "k" * 32
SECRET = "s" * 40
FRAMES = 500
Object = dict[str, Any]


@contextlib.asynccontextmanager
async def following(url: str, query: str = "", **options: Any) -> AsyncIterator[ClientConnection]:
    """A WebSocket into the lobby."""
    address = f"{url.replace('http', 'ws', 1)}v1/rooms/lobby/stream{query}"
    async with connect(address, open_timeout=10, close_timeout=5, **options) as socket:
        yield socket


async def until(socket: ClientConnection, *wanted: str) -> list[Object]:
    """Objects up to the first of one of these types."""
    found: list[Object] = []
    async with asyncio.timeout(10):
        while not found or found[-1]["type"] not in wanted:
            found.append(json.loads(await socket.recv()))
    return found


async def ask(socket: ClientConnection, type: str, id: str, **data: JSON) -> Object:
    """Sends a command; its acknowledgement."""
    await socket.send(json.dumps({"type": type, "id": id, "data": data}))
    return cast("Object", (await until(socket, "ack"))[-1]["data"])


async def status(url: str, **options: Any) -> tuple[int, str]:
    """How a WebSocket is refused: the status, and the sentence."""
    with pytest.raises(InvalidStatus) as refused:
        async with following(url, **options):
            pass
    body = json.loads(refused.value.response.body or b"{}")
    return refused.value.response.status_code, str(body["error"])


async def test_a_socket_and_a_stream_carry_the_same_objects() -> None:
    async with door() as (url, _, engine), httpx.AsyncClient(base_url=url) as client, following(url) as socket:
        assert [line["type"] for line in await until(socket, "stream.snapshot")] == ["stream.ready", "stream.snapshot"]
        feed = engine.feed("lobby")
        await engine.process_inbound(InboundMessage("web", TextContent("hello ☎ \ud800")), room_id="lobby")
        feed.publish("level", {"dbfs": -20}, durable=False)
        feed.publish("secret", {}, audience="host")
        feed.publish("end", {})
        live = await until(socket, "end")
        async with client.stream("GET", "v1/rooms/lobby/events?after=0") as response:
            replayed: list[Object] = []
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    replayed.append(json.loads(line.removeprefix("data: ")))
                    if replayed[-1]["type"] == "stream.snapshot":
                        break
        assert [line for line in live if "seq" in line] == [line for line in replayed if "seq" in line]
        assert [line["type"] for line in (replayed[0], replayed[-2], replayed[-1])] == ["stream.ready", "end", "stream.snapshot"]
        assert "secret" not in {line["type"] for line in live}
        async with following(url, "?after=1&types=end,level&audience=host") as other:
            assert [line["type"] for line in await until(other, "stream.snapshot")] == ["stream.ready", "end", "stream.snapshot"]


async def test_tokens_and_keys_come_by_headers_or_among_the_protocols() -> None:
    settings = WebSettings(token_secret=SecretStr(SECRET))
    async with door(settings) as (url, _, engine):
        token = issue(SECRET, "lobby", int(time.time()) + 60)
        assert (await status(url))[0] == 401
        assert (await status(url, additional_headers={"authorization": "Bearer nonsense"}))[0] == 401
        other = issue(SECRET, "other", int(time.time()) + 60)
        assert (await status(url, additional_headers={"authorization": f"Bearer {other}"}))[0] == 403
        assert (await status(url, query="?audience=host", additional_headers={"authorization": f"Bearer {token}"}))[0] == 403
        assert (await status(url, query=f"?token={token}"))[0] == 401
        assert (await status(url, subprotocols=["voiceagent.v1", f"bearer.{token}", "key.short"]))[0] == 400
        async with following(url, additional_headers={"authorization": f"Bearer {token}"}) as socket:
            assert socket.subprotocol is None
            await until(socket, "stream.snapshot")
            await engine.join("lobby", Participant(participant_id(KEY), "Anna"))
            assert (await ask(socket, "input.submit", "00000001", text="hi"))["error"]["code"] == "not_here"
        async with following(url, subprotocols=["voiceagent.v1", f"bearer.{token}", f"key.{KEY}"]) as socket:
            assert socket.subprotocol == "voiceagent.v1"
            await until(socket, "stream.snapshot")
            assert (await ask(socket, "input.submit", "00000001", text="hi"))["accepted"] is True
            assert (await ask(socket, "job.cancel", "00000002", job_id="j"))["error"]["code"] == "not_allowed"


async def test_who_may_not_enter_is_told_why_by_a_plain_answer(capsys: pytest.CaptureFixture[str]) -> None:
    async with door(WebSettings(max_streams=1, requests_per_minute=10)) as (url, _, _):
        assert (await status(url, origin="http://evil.example"))[0] == 403
        assert await status(url, query="?after=x") == (400, "Last-Event-ID and after are whole numbers")
        assert (await status(url, query="?types=<b>"))[0] == 400
        with pytest.raises(InvalidStatus) as nowhere:
            await connect(f"{url.replace('http', 'ws', 1)}v1/nothing")
        assert nowhere.value.response.status_code == 404
        async with following(url, origin=url.rstrip("/")):
            assert (await status(url))[0] == 503
        for _ in range(10):
            with contextlib.suppress(InvalidStatus):
                async with following(url):
                    pass
        assert (await status(url))[0] == 429
    assert capsys.readouterr().err == ""


async def test_a_command_is_done_once_and_acknowledged_each_time() -> None:
    async with door() as (url, _, engine), following(url, additional_headers={"participant-key": KEY}) as socket:
        await until(socket, "stream.snapshot")
        first = await ask(socket, "input.submit", "00000001", text=" Hello <b>you</b> ")
        again = await ask(socket, "input.submit", "00000001", text=" Hello <b>you</b> ")
        other = await ask(socket, "input.submit", "00000001", text="Something else")
        assert (first["id"], first["accepted"], first["duplicate"]) == ("00000001", True, False)
        assert (again["accepted"], again["duplicate"], again["input_id"]) == (True, True, first["input_id"])
        assert (other["accepted"], other["error"]["code"]) == (False, "id_reused")
        said = [event for event in engine.context("lobby").recent_events if event.type == "message"]
        assert [(event.content.body, event.source.participant_id) for event in said] == [
            ("Hello <b>you</b>", participant_id(KEY))
        ]
        assert said[0].id == first["input_id"]
        for type in ("generation.cancel", "job.cancel"):
            data: dict[str, JSON] = {"job_id" if type == "job.cancel" else "generation_id": "none"}
            assert (await ask(socket, type, f"{type}-1", **data))["error"]["code"] == "not_active"
        assert (await ask(socket, "message.read", "00000003", event_id="none"))["error"]["code"] == "not_found"


async def test_the_same_command_by_both_doors_and_after_a_new_connection_is_one() -> None:
    holder = {"participant-key": KEY}
    async with door() as (url, _, _), httpx.AsyncClient(base_url=url, headers=holder) as client:
        command: dict[str, JSON] = {"type": "input.submit", "id": "00000001", "data": {"text": "Hello"}}
        first = (await client.post("v1/rooms/lobby/commands", json=command)).json()
        async with following(url, additional_headers=holder) as socket:
            again = await ask(socket, "input.submit", "00000001", text="Hello")
        typed = (await client.post("v1/rooms/lobby/commands", json=command)).json()
        assert (first["duplicate"], again["duplicate"], typed["duplicate"]) == (False, True, True)
        assert first["input_id"] == again["input_id"] == typed["input_id"]
        assert (await client.post("v1/rooms/lobby/commands", json={**command, "type": "input.shout"})).status_code == 400
        assert (await client.post("v1/rooms/lobby/commands", content=b"{}")).status_code == 415


@pytest.mark.parametrize(
    ("frame", "id", "code"),
    [
        ("", None, "bad_command"),
        ("{", None, "bad_command"),
        ("null", None, "bad_command"),
        ("[" * 5000, None, "bad_command"),
        ('{"type":"input.submit"}', None, "bad_command"),
        ('{"type":"input.submit","id":7,"data":{"text":"x"}}', None, "bad_command"),
        ('{"type":"input.shout","id":"00000001","data":{"text":"x"}}', "00000001", "unknown_command"),
        ('{"type":"input.submit","id":"00000001","data":{"text":""}}', "00000001", "bad_command"),
        ('{"type":"input.submit","id":"00000001","data":{"text":"  "}}', "00000001", "bad_command"),
        ('{"type":"input.submit","id":"00000001","data":{"text":"x","admin":true}}', "00000001", "bad_command"),
        ('{"type":"input.submit","id":"00000001","data":{"text":["x"]}}', "00000001", "bad_command"),
        ('{"type":"generation.cancel","id":"00000001","data":{"generation_id":"a b"}}', "00000001", "bad_command"),
        (json.dumps({"type": "input.submit", "id": "00000001", "data": {"text": "x" * 5000}}), "00000001", "bad_command"),
    ],
)
async def test_what_is_no_command_is_told_so_and_the_socket_stays(frame: str, id: str | None, code: str) -> None:
    async with door() as (url, _, _), following(url) as socket:
        await until(socket, "stream.snapshot")
        await socket.send(frame)
        ack = (await until(socket, "ack"))[-1]["data"]
        assert (ack["id"], ack["accepted"], ack["error"]["code"]) == (id, False, code)
        assert len(ack["error"]["message"]) < 300
        assert (await ask(socket, "input.submit", "00000002", text="still here"))["accepted"] is True


@pytest.mark.parametrize(("frame", "code"), [("x" * 70_000, 1009), (b"bytes", 1003)], ids=["large", "bytes"])
async def test_what_no_client_sends_ends_its_socket_alone(frame: str | bytes, code: int) -> None:
    async with door() as (url, _, _), following(url) as socket, following(url) as other:
        await until(other, "stream.snapshot")
        await socket.send(frame)
        with pytest.raises(ConnectionClosed) as closed:
            await until(socket, "never")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code
        assert (await ask(other, "input.submit", "00000001", text="hi"))["accepted"] is True


def _frames(random: Random) -> Iterator[str]:
    """Commands with one thing wrong, or more: pieces cut out, doubled, or changed for what JSON or a command may not hold."""
    whole = [
        {"type": "input.submit", "id": "00000000", "data": {"text": "Hello"}},
        {"type": "generation.steer", "id": "00000000", "data": {"text": "Hello", "generation_id": "g"}},
        {"type": "generation.cancel", "id": "00000000", "data": {"generation_id": "g"}},
        {"type": "job.cancel", "id": "00000000", "data": {"job_id": "j"}},
        {"type": "message.read", "id": "00000000", "data": {"event_id": "e"}},
        {"type": "input.withdraw", "id": "00000000", "data": {"input_id": "i"}},
    ]
    pieces = ["\x00", "\\ud800", "\uffff", "{", "}", "[", '"', "null", "1e999", "NaN", "-", "<script>", "\\u0000", "é", "9" * 400]
    for number in range(FRAMES):
        text = json.dumps({**random.choice(whole), "id": f"fuzz-{number:05}"})
        for _ in range(random.randint(1, 3)):
            at, to = sorted(random.choices(range(len(text) + 1), k=2))
            text = text[:at] + random.choice([*pieces, text[at:to] * 2]) + text[random.choice((at, to)) :]
        yield text


async def test_every_broken_frame_is_acknowledged_and_none_ends_the_socket() -> None:
    settings = WebSettings(requests_per_minute=100_000, messages_per_minute=100_000)
    async with door(settings) as (url, _, _), following(url, additional_headers={"participant-key": KEY}) as socket:
        await until(socket, "stream.snapshot")
        for frame in _frames(Random(5)):
            await socket.send(frame)
            ack = (await until(socket, "ack"))[-1]
            assert ack["data"]["accepted"] or ack["data"]["error"]["message"], frame
        assert (await ask(socket, "input.submit", "00000001", text="still here"))["accepted"] is True


async def test_who_commands_too_often_is_told_so_and_keeps_following() -> None:
    async with door(WebSettings(messages_per_minute=2)) as (url, _, engine), following(url) as socket:
        await until(socket, "stream.snapshot")
        acks = [await ask(socket, "input.submit", f"0000000{n}", text="hi") for n in range(3)]
        assert [ack["accepted"] for ack in acks] == [True, True, False]
        assert acks[2]["error"]["code"] == "too_many"
        engine.feed("lobby").publish("end", {})
        await until(socket, "end")


async def test_a_token_that_expires_ends_the_socket_and_says_so() -> None:
    settings = WebSettings(token_secret=SecretStr(SECRET))
    async with door(settings) as (url, _, _):
        token = issue(SECRET, "lobby", int(time.time()) + 2)
        async with following(url, subprotocols=["voiceagent.v1", f"bearer.{token}"]) as socket:
            assert (await until(socket, "stream.closed"))[-1]["data"] == {"reason": "token_expired"}
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008


async def test_a_room_that_closes_ends_the_socket_and_says_so() -> None:
    async with door() as (url, _, engine), following(url) as socket:
        await until(socket, "stream.snapshot")
        await engine.close_room("lobby")
        assert (await until(socket, "stream.closed"))[-1]["data"] == {"reason": "room_closed"}


async def test_who_breaks_off_in_the_middle_leaves_nothing_behind(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = WebSettings(max_streams=5, requests_per_minute=100_000)
    async with door(settings) as (url, _, engine), httpx.AsyncClient(base_url=url) as client:
        for _ in range(5):
            async with following(url, additional_headers={"participant-key": KEY}) as socket:
                await until(socket, "stream.snapshot")
                for number in range(50):
                    engine.feed("lobby").publish("large", {"text": "x" * 20_000})
                    await socket.send(json.dumps({"type": "input.submit", "id": f"fill-{number:05}", "data": {"text": "hi"}}))
                socket.transport.abort()
        async with asyncio.timeout(10):
            await let_in(client, 5)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert capsys.readouterr().err == ""


async def test_a_line_that_the_server_below_has_closed_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    """So it is after a frame that breaks the protocol: what is written then is refused before the reader hears of the end."""
    gone = asyncio.Event()

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "websocket.send":
            gone.set()
            raise RuntimeError("'websocket.send' after sending 'websocket.close'")

    async def receive() -> MutableMapping[str, Any]:
        await gone.wait()
        return {"type": "websocket.disconnect", "code": 1007}

    headers = [(b"host", b"127.0.0.1")]
    path = "/v1/rooms/lobby/stream"
    scope: dict[str, Any] = {"type": "websocket", "scheme": "ws", "path": path, "headers": headers, "query_string": b""}
    async with RoomEngine() as engine:
        app = build(Receiver(engine), engine, WebSettings(), lambda: Status("0", "nobody speaks here", "This is a test."))
        async with asyncio.timeout(10):
            await app({**scope, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}, _begin_then(receive), send)
    assert gone.is_set()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


def _begin_then(receive: Receive) -> Receive:
    """A client that asks for a WebSocket, and then is what `receive` makes of it."""
    began = False

    async def first() -> MutableMapping[str, Any]:
        nonlocal began
        if began:
            return await receive()
        began = True
        return {"type": "websocket.connect"}

    return first


async def test_what_goes_over_the_wire_is_what_the_documents_say() -> None:
    async with door() as (url, _, engine), httpx.AsyncClient(base_url=url) as client, following(url) as socket:
        document = (await client.get("v1/asyncapi.json")).json()
        objects = await until(socket, "stream.snapshot")
        await engine.join("lobby", Participant("ana", "Ana"))
        await ask(socket, "input.submit", "00000001", text="Hello")
        engine.feed("lobby").publish("end", {})
        objects += (await until(socket, "end"))[:-1]
        async with following(url, "?after=0") as other:
            objects += [line for line in await until(other, "stream.snapshot") if line["type"] != "end"]
        objects.append((await _refused(socket))[-1])
    assert {line["type"] for line in objects} > {"room.event", "input.settled", "participant.joined", "ack", "stream.ready"}
    for line in objects:
        payload = {"$ref": f"#/components/messages/{line['type']}/payload", "components": document["components"]}
        jsonschema_rs.validator_for(payload).validate(line)


async def _refused(socket: ClientConnection) -> list[Object]:
    await socket.send("{}")
    return await until(socket, "ack")
