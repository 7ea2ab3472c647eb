"""Settings of rooms; reading them opens no store."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

POSTGRES = ("postgresql://", "postgres://")
"""How the address of a Postgres database begins."""


def _place(value: object) -> object:
    """An address stays text; every other text is a file's path."""
    return Path(value) if isinstance(value, str) and not value.startswith(POSTGRES) else value


class RoomSettings(BaseModel):
    """Where rooms are kept, and how far they may go."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database: Annotated[Path | str | None, BeforeValidator(_place)] = Field(
        None,
        repr=False,  # an address may hold a password
        description="SQLite file or postgresql:// address that keeps the rooms; without one they live in memory and end with it",
    )
    max_chain_depth: int = Field(5, ge=1, le=100, description="how often agents may answer each other in a row")
    other_rooms: Literal["off", "ask", "allow"] = Field(
        "off",
        description="whether agents may ask about other rooms that they work with; ask: once a person allows it",
    )
    process_timeout_ms: int = Field(30_000, ge=100, le=600_000, description="longest time that hooks may hold a message")
