"""All paired hosts together: asked while somebody looks at the inbox, each by itself, so that none waits for another."""

import asyncio
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.web.command import Ack, QuestionCommand
from voiceagent.web.pairing.caller import Caller
from voiceagent.web.pairing.neighbour import HostListing, Neighbour, UnpairedError
from voiceagent.web.pairing.pairs import Pairs

log = logging.getLogger(__name__)

PATIENCE_S: Final = 0.3
"""How long a list waits for hosts that have not answered yet."""

Take = Callable[[HostListing | None], None]
"""Takes what a host lists now; None: hosts have come or gone."""


class PairedHosts:
    """The hosts that this one is paired with: `async with` it, as long as the app is served."""

    def __init__(self, pairs: Pairs, caller: Caller, poll_ms: int) -> None:
        self._pairs = pairs
        self._caller = caller
        self._poll_ms = poll_ms
        self._hosts: dict[str, Neighbour] = {}
        self._takers: dict[int, Take] = {}
        self._next = 0
        self._tasks = asyncio.TaskGroup()
        self._polling: asyncio.Task[None] | None = None
        self._looks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for task in (*self._looks, *([self._polling] if self._polling is not None else [])):
            task.cancel()
        await self._tasks.__aexit__(kind, error, trace)
        await self._caller.close()

    async def listed(self) -> tuple[HostListing, ...]:
        """What each host lists, by name; those that do not answer at once are listed as last known. Raises StoreError."""
        await self._sync()
        now = clock.now()
        old = [host for host in self._hosts.values() if host.listing.at is None or now - host.listing.at >= self._poll_ms]
        if looks := [self._look(host) for host in old]:
            await asyncio.wait(looks, timeout=PATIENCE_S)
        return tuple(sorted((host.listing for host in self._hosts.values()), key=lambda listing: listing.name))

    def watch(self, take: Take) -> Callable[[], None]:
        """Has the hosts asked every few seconds, and `take` called when something has changed; returns what ends that."""
        number = self._next = self._next + 1
        self._takers[number] = take
        if self._polling is None:
            self._polling = self._tasks.create_task(self._poll(), name="paired hosts")
        return lambda: self._unwatch(number)

    async def do(self, host: str, command: QuestionCommand, person: str | None) -> Ack:
        """Brings a host what a person did here, who is called `person`. Of two the first is taken, wherever it was given.

        Raises StoreError.
        """
        await self._sync()
        there = next((one for one in self._hosts.values() if one.pairing.name == host), None)
        if there is None:
            return Ack.refusal(command.id, "not_found", "there is no paired host of this name")
        try:
            ack = await there.do(command, person)
        except UnpairedError:
            await self._end(there)
            return Ack.refusal(command.id, "not_found", "that host is paired with this one no longer")
        if ack.error is None or ack.error.code != "unreachable":
            self._look(there)
        return ack

    def _unwatch(self, number: int) -> None:
        self._takers.pop(number, None)
        if not self._takers and self._polling is not None:
            self._polling.cancel()
            self._polling = None

    async def _poll(self) -> None:
        while True:
            try:
                await self._sync()
            except StoreError:
                log.exception("paired hosts are not known now")
            for host in self._hosts.values():
                self._look(host)
            await asyncio.sleep(self._poll_ms / 1000)

    def _look(self, host: Neighbour) -> asyncio.Task[None]:
        task = self._tasks.create_task(self._looked(host), name=f"paired host {host.pairing.name}")
        self._looks.add(task)
        task.add_done_callback(self._looks.discard)
        return task

    async def _looked(self, host: Neighbour) -> None:
        try:
            if await host.look(clock.now()):
                self._tell(host.listing)
        except UnpairedError:
            await self._end(host)
        except Exception:
            log.exception("paired host %s: what it lists is not known", host.pairing.name)

    async def _end(self, host: Neighbour) -> None:
        try:
            await self._pairs.ended(host.pairing)
            await self._sync()
        except StoreError:
            log.exception("paired host %s: that it is paired no longer is not kept", host.pairing.name)

    async def _sync(self) -> None:
        """Takes up hosts that were paired meanwhile, here or by another process, and lets go of those that are no longer."""
        known = {pairing.pairing_id: pairing for pairing in await self._pairs.listed()}
        if known.keys() == self._hosts.keys():
            return
        self._hosts = {id: self._hosts.get(id) or Neighbour(pairing, self._caller) for id, pairing in known.items()}
        self._tell(None)

    def _tell(self, listing: HostListing | None) -> None:
        for take in tuple(self._takers.values()):
            take(listing)
