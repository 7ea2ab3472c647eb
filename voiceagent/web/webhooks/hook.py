"""One receiver: told of every room's lines in their order, again and again until it has taken them."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.room.cursors.store import Cursors
from voiceagent.room.line import FeedEvent
from voiceagent.room.lines.store import LineStore
from voiceagent.web.standing import Standing
from voiceagent.web.view import View, Wishes
from voiceagent.web.webhooks.backlog import Backlog, backoff_ms
from voiceagent.web.webhooks.sender import Sender, SendError
from voiceagent.web.webhooks.settings import Webhook, WebhookSettings
from voiceagent.web.webhooks.signature import Signer, delivery_id

log = logging.getLogger(__name__)

PAGE: Final = 100
"""How many lines are read at once."""

ELSEWHERE_MS: Final = 5_000
"""How long to wait for a room that another process tells of."""

_GONE: Final = 410


@dataclass(frozen=True, slots=True)
class Source:
    """Where lines are, and how far each receiver has been told of them."""

    lines: LineStore
    cursors: Cursors


@dataclass(frozen=True, slots=True)
class Manner:
    """How deliveries are made: by whom, how patiently, and with which luck (0 to 1) a wait is chosen."""

    sender: Sender
    settings: WebhookSettings
    chance: Callable[[], float]


class _NotTaken(Exception):
    """The receiver did not take a delivery; `after_ms` is the wait that it asks for."""

    def __init__(self, why: str, after_ms: int = 0) -> None:
        super().__init__(why)
        self.after_ms = after_ms


class _Gone(Exception):
    """The receiver wants nothing more."""


class Hook:
    """Reads lines from where they are kept, so that nothing but names of rooms waits in memory and no room is ever held up."""

    def __init__(self, webhook: Webhook, signer: Signer, source: Source, manner: Manner) -> None:
        self.name = webhook.name
        self._webhook = webhook
        self._signer = signer
        self._source = source
        self._manner = manner
        host = webhook.audience == "host"
        self._view = View(Standing(host=host), Wishes(types=frozenset(webhook.types), everything=host))
        self._backlog = Backlog()
        self._bell = asyncio.Event()
        self._idle = asyncio.Event()
        self._failing = False
        self._gone = False

    @property
    def waiting(self) -> int:
        """Rooms with something that the receiver has not taken."""
        return len(self._backlog)

    @property
    def failing(self) -> bool:
        """Whether it did not take the last delivery."""
        return self._failing

    def on_line(self, line: FeedEvent) -> None:
        """A line is stored; it is delivered when the receiver wants its type."""
        if not self._gone and self._view.shows(line):
            self._wake(line.room_id)

    async def begin(self) -> None:
        """Finds what the receiver has not been told of, before anything new comes. Raises StoreError."""
        for room_id in await self._source.cursors.begin(self.name):
            self._wake(room_id)

    async def run(self) -> None:
        """Delivers until it is cancelled, or the receiver says that it is gone for good (410)."""
        try:
            async with asyncio.TaskGroup() as workers:
                for number in range(self._manner.settings.at_once):
                    workers.create_task(self._work(), name=f"webhook {self.name} {number}")
        except* _Gone:
            log.error(
                "webhook %s: its server says that it is gone; it is told nothing more until the program starts anew", self.name
            )
            self._gone, self._backlog = True, Backlog()
            self._idle.set()

    async def quiet(self) -> None:
        """Returns once everything is told that has not failed."""
        while self._backlog.pressing:
            self._idle.clear()
            await self._idle.wait()

    def _wake(self, room_id: str) -> None:
        self._backlog.wake(room_id, clock.now())
        self._bell.set()

    async def _work(self) -> None:
        while True:
            room_id = await self._next()
            try:
                if await self._deliver(room_id):
                    self._backlog.done(room_id, clock.now())
                else:
                    self._backlog.later(room_id, clock.now() + ELSEWHERE_MS)
            except _Gone:
                raise
            except (_NotTaken, StoreError) as error:
                self._put_off(room_id, error)
            except Exception as error:
                log.exception("webhook %s: a delivery of room %s failed", self.name, room_id)
                self._put_off(room_id, error)
            self._bell.set()
            self._idle.set()

    async def _next(self) -> str:
        """The room that is due; waits for one."""
        while (room_id := self._backlog.take(clock.now())) is None:
            self._bell.clear()
            due = self._backlog.next_at()
            try:
                async with asyncio.timeout(None if due is None else max(0, due - clock.now()) / 1000):
                    await self._bell.wait()
            except TimeoutError:
                await clock.sleep_until(due or 0)  # a timeout may fire within the last millisecond
        return room_id

    async def _deliver(self, room_id: str) -> bool:
        """Tells all that a room has; False when another process does."""
        source, name = self._source, self.name
        at = await source.cursors.claim(name, room_id)
        if at is None:
            return False
        while page := await source.lines.after(room_id, at, PAGE):
            first = page[0].seq or 0
            if first > at + 1:
                await self._tell_gap(room_id, at + 1, first - 1)
            at = await self._tell(room_id, page)
            await source.cursors.move(name, room_id, at)
        await source.cursors.release(name, room_id)
        return True

    async def _tell(self, room_id: str, page: Sequence[FeedEvent]) -> int:
        """Delivers what the receiver wants of a page; returns the number of its last line."""
        seq = 0
        for line in page:
            seq = line.seq or seq
            if self._view.shows(line):
                await self._post(delivery_id(room_id, seq), line.text().encode())
                self._backlog.succeeded(room_id)
                await self._source.cursors.move(self.name, room_id, seq)
        return seq

    async def _tell_gap(self, room_id: str, first: int, last: int) -> None:
        """Lines that the room keeps no longer: the receiver was away for too long."""
        body = {"v": 1, "type": "stream.gap", "room_id": room_id, "data": {"from": first, "to": last}}
        await self._post(delivery_id(room_id, f"gap-{first}-{last}"), json.dumps(body).encode())
        log.error("webhook %s: lines %d to %d of room %s are no longer kept, and not told", self.name, first, last, room_id)
        self._backlog.succeeded(room_id)
        await self._source.cursors.move(self.name, room_id, last)

    async def _post(self, delivery: str, body: bytes) -> None:
        headers = self._signer.headers(delivery, int(clock.utc().timestamp()), body)
        try:
            async with asyncio.timeout(self._manner.settings.timeout_ms / 1000):
                answer = await self._manner.sender.post(self._webhook.url, headers, body)
        except TimeoutError:
            raise _NotTaken(f"no answer within {self._manner.settings.timeout_ms} ms") from None
        except SendError as error:
            raise _NotTaken(str(error)) from error
        if answer.status == _GONE:
            raise _Gone
        if not 200 <= answer.status < 300:
            raise _NotTaken(f"status {answer.status}", (answer.retry_after_s or 0) * 1000)
        if self._failing:
            self._failing = False
            log.warning("webhook %s takes deliveries again", self.name)

    def _put_off(self, room_id: str, error: Exception) -> None:
        longest = self._manner.settings.longest_wait_ms
        wait = backoff_ms(self._backlog.failures(room_id) + 1, longest, self._manner.chance())
        if isinstance(error, _NotTaken):
            wait = max(wait, min(error.after_ms, longest))
        self._backlog.failed(room_id, clock.now() + wait)
        if not self._failing:
            self._failing = True
            log.warning("webhook %s: a delivery failed (%s); what it misses is kept, and tried again", self.name, error)
