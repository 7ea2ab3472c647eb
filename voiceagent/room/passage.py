"""One event's way into a room: hooks, the right to write, one short critical section for index and commit, everybody told."""

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace

from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.room.bounded import contained
from voiceagent.room.cause import Allowance, Cause, current, within
from voiceagent.room.changes import ceiling, marks, reach
from voiceagent.room.door import checked_change, repaired
from voiceagent.room.events import (
    Access,
    ChannelBinding,
    Direction,
    EventSource,
    EventStatus,
    EventType,
    InboundMessage,
    InboundResult,
    RoomEvent,
    TextContent,
)
from voiceagent.room.frozen import thawed
from voiceagent.room.hooks import Hooks, HookTrigger
from voiceagent.room.intake import SUBMITTED, digest_of
from voiceagent.room.ledger import is_input
from voiceagent.room.live import LiveRoom
from voiceagent.room.questions.claim import Claim, Claims, NoClaims
from voiceagent.room.seat import Seat, Spawn
from voiceagent.room.sharing import Sharing
from voiceagent.room.store import Store
from voiceagent.room.visibility import ALL, INTERNAL, NONE, narrow, reaches
from voiceagent.values import JSON

log = logging.getLogger(__name__)

SYSTEM_CHANNEL = "system"
CHAIN_LIMIT = "event_chain_depth_limit"
LOOP_CAP = "reentry_loop_cap"
KEY_TAKEN = "idempotency_key_taken"

_IDENTITY = (
    "id", "room_id", "type", "source", "index", "chain_depth", "responds_to", "correlation_id",
    "idempotency_key", "created_at", "status", "blocked_by",
)  # fmt: skip


def refusal(binding: ChannelBinding | None) -> str | None:
    """Why a channel may not write into a room; unbound wins, then access, then mute."""
    if binding is None:
        return "source_unbound"
    if binding.access not in (Access.READ_WRITE, Access.WRITE_ONLY):
        return "source_read_only"
    return "source_muted" if binding.muted else None


def asks(event: RoomEvent, binding: ChannelBinding) -> bool:
    """Whether an agent's channel is asked to act on an event that it may know."""
    if event.type not in (EventType.MESSAGE, EventType.INSTRUCTION):
        return False
    return event.addressed_to is None or binding.channel_id in event.addressed_to


@dataclass(frozen=True, slots=True)
class Bounds:
    """How deep agents may answer each other, and how long everything before a commit may take."""

    chain_depth: int
    process_ms: int

    @staticmethod
    def of(chain_depth: int, process_timeout: float) -> "Bounds":
        """With the time in seconds. Raises ValueError for what bounds nothing."""
        if chain_depth < 1:
            raise ValueError("max_chain_depth must be at least 1")
        if process_timeout <= 0:
            raise ValueError("process_timeout must be above 0 seconds")
        return Bounds(chain_depth, round(process_timeout * 1000))


