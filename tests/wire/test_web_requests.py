"""Requests that no page of ours would send, by a plain HTTP client; and the event stream, resumed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import cast

import httpx
import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription
from pydantic import SecretStr

from tests.wire.door import door
from voiceagent.room.events import InboundMessage, TextContent
from voiceagent.values import JSON
from voiceagent.web.auth import issue
from voiceagent.web.settings import WebSettings

KEY = "k" * 32
SECRET = "s" * 40


def _offer(sdp: str, **fields: JSON) -> dict[str, JSON]:
    return {"sdp": sdp, "type": "offer", "name": "Anna", "participant": KEY, **fields}


async def _peer() -> tuple[RTCPeerConnection, str]:
    peer = RTCPeerConnection()
    peer.addTransceiver("audio", direction="sendrecv")
    await peer.setLocalDescription(await peer.createOffer())
    return peer, peer.localDescription.sdp


@pytest.mark.parametrize(
    "sdp",
    [
        "rubbish",
        "v=0",
        "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n",
        "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n",
        "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio x y z\r\na=candidate:\r\n",
        "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=rtpmap:96 VP8/90000\r\n",
        "m=" * 10_000,
        "\x00\uffff" * 100,
    ],
    ids=["words", "version", "no media", "bare audio", "no numbers", "video", "long", "controls"],
)
async def test_garbage_for_an_offer_is_refused_in_words(sdp: str) -> None:
    async with door() as (url, receiver, _), httpx.AsyncClient(base_url=url) as client:
        answer = await client.post("v1/rooms/lobby/offer", json=_offer(sdp))
        assert answer.status_code == 400
        assert "offer cannot be used" in answer.json()["error"]
        assert (await client.get("healthz")).json() == {"ok": True}
        assert receiver.all == []


async def test_an_offer_with_one_line_broken_is_refused_or_answered_and_never_an_error() -> None:
    peer, sdp = await _peer()
    await peer.close()
    lines = sdp.split("\r\n")
    async with door(WebSettings(offers_per_minute=1000)) as (url, _, _), httpx.AsyncClient(base_url=url) as client:
        for broken in range(len(lines)):
            for change in ("", "a=", lines[broken][: len(lines[broken]) // 2]):
                bad = "\r\n".join([*lines[:broken], change, *lines[broken + 1 :]])
                answer = await client.post("v1/rooms/lobby/offer", json=_offer(bad))
                assert answer.status_code in (200, 400), (lines[broken], change, answer.text)


async def test_ten_megabytes_are_refused_and_not_kept_and_more_is_cut_off() -> None:
    async def body(times: int = 1) -> AsyncIterator[bytes]:
        for _ in range(160 * times):
            yield b" " * 65_536

    async with door() as (url, _, _), httpx.AsyncClient(base_url=url) as client:
        whole = await client.post("v1/rooms/lobby/offer", json=_offer("x" * 10_000_000))
        assert whole.status_code == 413
        piece = await client.post("v1/rooms/lobby/offer", content=body(), headers={"content-type": "application/json"})
        assert piece.status_code == 413
        with pytest.raises(httpx.TransportError):
            await client.post("v1/rooms/lobby/offer", content=body(10), headers={"content-type": "application/json"})
        assert (await client.get("healthz")).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[" * 60_000, 400),
        (b"null", 400),
        (b"\xff\xfe", 400),
        (json.dumps(_offer("v=0", admin=True)).encode(), 400),
        (json.dumps(_offer("v=0") | {"type": "answer"}).encode(), 400),
        (json.dumps(_offer("v=0") | {"name": 7}).encode(), 400),
        (json.dumps(_offer("v=0") | {"participant": "short"}).encode(), 400),
    ],
)
async def test_bodies_that_fit_nothing(body: bytes, status: int) -> None:
    async with door() as (url, _, _), httpx.AsyncClient(base_url=url) as client:
        answer = await client.post("v1/rooms/lobby/offer", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == status
        assert len(answer.json()["error"]) < 300
        plain = await client.post("v1/rooms/lobby/offer", content=body, headers={"content-type": "text/plain"})
        assert plain.status_code == 415


async def test_other_sites_and_other_names_are_refused() -> None:
    async with door() as (url, _, _), httpx.AsyncClient(base_url=url) as client:
        offer = _offer("v=0")
        assert (
            await client.post("v1/rooms/lobby/offer", json=offer, headers={"origin": "http://evil.example"})
        ).status_code == 403
        assert (await client.get("v1/rooms/lobby/events", headers={"origin": "http://evil.example"})).status_code == 403
        assert (await client.get("", headers={"host": "evil.example"})).status_code == 421
        assert (await client.delete("v1/rooms/lobby/line", headers={"origin": "null"})).status_code == 403
        page = await client.get("")
        assert page.status_code == 200
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy.replace("https", "http").replace("http-equiv", "")


async def test_a_room_behind_a_token() -> None:
    settings = WebSettings(token_secret=SecretStr(SECRET))
    async with door(settings) as (url, _, _), httpx.AsyncClient(base_url=url) as client:
        token = issue(SECRET, "lobby", int(time.time()) + 60)
        bearer = {"authorization": f"Bearer {token}"}
        assert (await client.get("v1/rooms/lobby/events")).status_code == 401
        assert (await client.post("v1/rooms/lobby/offer", json=_offer("x"))).status_code == 401
        assert (await client.post("v1/rooms/lobby/offer", json=_offer("x"), headers=bearer)).status_code == 400
        assert (await client.post("v1/rooms/other/offer", json=_offer("x"), headers=bearer)).status_code == 403
        assert (await client.get("v1/status")).json()["token_required"] is True


async def test_what_one_client_may_ask_is_bounded() -> None:
    async with door(WebSettings(offers_per_minute=3)) as (url, _, _), httpx.AsyncClient(base_url=url) as client:
        statuses = [(await client.post("v1/rooms/lobby/offer", json=_offer("x"))).status_code for _ in range(4)]
        assert statuses == [400, 400, 400, 429]


async def test_rooms_and_people_are_bounded() -> None:
    settings = WebSettings(max_rooms=1, max_people=1)
    async with door(settings) as (url, receiver, _), httpx.AsyncClient(base_url=url) as client:
        peer, sdp = await _peer()
        answer = (await client.post("v1/rooms/one/offer", json=_offer(sdp))).json()
        await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
        recorder = await receiver.next()
        full = await client.post("v1/rooms/one/offer", json=_offer(sdp, participant="j" * 32))
        assert (full.status_code, "full" in full.json()["error"]) == (503, True)
        other = await client.post("v1/rooms/two/offer", json=_offer(sdp, participant="j" * 32))
        assert other.status_code == 503
        wrong = await client.delete("v1/rooms/one/line", headers={"participant-key": "j" * 32})
        assert wrong.status_code == 204
        assert not recorder.ended.is_set()
        await client.delete("v1/rooms/one/line", headers={"participant-key": KEY})
        async with asyncio.timeout(5):
            await recorder.ended.wait()
        await peer.close()


async def test_only_those_on_the_line_type_and_twice_is_once() -> None:
    async with door() as (url, receiver, _), httpx.AsyncClient(base_url=url) as client:
        holder = {"participant-key": KEY}
        said: dict[str, JSON] = {"text": "hello", "key": "12345678"}
        assert (await client.post("v1/rooms/lobby/messages", json=said, headers=holder)).status_code == 404
        peer, sdp = await _peer()
        answer = (await client.post("v1/rooms/lobby/offer", json=_offer(sdp))).json()
        await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
        await receiver.next()
        first = (await client.post("v1/rooms/lobby/messages", json=said, headers=holder)).json()
        again = (await client.post("v1/rooms/lobby/messages", json=said, headers=holder)).json()
        assert first["event_id"] == again["event_id"]
        assert (first["duplicate"], again["duplicate"]) == (False, True)
        for text in ("", "   ", "x" * 4001):
            assert (await client.post("v1/rooms/lobby/messages", json={"text": text}, headers=holder)).status_code == 400
        await peer.close()


async def _read(lines: AsyncIterator[str], until: str) -> list[dict[str, JSON]]:
    """The stream's events up to the first of a type."""
    events: list[dict[str, JSON]] = []
    async for line in lines:
        if line.startswith("data: "):
            events.append(json.loads(line.removeprefix("data: ")))
            if events[-1]["type"] == until:
                break
    return events


