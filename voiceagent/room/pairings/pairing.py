"""A host that this one is paired with, as JSON text, and what a store offers to keep it."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from voiceagent.errors import StoreError

Level = Literal["read", "prompt"]
"""What a paired host may do here. `read`: its people read and answer questions; `prompt`: its agents may also ask about rooms."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """One pairing as one of its two hosts keeps it; both know it by `pairing_id`.

    `name` and `address`: what the other host is called here, and where it is. `level`: what it may do here; `granted`: what this
    host may do there. `shown`: the key that this host shows there; `expected`: the SHA-256, in hex, of the one that the other
    shows here, which nobody could show who reads it.
    """

    pairing_id: str
    name: str
    address: str
    level: Level
    granted: Level
    since: datetime
    shown: str = field(repr=False)
    expected: str = field(repr=False)

    def opened_by(self, key: str) -> bool:
        """Whether this is the other host's key; takes the same time for every wrong one."""
        return secrets.compare_digest(self.expected, sealed(key))


class PairingRows(Protocol):
    """Keeps pairings. What a method returned from survives the process; all raise StoreError."""

    async def put(self, pairing: Pairing) -> None:
        """Keeps or replaces a pairing."""
        ...

    async def get(self, pairing_id: str) -> Pairing | None:
        """One pairing by its id."""
        ...

    async def listed(self) -> Sequence[Pairing]:
        """Every pairing, by id."""
        ...

    async def erase(self, pairing_id: str) -> None:
        """Forgets a pairing; does nothing when there is none."""
        ...


def sealed(key: str) -> str:
    """What is kept of a key that somebody else will show."""
    return hashlib.sha256(key.encode()).hexdigest()


def encode_pairing(pairing: Pairing) -> str:
    """JSON text with every field. Raises StoreError for what UTF-8 cannot hold."""
    try:
        return _PAIRING.dump_json(pairing, warnings="error").decode()
    except (PydanticSerializationError, ValueError) as error:
        raise StoreError(f"pairing {pairing.pairing_id!r} cannot be written as JSON: {type(error).__name__}") from error


def decode_pairing(text: str | bytes) -> Pairing:
    """The pairing in JSON text; fields that this version does not know are left out. Raises StoreError for anything else."""
    try:
        return _PAIRING.validate_json(text)
    except (ValidationError, ValueError) as error:
        raise StoreError(f"a stored pairing cannot be read: {type(error).__name__}") from error


_PAIRING: TypeAdapter[Pairing] = TypeAdapter(Pairing)
