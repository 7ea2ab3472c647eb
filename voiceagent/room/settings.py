"""Settings of rooms; reading them opens no store."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class RoomSettings(BaseModel):
    """Where rooms are kept, and how far they may go."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database: Path | None = Field(
        None, description="SQLite file that keeps the rooms; without one they live in memory and end with it"
    )
    max_chain_depth: int = Field(5, ge=1, le=100, description="how often agents may answer each other in a row")
    process_timeout_ms: int = Field(30_000, ge=100, le=600_000, description="longest time that hooks may hold a message")
