"""Lines of browsers that are refused, replaced, too many, or no longer invited."""

import asyncio
import time

import httpx
from aiortc import RTCPeerConnection, RTCSessionDescription
from pydantic import SecretStr

from tests.wire.door import door
from voiceagent.values import JSON
from voiceagent.web.auth import issue
from voiceagent.web.settings import WebSettings

KEY = "k" * 32
SECRET = "s" * 40
HOLDER = {"participant-key": KEY}


def _offer(sdp: str, name: str = "Anna", key: str = KEY) -> dict[str, JSON]:
    return {"sdp": sdp, "type": "offer", "name": name, "participant": key}


async def _peer() -> tuple[RTCPeerConnection, str]:
    peer = RTCPeerConnection()
    peer.addTransceiver("audio", direction="sendrecv")
    await peer.setLocalDescription(await peer.createOffer())
    return peer, peer.localDescription.sdp


async def test_a_refused_offer_changes_nothing() -> None:
    settings = WebSettings(max_people=1, max_lines=1)
    async with door(settings) as (url, receiver, _), httpx.AsyncClient(base_url=url) as client:
        peer, sdp = await _peer()
        answer = (await client.post("v1/rooms/lobby/offer", json=_offer(sdp))).json()
        await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
        recorder = await receiver.next()
        for _ in range(3):
            assert (await client.post("v1/rooms/lobby/offer", json=_offer("v=0"))).status_code == 400
        assert (await client.post("v1/rooms/lobby/messages", json={"text": "hi"}, headers=HOLDER)).status_code == 202
        assert (await client.post("v1/rooms/lobby/offer", json=_offer(sdp, key="j" * 32))).status_code == 503
        assert (await client.post("v1/rooms/other/offer", json=_offer(sdp, key="j" * 32))).status_code == 503
        assert not recorder.ended.is_set()
    assert recorder.ended.is_set()  # closed with the server
    await peer.close()


async def test_a_line_that_has_not_ended_counts_though_it_was_refused_a_successor() -> None:
    async with door(WebSettings(max_people=1)) as (url, receiver, _), httpx.AsyncClient(base_url=url) as client:
        peer, sdp = await _peer()
        answer = (await client.post("v1/rooms/lobby/offer", json=_offer(sdp))).json()
        await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
        recorder = await receiver.next()
        await client.post("v1/rooms/lobby/offer", json=_offer("v=0"))
        assert (await client.delete("v1/rooms/lobby/line", headers=HOLDER)).status_code == 204
        async with asyncio.timeout(5):
            await recorder.ended.wait()
        await peer.close()


async def test_no_guest_takes_the_agents_name() -> None:
    async with door() as (url, _, _), httpx.AsyncClient(base_url=url) as client:
        peer, sdp = await _peer()
        for name, shown in (("Agent", "Agent (2)"), ("\u0410gent", "\u0410gent (2)"), ("Anna", "Anna")):
            answer = (await client.post("v1/rooms/lobby/offer", json=_offer(sdp, name))).json()
            assert answer["name"] == shown
        await peer.close()


async def test_a_token_that_expires_ends_its_streams_and_its_line() -> None:
    settings = WebSettings(token_secret=SecretStr(SECRET))
    async with door(settings) as (url, receiver, _), httpx.AsyncClient(base_url=url) as client:
        bearer = {"authorization": f"Bearer {issue(SECRET, 'lobby', int(time.time()) + 2)}"}
        peer, sdp = await _peer()
        answer = (await client.post("v1/rooms/lobby/offer", json=_offer(sdp), headers=bearer)).json()
        await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
        async with asyncio.timeout(5), client.stream("GET", "v1/rooms/lobby/events", headers=bearer) as response:
            async for _ in response.aiter_lines():
                pass
            await (await receiver.next()).ended.wait()
        await peer.close()
