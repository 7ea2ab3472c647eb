"""Settings of calls: when talk cuts the agent, what it greets with, what a hang-up leaves unsaid."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class InterruptionStrategy(StrEnum):
    """What a person's speech does to a reply that is sounding."""

    IMMEDIATE = "immediate"
    CONFIRMED = "confirmed"
    DISABLED = "disabled"


class BargeInSettings(BaseModel):
    """When speech cuts what sounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: InterruptionStrategy = Field(
        InterruptionStrategy.CONFIRMED,
        description="immediate cuts at the first sign of a voice, confirmed once a voice has lasted, disabled never",
    )
    min_speech_ms: int = Field(300, ge=0, le=5_000, description="voice, pauses not counted, after which confirmed cuts")
    allow_during_first_ms: int = Field(0, ge=0, le=60_000, description="a reply is not cut before this much of it has been heard")


class VoiceSettings(BaseModel):
    """How calls run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    barge_in: BargeInSettings = BargeInSettings()
    keep_partial_transcript: bool = Field(True, description="record in the room what a cut reply had been saying, and how long")
    held_segments: int = Field(8, ge=1, le=64, description="utterances kept while a reply that cannot be cut sounds")
    partial_every_ms: int = Field(500, ge=100, le=5_000, description="shortest time between two guesses at unfinished speech")
    recognizer_timeout_ms: int = Field(10_000, ge=100, le=60_000, description="longest wait for the words of one utterance")
    greeting: str = Field(
        "Hello, how can I help?", max_length=1_000, description="said when a room's first call comes; empty: nothing is said"
    )
    goodbye_on_hang_up: Literal["drop", "finish"] = Field(
        "drop", description="what is still unsaid when a room's last call ends: dropped, or finished first"
    )
    goodbye_max_ms: int = Field(30_000, ge=0, le=600_000, description="longest time that finishing may take")
    ahead_ms: int = Field(10_000, ge=1_000, le=60_000, description="sound of a reply made ahead of the listener, at most")
