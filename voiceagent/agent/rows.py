"""What one answer leaves in its room: its words and the calls of its tools, each stored before the next is made."""

import asyncio
from collections.abc import Callable

from voiceagent import clock
from voiceagent.agent.account import Account
from voiceagent.room.channel import Host
from voiceagent.room.events import (
    ChannelType,
    Content,
    Direction,
    EventSource,
    EventStatus,
    EventType,
    InboundResult,
    RoomEvent,
    TextContent,
    ToolCallContent,
)
from voiceagent.room.reply import Reply
from voiceagent.values import JSON


class Rows:
    """One answer's. A row names all inputs that the answer has taken in, where they are more than the one it responds to."""

    def __init__(self, host: Host, reply: Reply, trigger: RoomEvent, account: Account) -> None:
        self._host = host
        self._reply = reply
        self._trigger = trigger
        self._account = account
        self._source = EventSource(reply.channel_id or "", ChannelType.AI, Direction.OUTBOUND)
        self._under_way = 0
        self._then: Callable[[], None] | None = None

    def shut(self, then: Callable[[], None]) -> None:
        """Stores nothing more; calls back once nothing is under way, at once where the room is closed and takes nothing more."""
        self._then = then
        if not self._under_way or self._host.context(self._reply.room_id).closed:
            self._under_way = 0
            then()

    async def text(self, text: str, metadata: dict[str, JSON]) -> str:
        """Stores words; returns them as the room has them, nothing when it did not take them. Raises StoreError."""
        event = await self._store(TextContent(text), EventType.MESSAGE, metadata)
        return event.content.body if event is not None and event.status is not EventStatus.BLOCKED else ""

    async def call(self, content: ToolCallContent, type: EventType) -> None:
        """Stores the start or the end of a tool's call. Raises StoreError."""
        await self._store(content, type, {})

    async def _store(self, content: Content, type: EventType, metadata: dict[str, JSON]) -> RoomEvent | None:
        if self._then is not None:
            return None
        several: dict[str, JSON] = {"input_ids": list(self._account.inputs)} if len(self._account.inputs) > 1 else {}
        event = RoomEvent(
            id="",
            room_id=self._reply.room_id,
            source=self._source,
            content=content,
            created_at=clock.utc(),
            type=type,
            visibility=self._reply.visibility,
            correlation_id=self._reply.id,
            metadata={**metadata, **several},
        )
        self._under_way += 1
        try:
            stored = (await self._unbroken(event)).event
            if stored is not None:
                self._account.stored(stored.id)
            return stored
        finally:
            self._under_way -= 1
            self._tell_shut()

    def _tell_shut(self) -> None:
        if self._then is not None and not self._under_way:
            self._then()

    async def _unbroken(self, event: RoomEvent) -> InboundResult:
        """A row that is on its way is in its room, or refused, before anybody goes on, cancelled or not."""
        done: asyncio.Future[InboundResult] = asyncio.get_running_loop().create_future()

        async def work() -> None:
            try:
                result = await self._host.answer(event, self._trigger)
            except Exception as error:
                if done.cancelled():
                    raise
                done.set_exception(error)
            else:
                if not done.cancelled():
                    done.set_result(result)

        # When the engine ends under it, nobody must wait for it.
        self._host.spawn(work(), "row").add_done_callback(lambda _: done.cancel())
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            await asyncio.wait((done,))
            self._note(done)
            raise

    def _note(self, done: "asyncio.Future[InboundResult]") -> None:
        if done.cancelled() or done.exception() is not None:
            return
        stored = done.result().event
        if stored is not None:
            self._account.stored(stored.id)