async def test_the_stream_goes_on_where_it_broke_off_and_keeps_what_is_for_hosts() -> None:
    async with door() as (url, _, engine), httpx.AsyncClient(base_url=url) as client:
        async with client.stream("GET", "v1/rooms/lobby/events") as response:
            lines = response.aiter_lines()
            ready = (await _read(lines, "stream.snapshot"))[0]
            feed = engine.feed("lobby")
            feed.publish("first", {})
            feed.publish("secret", {}, audience="host")
            feed.publish("level", {"dbfs": -20}, durable=False)
            await engine.process_inbound(InboundMessage("web", TextContent("hello")), room_id="lobby")
            feed.publish("second", {})
            events = await _read(lines, "second")
        types = [event["type"] for event in events]
        assert types[0] == "first"
        assert "secret" not in types
        assert "level" in types
        assert "room.event" in types
        seq = cast("int", events[0]["seq"])
        async with client.stream("GET", "v1/rooms/lobby/events", headers={"last-event-id": str(seq)}) as response:
            rest = await _read(response.aiter_lines(), "second")
        assert [event["type"] for event in rest if "seq" in event] == [t for t in types[1:] if t != "level"]
        data = cast("dict[str, JSON]", ready["data"])
        async with client.stream("GET", "v1/rooms/lobby/events?after=999&epoch=another") as response:
            anew = await _read(response.aiter_lines(), "second")
        assert "first" in [event["type"] for event in anew]
        assert data["epoch"]
        assert (await client.get("v1/rooms/lobby/events?after=x")).status_code == 400


async def test_only_hosts_are_shown_what_the_agent_decides() -> None:
    secret = "s" * 40
    settings = WebSettings(token_secret=SecretStr(secret))
    expires = int(time.time()) + 60
    async with door(settings) as (url, _, engine), httpx.AsyncClient(base_url=url) as client:
        for host in (True, False):
            headers = {"authorization": f"Bearer {issue(secret, 'lobby', expires, host=host)}"}
            async with client.stream("GET", "v1/rooms/lobby/events", headers=headers) as response:
                lines = response.aiter_lines()
                ready = (await _read(lines, "stream.snapshot"))[0]
                feed = engine.feed("lobby")
                for type in ("input.decided", "thought.updated", "room.listening", "generation.started"):
                    feed.publish(type, {}, audience="host")
                feed.publish("end", {})
                types = [event["type"] for event in await _read(lines, "end")]
            assert cast("dict[str, JSON]", ready["data"])["host"] is host
            assert types == (["input.decided", "thought.updated", "room.listening", "end"] if host else ["end"])
