"""A room's feed as server-sent events, for whoever may enter the room."""

import asyncio
import json

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import FeedEvent, Subscription
from voiceagent.values import JSON
from voiceagent.web.door import Door
from voiceagent.web.refusal import Refused
from voiceagent.web.rooms import Rooms
from voiceagent.web.standing import Standing

HEARTBEAT_S = 15
SLOW_S = 10
HOSTS_SEE = frozenset({"input.decided", "thought.updated", "room.listening"})
"""What a host's stream carries besides everybody's; other events for hosts alone stay inside the program."""
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class Streams:
    """Opens event streams, so many at once."""

    def __init__(self, door: Door, rooms: Rooms, engine: RoomEngine) -> None:
        self._door = door
        self._rooms = rooms
        self._engine = engine
        self._open = 0

    async def get(self, scope: Scope, receive: Receive, send: Send) -> None:
        """GET: what happens in the room from now on; with `Last-Event-ID` or `?after=`, what happened since that event first."""
        request = Request(scope, receive)
        room, standing = self._door.room_and_standing(request)
        asked = _after(request)
        if self._open >= self._door.settings.max_streams:
            raise Refused(503, "too many event streams are open: try again later")
        self._open += 1
        try:
            await self._rooms.enter(room)
            try:
                same = request.query_params.get("epoch", self._rooms.epoch(room)) == self._rooms.epoch(room)
                subscription = self._engine.feed(room).subscribe(asked if same else 0)
                await _Stream(subscription, receive, send, standing).run(self._ready(room, standing.host))
            except asyncio.CancelledError:  # uvicorn closes and ends this request's task, which is its own
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            finally:
                self._rooms.leave(room)
        finally:
            self._open -= 1

    def _ready(self, room: str, host: bool) -> bytes:
        people = [p for p in self._engine.context(room).participants if p.active]
        data: JSON = {
            "v": 1,
            "type": "stream.ready",
            "room_id": room,
            "data": {
                "epoch": self._rooms.epoch(room),
                "host": host,
                "people": [{"participant_id": p.id, "name": p.display_name} for p in people],
            },
        }
        return _line(data)


class _Stream:
    """One reader: events, a sign of life when there are none, and an end when either side is gone, the reader is too slow, or
    their token has expired."""

    def __init__(self, subscription: Subscription, receive: Receive, send: Send, standing: Standing) -> None:
        self._subscription = subscription
        self._receive = receive
        self._send = send
        self._standing = standing
        self._writing = asyncio.Lock()

    async def run(self, first: bytes) -> None:
        """Returns when the stream is over; `first` goes before everything."""
        await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await self._write(b"retry: 1000\n" + first)
        jobs = [asyncio.create_task(job) for job in (self._events(), self._beat(), self._gone(), self._expire())]
        try:
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._subscription.close()
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)

    async def _events(self) -> None:
        async for event in self._subscription.events():
            if event.audience == "all" or (self._standing.host and event.type in HOSTS_SEE):
                await self._write(encode(event))
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self._write(b": alive\n\n")

    async def _expire(self) -> None:
        await self._standing.ended()
        self._subscription.close()  # which ends the events, and they the stream
        await asyncio.Event().wait()

    async def _gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _write(self, data: bytes) -> None:
        async with self._writing, asyncio.timeout(SLOW_S):
            await self._send({"type": "http.response.body", "body": data, "more_body": True})


def encode(event: FeedEvent) -> bytes:
    """One event as it goes over the wire; droppable ones have no id, so that a reader resumes behind a durable one."""
    place = f"id: {event.seq}\n" if event.seq is not None else ""
    return place.encode() + _line(event.as_json())


def _line(data: JSON) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode(errors="replace")


def _after(request: Request) -> int | None:
    text = request.headers.get("last-event-id") or request.query_params.get("after")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise Refused(400, "Last-Event-ID and after are whole numbers")
    return int(text)