class Passage:
    """Takes events into rooms. `spawn` starts a task that the engine owns."""

    def __init__(
        self,
        store: Store,
        hooks: Hooks,
        spawn: Spawn,
        new_id: Callable[[], str],
        bounds: Bounds,
        *,
        said: Callable[[LiveRoom, RoomEvent], None],
    ) -> None:
        """`said` is told of every event that is committed and not refused."""
        self._store = store
        self._hooks = hooks
        self._spawn = spawn
        self._new_id = new_id
        self._max_depth = bounds.chain_depth
        self._timeout_ms = bounds.process_ms
        self._said = said
        self.sharing = Sharing(store, self._tell_of_other)
        self.claims: Claims = NoClaims()  # the engine's, which needs the way of an instruction, and so this object

    def too_deep(self, chain_depth: int) -> bool:
        """Whether no agent is asked about an event this deep any more."""
        return chain_depth + 1 >= self._max_depth

    def place(self) -> Cause:
        """Where the running code stands in a chain of causes; a fresh start for what comes from outside."""
        return current.get() or Cause(0, Allowance(10 * self._max_depth))

    async def take(self, room: LiveRoom, event: RoomEvent, cause: Cause) -> InboundResult:
        """Takes an event in; returns once it is committed (or refused) and everybody has been told. Raises StoreError."""
        if event.idempotency_key and (known := await self._known(room, event)) is not None:
            return known
        event = self._bounded(repaired(event), cause)
        if event.blocked_by == LOOP_CAP and not cause.allowance.refuse():
            return InboundResult(None, blocked=True, reason=LOOP_CAP)
        # No hook is asked about an event that is refused for what caused it: hooks may be the cause.
        judged = self._hooks.has(HookTrigger.BEFORE_BROADCAST) or self.claims.concerns(room, event)
        if event.blocked_by in (CHAIN_LIMIT, LOOP_CAP) or not judged:
            return await self._begin(room, event, cause)
        try:
            async with asyncio.timeout(self._timeout_ms / 1000), _turn_of(room, event, cause):
                event = await self._past_hooks(room, event, cause)
                committed = self._begin(room, event, cause, await self.claims.judged(room, event))
        except TimeoutError:
            return InboundResult(None, blocked=True, reason="process_timeout")
        return await committed

    def foreseen(self, room: LiveRoom, event: RoomEvent) -> tuple[RoomEvent, list[Seat]]:
        """An event as it would stand if it came now, and the seats that would be asked about it: none while a hook that blocks
        when it fails has yet to see the words."""
        event = self._judge(room, repaired(event))
        if event.status is EventStatus.BLOCKED or room.closed:
            return event, []
        if self._hooks.guards(HookTrigger.ON_TRANSCRIPTION, HookTrigger.BEFORE_BROADCAST):
            return event, []
        asked = self._asked(room, event)
        if room.ledger.refusal(asked) is not None:
            return event, []
        kept = self.claims.expected(room, event)
        return event, [seat for seat in room.seats if seat.binding.channel_id in asked and seat.binding.channel_id not in kept]

    async def closed(self, room_id: str, message: InboundMessage) -> InboundResult:
        """What a room that is closed says: nothing is taken, and what it took before is acknowledged."""
        key = (message.idempotency_key or "").strip()
        known = await self._store.find_key(room_id, message.channel_id, key) if key else None
        if known is None:
            return InboundResult(None, blocked=True, reason="room_closed")
        return _again(known, digest_of(message.content))

    async def instruct(self, room: LiveRoom, event: RoomEvent, cause: Cause) -> InboundResult:
        """Hands an instruction to the agents it names. It is never stored, and reaches no transport."""
        event = self._bounded(repaired(event), cause)
        if event.status is not EventStatus.BLOCKED and self._hooks.has(HookTrigger.BEFORE_BROADCAST):
            event = await self._past_hooks(room, event, cause)
        if event.status is EventStatus.BLOCKED:
            return InboundResult(None, blocked=True, reason=_reason(event))
        asked = self._asked(room, event)
        if (why := room.ledger.refusal(asked)) is not None:
            return InboundResult(None, blocked=True, reason=why)
        room.ledger.accept(event, asked)
        for seat in room.seats:
            if seat.binding.channel_type.intelligence and asks(event, seat.binding):
                self._ask(room, seat, event, cause)
        return InboundResult(event)

    def _bounded(self, event: RoomEvent, cause: Cause) -> RoomEvent:
        """The event, blocked when too much has come of one cause. What comes from outside and a channel's records are free, and
        an answer counts once."""
        reason = CHAIN_LIMIT if event.chain_depth >= self._max_depth else None
        if cause.depth and event.visibility != INTERNAL and not cause.allowance.draw(event.correlation_id):
            reason = LOOP_CAP
        return event if reason is None else replace(event, status=EventStatus.BLOCKED, blocked_by=reason)

    async def _past_hooks(self, room: LiveRoom, event: RoomEvent, cause: Cause) -> RoomEvent:
        seen = replace(event, metadata={key: thawed(value) for key, value in event.metadata.items()})
        if event.type is not EventType.INSTRUCTION:
            seen = replace(seen, index=room.next_index)
        with within(Cause(event.chain_depth + 1, cause.allowance)):
            outcome = await self._hooks.run(HookTrigger.BEFORE_BROADCAST, seen, room)
        changed = checked_change(event, replace(outcome.payload, **{name: getattr(event, name) for name in _IDENTITY}))
        changed = replace(
            changed,
            visibility=reach(event, changed, room),
            response_visibility=ceiling(event, changed, room),
            metadata=marks(event, changed),
            parent_event_id=await self._parent(room, event, changed),
        )
        if outcome.blocked_by is None:
            return changed
        blocked = replace(changed, status=EventStatus.BLOCKED, blocked_by=outcome.blocked_by)
        return blocked.with_metadata(blocked_reason=outcome.reason)

    async def _parent(self, room: LiveRoom, before: RoomEvent, after: RoomEvent) -> str | None:
        """The thread that a hook moved an event to, as long as there is one."""
        wanted = after.parent_event_id
        if wanted is None or wanted == before.parent_event_id:
            return wanted
        parent = await self._store.get_event(room.room_id, wanted) if isinstance(wanted, str) else None
        return before.parent_event_id if parent is None else parent.parent_event_id or parent.id

    def _begin(self, room: LiveRoom, event: RoomEvent, cause: Cause, claim: Claim | None = None) -> asyncio.Future[InboundResult]:
        """Starts the commit in a task of its own: a caller that is cancelled takes back nothing that may already be on disk."""
        result: asyncio.Future[InboundResult] = asyncio.get_running_loop().create_future()

        async def commit() -> None:
            try:
                done = await self._commit(room, event, cause, claim)
            except Exception as error:
                if result.cancelled():
                    raise
                result.set_exception(error)
            else:
                if not result.cancelled():
                    result.set_result(done)

        # When the engine ends before the commit has, whoever waits for it must not wait on.
        self._spawn(commit(), "commit").add_done_callback(lambda _: result.cancel())
        return result

    async def _known(self, room: LiveRoom, event: RoomEvent) -> InboundResult | None:
        """What the same delivery came to the first time."""
        if not event.idempotency_key:
            return None
        known = await self._store.find_key(room.room_id, event.source.channel_id, event.idempotency_key)
        if known is None:
            return None
        return _again(known, event.metadata.get(SUBMITTED))

    async def _commit(self, room: LiveRoom, event: RoomEvent, cause: Cause, claim: Claim | None = None) -> InboundResult:
        event = repaired(event)
        async with room.lock:
            await asyncio.sleep(0)  # in a burst, whoever is told has a turn between two commits
            if room.closed:
                return InboundResult(None, blocked=True, reason="room_closed")
            known = await self._known(room, event)
            if known is not None:
                return known
            if is_input(event) and (why := room.ledger.refusal(self._asked(room, event))) is not None:
                return InboundResult(None, blocked=True, reason=why)
            try:
                event = await self.sharing.commit(room, self._judge(room, event))
            except StoreError:
                # Another process may have taken the same delivery a moment ago.
                if not self.sharing.is_shared or (known := await self._known(room, event)) is None:
                    raise
                return known
            blocked = event.status is EventStatus.BLOCKED
            _behind(room, event, lambda event: room.remember(event, answers=claim is not None and claim.sure))
            if is_input(event):
                _behind(room, event, lambda event: room.ledger.accept(event, self._asked(room, event)))
            _behind(room, event, room.feed.commit)
            if not blocked:
                _behind(room, event, lambda event: self._said(room, event))
                kept = await self.claims.settled(room, event, claim) if claim is not None else ()
                _behind(room, event, lambda event: self._tell_all(room, event, cause, kept=kept))
        if blocked:
            return InboundResult(event, blocked=True, reason=_reason(event))
        _behind(room, event, lambda event: self._hooks_after(room, event, cause))
        return InboundResult(event)

    def _judge(self, room: LiveRoom, event: RoomEvent) -> RoomEvent:
        """The event as it will stand, at its index: delivered, or blocked for a reason. The first reason wins."""
        if event.status is EventStatus.BLOCKED:
            return replace(event, index=room.next_index)
        seat = room.seat(event.source.channel_id)
        own = event.visibility == INTERNAL or event.source.channel_id == SYSTEM_CHANNEL
        reason = None if own else refusal(seat.binding if seat else None)
        if reason is not None:
            return replace(event, index=room.next_index, status=EventStatus.BLOCKED, blocked_by=reason)
        visibility = event.visibility
        if not own and seat is not None and seat.binding.visibility != ALL:
            visibility = narrow(visibility, seat.binding.visibility, room.channel_types())
        return replace(event, index=room.next_index, status=EventStatus.DELIVERED, visibility=visibility)

    def _tell_of_other(self, room: LiveRoom, event: RoomEvent) -> None:
        """Passes on what another process has committed; whoever is asked about it was asked there."""
        if event.status is not EventStatus.BLOCKED:
            self._tell_all(room, event, Cause(event.chain_depth, Allowance(10 * self._max_depth)), asked=False)

    def _tell_all(
        self, room: LiveRoom, event: RoomEvent, cause: Cause, *, asked: bool = True, kept: Collection[str] = ()
    ) -> None:
        if event.visibility in (INTERNAL, NONE):
            return
        for seat in room.seats:
            binding = seat.binding
            own = binding.channel_id == event.source.channel_id
            if not binding.can_read or not (own or reaches(event.visibility, binding.channel_id, binding.channel_type)):
                continue
            if not binding.channel_type.intelligence:
                if not own:
                    seat.tell(event, cause.allowance)
            elif asked and not own and binding.channel_id not in kept and asks(event, binding):
                self._ask(room, seat, event, cause)
            else:
                seat.tell(event, cause.allowance, asked=False)

    def _asked(self, room: LiveRoom, event: RoomEvent) -> list[str]:
        """The agents that are asked about an input."""
        if event.chain_depth + 1 >= self._max_depth:
            return []
        everywhere = event.type is EventType.INSTRUCTION
        return [
            binding.channel_id
            for binding in room.bindings
            if binding.channel_type.intelligence
            and asks(event, binding)
            and (everywhere or (binding.can_read and reaches(event.visibility, binding.channel_id, binding.channel_type)))
        ]

    def _ask(self, room: LiveRoom, seat: Seat, event: RoomEvent, cause: Cause) -> None:
        if event.chain_depth + 1 < self._max_depth:
            seat.tell(event, cause.allowance)
        else:
            self._spawn(self._stand_in(room, seat, event, cause), "chain limit")

    async def _stand_in(self, room: LiveRoom, seat: Seat, trigger: RoomEvent, cause: Cause) -> None:
        """Leaves a blocked row where an agent was not asked because the chain of answers is too long."""
        log.warning("room %s: %s is not asked about %s: %s", room.room_id, seat.binding.channel_id, trigger.id, CHAIN_LIMIT)
        source = EventSource(seat.binding.channel_id, seat.binding.channel_type, Direction.OUTBOUND)
        event = RoomEvent(
            id=self._new_id(),
            room_id=room.room_id,
            source=source,
            content=TextContent(""),
            created_at=clock.utc(),
            status=EventStatus.BLOCKED,
            blocked_by=CHAIN_LIMIT,
            visibility=trigger.response_visibility or ALL,
            response_visibility=trigger.response_visibility,
            chain_depth=trigger.chain_depth + 1,
            parent_event_id=trigger.parent_event_id,
            responds_to=trigger.id,
        )
        await self._commit(room, event, cause)

    def _hooks_after(self, room: LiveRoom, event: RoomEvent, cause: Cause) -> None:
        if not self._hooks.has(HookTrigger.AFTER_BROADCAST):
            return
        with within(Cause(event.chain_depth + 1, cause.allowance)):
            self._hooks.notify(HookTrigger.AFTER_BROADCAST, event, room)


