"""One client's connection: what comes in, what goes out, the call, and the room's feed, each in a task of its own."""

import asyncio
import contextlib
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from voiceagent.room.feed import Subscription
from voiceagent.web.door import Door
from voiceagent.web.lines import Receiver
from voiceagent.web.realtime.asked import Append, Mistake, parse
from voiceagent.web.realtime.outlet import Outlet
from voiceagent.web.realtime.requests import Requests, Words
from voiceagent.web.realtime.session import Session
from voiceagent.web.refusal import Refused

FRAME_BYTES: Final = 1_048_576
"""The largest client event: some 16 s of PCM."""

TICK_S: Final = 0.5

_OLD_HEADER: Final = "realtime=v1"

End = tuple[int, str]
"""The code and the reason with which the socket is closed."""


class Connection:
    """Lives from the socket's opening to the end of the call. A client event that cannot be served costs itself only."""

    def __init__(self, socket: WebSocket, session: Session, door: Door, words: Words | None) -> None:
        old = _OLD_HEADER in socket.headers.get("openai-beta", "")
        self._socket = socket
        self._session = session
        self._door = door
        self._words = words
        self._outlet = Outlet(socket.send_text, session.call, session.answers, old=old)
        session.tells(self._outlet.put)

    async def run(self, receiver: Receiver) -> End:
        """Serves the client until either side ends; returns how."""
        session, guest = self._session, self._session.guest
        subscription = session.engine.feed(guest.room).subscribe()
        conversation = {"id": f"conv_{session.call.session_id}", "object": "realtime.conversation"}
        session.tell({"type": "session.created", "session": session.as_json()})
        session.tell({"type": "conversation.created", "conversation": dict(conversation)})
        try:
            async with asyncio.TaskGroup() as asked, asyncio.TaskGroup() as tasks:
                requests = Requests(session, asked, self._words, self._outlet.shape)
                line = tasks.create_task(receiver.receive(session.call, room_id=guest.room, participant=guest.participant))
                jobs = [
                    tasks.create_task(self._listen(requests)),
                    tasks.create_task(self._write()),
                    tasks.create_task(self._follow(subscription)),
                    tasks.create_task(self._tick()),
                    tasks.create_task(self._expire()),
                ]
                done, _ = await asyncio.wait((line, *jobs), return_when=asyncio.FIRST_COMPLETED)
                ends = [job.result() for job in jobs if job in done and job.exception() is None]
                session.call.end()
                session.functions.close()
                await asyncio.wait((line,))
                for job in jobs:
                    job.cancel()
        finally:
            session.call.end()
            subscription.close()
        return ends[0] if ends else (1001, "the call is over")

    async def _listen(self, requests: Requests) -> End:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return 1000, "gone"
            frame = message.get("text")
            if not isinstance(frame, str):
                self._session.tell(Mistake("send events as text, not bytes", "invalid_json").as_json(None))
            elif len(frame) > FRAME_BYTES:
                self._session.tell(Mistake(f"an event has {FRAME_BYTES} characters at most", "event_too_large").as_json(None))
            else:
                self._take(requests, frame)
            await asyncio.sleep(0)

    def _take(self, requests: Requests, frame: str) -> None:
        asked, event_id = parse(frame)
        try:
            if isinstance(asked, Mistake):
                raise asked
            if not isinstance(asked, Append):
                self._door.spend_command(self._socket)
            requests.do(asked)
        except Refused as refused:
            self._session.tell(Mistake(str(refused), "rate_limit_exceeded").as_json(event_id))
        except Mistake as mistake:
            self._session.tell(mistake.as_json(event_id))

    async def _write(self) -> End:
        with contextlib.suppress(
            TimeoutError, OSError, RuntimeError, WebSocketDisconnect
        ):  # a closed socket is told of in several ways
            await self._outlet.run()
        return 1013, "too slow"

    async def _follow(self, subscription: Subscription) -> End:
        async for line in subscription.events():
            self._session.take(line)
            if self._outlet.full:
                return 1013, "too slow"
        return (1013, "too slow") if subscription.lagged else (1001, "the room is closed")

    async def _tick(self) -> End:
        while True:
            await asyncio.sleep(TICK_S)
            self._session.tick()

    async def _expire(self) -> End:
        await self._session.guest.standing.ended()
        return 1008, "the token has expired"
