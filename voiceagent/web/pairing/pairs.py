"""The pairings of this host: made by a code, known again by a key, ended at both hosts."""

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from voiceagent import clock
from voiceagent.room.pairings.pairing import Level, Pairing, PairingRows, sealed
from voiceagent.web.names import distinct_name
from voiceagent.web.pairing.address import checked
from voiceagent.web.pairing.caller import Caller, UnreachableError
from voiceagent.web.pairing.codes import Codes
from voiceagent.web.pairing.wire import END, JOIN, Joined, Joining
from voiceagent.web.refusal import Refused

log = logging.getLogger(__name__)

MOST: Final = 50
"""Pairings of one host."""

_NOBODY: Final = sealed(secrets.token_urlsafe(32))


@dataclass(frozen=True, slots=True)
class Own:
    """How this host calls itself before others, and where they reach it."""

    name: str
    address: str


class Pairs:
    """Keeps pairings in a store. Methods raise StoreError."""

    def __init__(
        self, rows: PairingRows, caller: Caller, codes: Codes, own: Own, on_end: Callable[[str], Awaitable[object]]
    ) -> None:
        """`on_end` is told the id of a pairing that is over."""
        self._rows = rows
        self._on_end = on_end
        self._caller = caller
        self._codes = codes
        self.own = own

    def code(self, level: Level) -> str:
        """A new code. The host that brings it may do so much here."""
        return self._codes.issue(level, clock.now())

    async def listed(self) -> Sequence[Pairing]:
        """Every pairing."""
        return await self._rows.listed()

    async def opened_by(self, bearer: str) -> Pairing | None:
        """The pairing whose other host shows this; a wrong key takes as long as an unknown pairing."""
        pairing_id, _, key = bearer.partition(".")
        pairing = await self._rows.get(pairing_id) if pairing_id else None
        if pairing is None:
            secrets.compare_digest(_NOBODY, sealed(key))
            return None
        return pairing if pairing.opened_by(key) else None

    async def accept(self, joining: Joining) -> Joined:
        """Another host brings a code. Raises Refused."""
        try:
            address = checked(joining.address)
        except ValueError as error:
            raise Refused(400, f"address: {error}") from None
        known = await self._room_left()
        level = self._codes.take(joining.code, clock.now())
        if level is None:
            raise Refused(403, "the code is not good, or no longer: ask for a new one")
        key, pairing_id = secrets.token_urlsafe(32), secrets.token_urlsafe(16)
        name = _free_name(joining.name, [self.own.name, *(one.name for one in known)])
        await self._rows.put(
            Pairing(pairing_id, name, address, level, joining.level, clock.utc(), shown=joining.key, expected=sealed(key))
        )
        return Joined(pairing_id=pairing_id, name=self.own.name, key=key, level=level)

    async def join(self, address: str, code: str, level: Level) -> Pairing:
        """Brings a code to the host that made it, which may do so much here. Raises Refused."""
        try:
            address = checked(address)
        except ValueError as error:
            raise Refused(400, f"address: {error}") from None
        known = await self._room_left()
        key, own = secrets.token_urlsafe(32), self.own
        joining = Joining(code=code, name=own.name, address=own.address, key=key, level=level)
        try:
            reply = await self._caller.ask("POST", f"{address}{JOIN}", None, joining.model_dump())
        except UnreachableError as error:
            raise Refused(502, f"{address}: {error}") from error
        if reply.status != 200:
            raise Refused(403 if reply.status == 403 else 502, f"{address} does not pair: {reply.reason}")
        try:
            joined = Joined.model_validate(reply.value)
        except ValidationError:
            raise Refused(502, f"{address} does not answer as a host of voiceagent does") from None
        name = _free_name(joined.name, [own.name, *(one.name for one in known)])
        pairing = Pairing(
            joined.pairing_id, name, address, level, joined.level, clock.utc(), shown=joined.key, expected=sealed(key)
        )
        await self._rows.put(pairing)
        return pairing

    async def end(self, name: str) -> bool:
        """Ends a pairing here, then there; returns whether the other host has heard of it. One that has not finds out when it
        asks next. Raises Refused 404."""
        pairing = next((one for one in await self._rows.listed() if one.name == name), None)
        if pairing is None:
            raise Refused(404, "there is no paired host of this name")
        await self.ended(pairing)
        try:
            reply = await self._caller.ask("DELETE", f"{pairing.address}{END}", bearer(pairing))
        except UnreachableError as error:
            log.warning("the paired host %s has not heard yet that it is paired no longer: %s", pairing.name, error)
            return False
        return reply.status == 204 or reply.unpaired

    async def ended(self, pairing: Pairing) -> None:
        """It is over: the other host has ended it, or this one."""
        await self._rows.erase(pairing.pairing_id)
        await self._on_end(pairing.pairing_id)

    async def _room_left(self) -> Sequence[Pairing]:
        known = await self._rows.listed()
        if len(known) >= MOST:
            raise Refused(409, f"this host is paired with {MOST} others, and at most so many: end one first")
        return known


def bearer(pairing: Pairing) -> str:
    """What this host shows to the other one."""
    return f"{pairing.pairing_id}.{pairing.shown}"


def _free_name(name: str, taken: Sequence[str]) -> str:
    """A name that no other host has here, and that can stand in an address."""
    return distinct_name(name.replace("/", " "), taken)
