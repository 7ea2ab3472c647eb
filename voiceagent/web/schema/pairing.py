"""What is told of pairings with other hosts."""

from voiceagent.room.pairings.pairing import Level
from voiceagent.web.schema.data import Data


class PairingCode(Data):
    """A code to be told to another host; good once."""

    code: str
    level: Level
    good_ms: int


class PairedHost(Data):
    """One host that this one is paired with."""

    name: str
    address: str
    level: Level
    """What it may do here. `read`: its people list and answer questions; `prompt`: its agents also ask."""
    granted: Level
    """What this host may do there."""
    since: str


class Pairings(Data):
    """Every one."""

    pairings: list[PairedHost]


class PairingEnd(Data):
    """It is ended here."""

    told: bool
    """Whether the other host has heard of it; one that has not finds out when it asks next."""