def _behind(room: LiveRoom, event: RoomEvent, step: Callable[[RoomEvent], object]) -> None:
    """A step that follows a commit: what fails there takes nothing back, and holds up no other step."""
    try:
        with contained():
            step(event)
    except Exception:
        log.exception("room %s: event %s is committed, but a step behind it failed", room.room_id, event.id)


def _again(known: RoomEvent, submitted: JSON) -> InboundResult:
    """What a delivery under a key that is known comes to: the same as the first time, nothing when it holds something else."""
    if known.metadata.get(SUBMITTED, submitted) != submitted:
        return InboundResult(None, blocked=True, reason=KEY_TAKEN)
    blocked = known.status is EventStatus.BLOCKED
    return InboundResult(known, blocked, _reason(known) if blocked else None, duplicate=True)


def _turn_of(room: LiveRoom, event: RoomEvent, cause: Cause) -> AbstractAsyncContextManager[object]:
    """One author's events pass the hooks one after the other; what a hook, a turn or a tool sends waits for nobody."""
    if cause.depth:
        return nullcontext()
    return room.order_of(f"{event.source.channel_id}/{event.source.participant_id}")


def _reason(event: RoomEvent) -> str | None:
    reason = event.metadata.get("blocked_reason")
    return reason if isinstance(reason, str) else event.blocked_by
